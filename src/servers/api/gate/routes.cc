#include "servers/api/gate/routes.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "http/url.h"
#include "servers/api/page.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using Query = std::map<std::string, std::string>;

// An unknown parameter is refused and not ignored: "?chanel=C1" would otherwise be an answer about
// the team alone, which says "exists".
Result<Query> ParseIds(const std::string& text) {
  Query query = TRY(http::ParseQuery(text));
  for (const auto& [name, value] : query) {
    if (name != "team" && name != "user" && name != "channel") {
      return Invalid(fmt::format("the parameter '{}' is not known; use team, user, channel", name));
    }
  }
  return query;
}

// Checks the format of the ids. The team is required.
Result<gate::Subject> ParseSubject(const Query& query) {
  if (!query.contains("team")) return Invalid("the parameter 'team' is missing: ?team=T01234567");
  gate::Subject subject{.team = TRY(slack::TeamId::Parse(query.at("team")))};
  if (query.contains("user")) subject.user = TRY(slack::UserId::Parse(query.at("user")));
  if (query.contains("channel")) {
    subject.channel = TRY(slack::ChannelId::Parse(query.at("channel")));
  }
  return subject;
}

Result<gate::Subject> SubjectOf(const http::RoutedRequest& routed) {
  const Query query = TRY(ParseIds(routed.request.query));
  return ParseSubject(query);
}

std::string ToJson(const gate::Verdict& verdict) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("decision");
  writer.String(ToString(verdict.decision));
  writer.Key("reason");
  writer.String(ToString(verdict.reason));
  writer.EndObject();
  return text;
}

// Slack may take seconds to answer. No worker waits for it.
Later<http::Response> AnswerVerdict(gate::Existence& existence, const http::RoutedRequest& routed) {
  const auto subject = SubjectOf(routed);
  if (!subject) return ToProblem(subject.error());
  return existence.CheckLater(*subject).Then([](const Result<gate::Verdict>& verdict) {
    return verdict ? http::Json(200, ToJson(*verdict)) : ToProblem(verdict.error());
  });
}

// Raises the generation of one entity. So everything that was verified about the entity becomes
// invalid, in all processes. The id is checked first: the row of a generation is kept for ever, and
// must not be made for a misspelt id.
Status InvalidateOne(gate::Existence& existence, const Query& query) {
  const auto& [name, id] = *query.begin();
  if (name == "team") {
    TRY(slack::TeamId::Parse(id));
    return existence.Invalidate(slack::EntityKind::kTeam, id);
  }
  if (name == "user") {
    TRY(slack::UserId::Parse(id));
    return existence.Invalidate(slack::EntityKind::kUser, id);
  }
  TRY(slack::ChannelId::Parse(id));
  return existence.Invalidate(slack::EntityKind::kChannel, id);
}

Result<std::string> Invalidate(gate::Existence& existence, const http::RoutedRequest& routed) {
  const Query query = TRY(ParseIds(routed.request.query));
  if (query.empty())
    return Invalid("give the parameter team, user or channel, or all three for a triple");
  // One id means that entity, with all triples that contain it. Several ids mean one triple. Then
  // the generation of the team is not raised: every triple of the team would become invalid.
  if (query.size() == 1) {
    TRY(InvalidateOne(existence, query));
  } else {
    const gate::Subject subject = TRY(ParseSubject(query));
    TRY(existence.InvalidateTriple(subject));
  }
  return std::string(R"({"invalidated":true})");
}

std::string ToJson(const gate::QuarantinePage& page) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("events");
  writer.BeginArray();
  for (const gate::QuarantinedEvent& event : page.events) {
    writer.BeginObject();
    writer.Key("key");
    writer.String(event.key);
    writer.Key("team_id");
    writer.String(event.team_id);
    writer.Key("reason");
    writer.String(event.reason);
    writer.Key("received_at");
    writer.Int(event.received_at);
    writer.Key("checks");
    writer.Int(event.checks);
    // Only one of these two fields is present: the event is still checked, or it is given up.
    writer.Key(event.given_up_at == 0 ? "next_check" : "given_up_at");
    writer.Int(event.given_up_at == 0 ? event.next_check : event.given_up_at);
    writer.EndObject();
  }
  writer.EndArray();
  if (page.last) {
    writer.Key("cursor");
    writer.String(*page.last);
  }
  writer.EndObject();
  return text;
}

// The list does not contain the bytes of the events: only the archive shows what people wrote, and
// only after it was verified.
Result<std::string> List(gate::Quarantine& quarantine, const http::RoutedRequest& routed) {
  const PageRequest page = TRY(ParsePage(routed.request.query));
  return ToJson(TRY(quarantine.List(page.cursor, page.limit)));
}

}  // namespace

// The routes run on workers, because reading the table waits for the disk. Waiting for Slack holds
// no worker (AnswerVerdict).
void AddExistenceRoutes(http::Router* router, gate::Existence* existence, TokenFile* tokens) {
  const auto add = [&](http::Method method, http::RouteHandler handler) {
    router->Add({.method = method,
                 .pattern = "/api/v1/existence",
                 .run = http::Run::kOnWorker,
                 .handler = WithToken(tokens, std::move(handler))});
  };
  add(http::Method::kGet,
      [existence](const auto& routed) { return AnswerVerdict(*existence, routed); });
  add(http::Method::kDelete,
      AnswerJson([existence](const auto& routed) { return Invalidate(*existence, routed); }));
}

void AddQuarantineRoutes(http::Router* router, gate::Quarantine* quarantine, TokenFile* tokens) {
  router->Add({.method = http::Method::kGet,
               .pattern = "/api/v1/quarantine",
               .run = http::Run::kOnWorker,
               .handler = WithToken(tokens, AnswerJson([quarantine](const auto& routed) {
                                      return List(*quarantine, routed);
                                    }))});
}

}  // namespace tidemark::api
