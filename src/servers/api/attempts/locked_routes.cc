#include "servers/api/attempts/locked_routes.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/json_body.h"
#include "http/url.h"
#include "servers/api/attempts/json.h"
#include "servers/api/json_object.h"
#include "servers/api/moment.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using attempts::Subject;
using http::RoutedRequest;
using Answer = Result<std::string>;

Result<std::optional<Subject>> SubjectAt(const std::string& cursor) {
  if (cursor.empty()) return std::optional<Subject>();
  return std::optional(TRY(Subject::Parse(cursor).WithContext("cursor")));
}

// While only an old store is in use, the table has no rows, and an empty list would be wrong.
Status CheckTableIsInUse(moving::Migration* migration) {
  if (migration == nullptr) return Done{};
  if (TRY(migration->GetStatus()).record.phase != moving::Phase::kOld) return Done{};
  return Invalid(
      "in the phase old attempts are in the old store alone, and it has no list of locks: run "
      "'tidemark attempts migrate advance' first");
}

// Calls `write` with each candidate of the next page, and writes "next" when there is more. The
// cursor is the last subject that was looked at: a page that is asked for again, because its reply
// was lost, finds the same subjects, and what was lifted there already is not lifted twice. An
// error in the middle of a page ends the answer; what was lifted before it stays lifted and is in
// the audit log.
template <typename WriteSubject>
Answer NextPage(const LockedRoutesParts& parts, const std::string& cursor,
                const WriteSubject& write) {
  TRY(CheckTableIsInUse(parts.migration));
  const auto after = TRY(SubjectAt(cursor));
  const auto page = TRY(parts.table->ListCandidates(after));
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("subjects");
  writer.BeginArray();
  for (const Subject& subject : page.subjects) TRY(write(subject, &writer));
  writer.EndArray();
  if (page.last) {
    writer.Key("next");
    writer.String(page.last->text());
  }
  writer.EndObject();
  return text;
}

void WriteLocked(const Subject& subject, const std::vector<attempts::Lock>& locks,
                 const std::set<std::string>& ceilings, JsonWriter* writer) {
  if (locks.empty() && ceilings.empty()) return;
  writer->BeginObject();
  writer->Key("id");
  writer->String(subject.text());
  writer->Key("locks");
  writer->BeginArray();
  for (const attempts::Lock& lock : locks) Write(lock, writer);
  writer->EndArray();
  writer->Key("indefinitely_locked");
  writer->BeginArray();
  for (const std::string& classifier : ceilings) writer->String(classifier);
  writer->EndArray();
  writer->EndObject();
}

Answer ListLocked(const LockedRoutesParts& parts, const RoutedRequest& routed) {
  std::string cursor;
  for (const auto& [key, value] : TRY(http::ParseQuery(routed.request.query))) {
    if (key != "cursor") {
      return Invalid(fmt::format("there is no parameter '{}'; the only one is cursor", key));
    }
    cursor = value;
  }
  return NextPage(parts, cursor, [&](const Subject& subject, JsonWriter* writer) -> Status {
    const attempts::Standing standing = TRY(parts.attempts->GetStanding(subject));
    WriteLocked(subject, standing.locks, standing.at_ceiling, writer);
    return Done{};
  });
}

// In epoch seconds; the fallback when the field is missing.
Result<EpochSeconds> MomentIn(const JsonBody& body, std::string_view field, Bound bound,
                              EpochSeconds fallback) {
  if (!body.Has(field)) return fallback;
  const std::string text = TRY(body.Text(field));
  return TRY(ParseMoment(field, text, bound)).seconds();
}

Answer UnlockAll(const LockedRoutesParts& parts, const RoutedRequest& routed) {
  const JsonBody body =
      TRY(JsonBody::Parse(routed.request.body, {"since", "until", "journey", "classifier",
                                                "ceiling", "reason", "cursor"}));
  const EpochSeconds since = TRY(MomentIn(body, "since", Bound::kStart, 0));
  const EpochSeconds until =
      TRY(MomentIn(body, "until", Bound::kEnd, std::numeric_limits<EpochSeconds>::max()));
  const std::string journey = TRY(body.TextOr("journey", ""));
  const std::string classifier = TRY(body.TextOr("classifier", ""));
  // Required: this lets many people in at once, and somebody will ask why.
  const attempts::Author by = AuthorOf(routed, TRY(body.Text("reason")));
  attempts::Attempts::Lifting lifting;
  // Failures in a row do not say when they were made, so `since` and `until` cannot select them.
  lifting.ceiling = TRY(body.BoolOr("ceiling", false));
  // A source that sprayed passwords is the attacker. It must not be let in again with the victims.
  lifting.sources = journey == attempts::kSourceJourney;
  lifting.matches = [&](const attempts::Lock& lock) {
    return lock.since >= since && lock.since <= until &&
           (journey.empty() || lock.name.journey == journey) &&
           (classifier.empty() || lock.name.classifier == classifier);
  };
  const std::string cursor = TRY(body.TextOr("cursor", ""));
  return NextPage(parts, cursor, [&](const Subject& subject, JsonWriter* writer) -> Status {
    const auto lifted = TRY(parts.attempts->LiftSetByRules(subject, lifting, by));
    WriteLocked(subject, lifted.locks, lifted.ceilings, writer);
    return Done{};
  });
}

}  // namespace

void AddLockedRoutes(http::Router* router, const LockedRoutesParts& parts, TokenFile* tokens) {
  using Step = Answer (*)(const LockedRoutesParts&, const RoutedRequest&);
  const auto add = [&](http::Method method, const char* path, Step step) {
    auto answer =
        AnswerJson([parts, step](const RoutedRequest& routed) { return step(parts, routed); });
    if (tokens != nullptr) answer = WithToken(tokens, std::move(answer));
    router->Add({.method = method, .pattern = path, .handler = std::move(answer)});
  };
  add(http::Method::kGet, "/api/v1/attempts/locked", &ListLocked);
  add(http::Method::kPost, "/api/v1/attempts/unlock", &UnlockAll);
}

}  // namespace tidemark::api
