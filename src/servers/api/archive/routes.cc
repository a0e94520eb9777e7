#include "servers/api/archive/routes.h"

#include <utility>

#include <fmt/format.h>

#include "apps/archive/files.h"
#include "apps/archive/processors.h"
#include "apps/archive/without_copies.h"
#include "http/url.h"
#include "servers/api/archive/file_routes.h"
#include "servers/api/archive/json.h"
#include "servers/api/archive/people_routes.h"
#include "servers/api/archive/places.h"
#include "servers/api/json_object.h"
#include "servers/api/moment.h"
#include "servers/api/page.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

using archive::MessageQuery;
using http::RoutedRequest;

template <typename Things>
void WriteAll(std::string_view name, const Things& things, JsonWriter* writer) {
  writer->Key(name);
  writer->BeginArray();
  for (const auto& thing : things) Write(thing, writer);
  writer->EndArray();
}

void WriteCursor(const std::optional<std::string>& next, JsonWriter* writer) {
  if (!next) return;
  writer->Key("cursor");
  writer->String(*next);
}

Result<slack::Timestamp> ParseCursor(const std::string& text) {
  if (auto ts = slack::Timestamp::Parse(text)) return ts;
  return Invalid(fmt::format(
      "the parameter 'cursor' should be the 'cursor' of an earlier page, not '{}'", text));
}

http::Response NoMessage(const archive::Place& place, const slack::Timestamp& ts) {
  return http::Problem(404, fmt::format("channel {} has no message {} in the archive",
                                        place.channel.text(), ts.text()));
}

http::Response NoChannel(const archive::Place& place) {
  return http::Problem(404, fmt::format("the archive has nothing about channel {0} of team {1}: "
                                        "/api/v1/teams/{1}/channels lists the channels it has",
                                        place.channel.text(), place.team.text()));
}

Result<bool> ParseNewestFirst(const std::string& order) {
  if (order == "asc" || order == "desc") return order == "desc";
  return Invalid(fmt::format("the parameter 'order' should be asc or desc, not '{}'", order));
}

Result<MessageQuery> ParseMessageQuery(std::string_view text) {
  MessageQuery query;
  for (const auto& [name, value] : TRY(http::ParseQuery(text))) {
    if (name == "from") {
      query.from = TRY(ParseMoment(name, value, Bound::kStart));
    } else if (name == "to") {
      query.to = TRY(ParseMoment(name, value, Bound::kEnd));
    } else if (name == "order") {
      query.newest_first = TRY(ParseNewestFirst(value));
    } else if (name == "cursor") {
      query.after = TRY(ParseCursor(value));
    } else if (name == "limit") {
      query.limit = TRY(ParseLimit(value));
    } else {
      return Invalid(fmt::format(
          "there is no parameter '{}'; they are: from, to, order, limit, cursor", name));
    }
  }
  if (query.from && query.to && *query.to < *query.from) {
    return Invalid("the parameter 'from' is later than 'to': exchange them");
  }
  return query;
}

// The handlers, one method for each route.
class Routes {
 public:
  explicit Routes(ArchiveRoutesParts parts)
      : parts_(std::move(parts)), people_(parts_.tables, parts_.table) {}

  Result<std::string> Teams(const RoutedRequest& routed) const;
  Result<std::string> Channels(const RoutedRequest& routed) const;
  Result<http::Response> Channel(const RoutedRequest& routed) const;
  Result<http::Response> Messages(const RoutedRequest& routed) const;
  Result<http::Response> Thread(const RoutedRequest& routed) const;
  Result<http::Response> Message(const RoutedRequest& routed) const;
  Result<http::Response> Permalink(const RoutedRequest& routed) const;
  Result<std::string> Index(const RoutedRequest& routed) const;
  Result<http::Response> Coverage(const RoutedRequest& routed) const;
  Result<std::string> TeamCoverage(const RoutedRequest& routed) const;
  Result<std::string> Status(const RoutedRequest& routed) const;
  Result<std::string> FailedFiles(const RoutedRequest& routed) const;
  Result<http::Response> RetryFiles(const RoutedRequest& routed) const;
  Result<std::string> People(const RoutedRequest& routed) const {
    return ListPeople(people_, routed);
  }
  Result<http::Response> Person(const RoutedRequest& routed) const {
    return ShowPerson(people_, routed);
  }
  Result<std::string> Emoji(const RoutedRequest& routed) const {
    return ListEmoji(people_, routed);
  }

 private:
  // Fills in the names of the authors, and returns the names of everybody whom the messages name.
  Result<archive::People::Names> NameAuthors(const slack::TeamId& team,
                                             std::vector<archive::Message>* messages) const;
  Result<std::string> PageOf(const slack::TeamId& team, archive::MessagePage page) const;
  Result<Done> FillRawEvent(archive::Body* body) const;
  Result<http::Response> DetailOf(const archive::Place& place, const slack::Timestamp& ts) const;
  Result<std::optional<archive::Place>> FindPlace(const slack::ChannelId& channel,
                                                  const slack::Timestamp& ts) const;

  const ArchiveRoutesParts parts_;
  const archive::People people_;
};

Result<std::string> Routes::Teams(const RoutedRequest&) const {
  const auto teams = TRY(parts_.state->Teams());
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("teams");
    writer->BeginArray();
    for (const slack::TeamId& team : teams) writer->String(team.text());
    writer->EndArray();
  });
}

Result<std::string> Routes::Channels(const RoutedRequest& routed) const {
  const PageRequest page = TRY(ParsePage(routed.request.query));
  const slack::TeamId team = TRY(TeamIn(routed));
  const auto found = TRY(parts_.reader->Channels(team, page.cursor, page.limit));
  return ObjectOf([&](JsonWriter* writer) {
    WriteAll("channels", found.channels, writer);
    WriteCursor(found.next, writer);
  });
}

Result<http::Response> Routes::Channel(const RoutedRequest& routed) const {
  const archive::Place place = TRY(PlaceIn(routed));
  const auto channel = TRY(parts_.reader->FindChannel(place));
  if (!channel) return NoChannel(place);
  std::string text;
  JsonWriter writer(&text);
  Write(*channel, &writer);
  return http::Json(200, std::move(text));
}

Result<archive::People::Names> Routes::NameAuthors(const slack::TeamId& team,
                                                   std::vector<archive::Message>* messages) const {
  archive::People::Names names = TRY(people_.NamesOf(team, NamedIn(*messages)));
  for (archive::Message& message : *messages) {
    SetAuthorName(&message, &names);
  }
  return names;
}

Result<std::string> Routes::PageOf(const slack::TeamId& team, archive::MessagePage page) const {
  const auto names = TRY(NameAuthors(team, &page.messages));
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("messages");
    writer->BeginArray();
    for (const archive::Message& message : page.messages) {
      const auto replies = page.replies.find(message.ts);
      Write(message, replies == page.replies.end() ? archive::Replies() : replies->second,
            parts_.reader->Hides(message), writer);
    }
    writer->EndArray();
    WriteNames(names, writer);
    if (page.next) WriteCursor(page.next->text(), writer);
  });
}

// Only an empty page makes it necessary to find out whether there is such a channel.
Result<http::Response> Routes::Messages(const RoutedRequest& routed) const {
  const archive::Place place = TRY(PlaceIn(routed));
  const MessageQuery query = TRY(ParseMessageQuery(routed.request.query));
  archive::MessagePage page = TRY(parts_.reader->Messages(place, query));
  if (page.messages.empty() && !TRY(parts_.reader->Knows(place))) return NoChannel(place);
  return ToResponse(PageOf(place.team, std::move(page)));
}

Result<http::Response> Routes::Thread(const RoutedRequest& routed) const {
  const archive::Place place = TRY(PlaceIn(routed));
  const slack::Timestamp ts = TRY(TsIn(routed));
  const PageRequest page = TRY(ParsePage(routed.request.query));
  std::optional<slack::Timestamp> after;
  if (page.cursor) after = TRY(ParseCursor(*page.cursor));
  archive::MessagePage found = TRY(parts_.reader->Thread(place, ts, after, page.limit));
  // With a cursor this is the page behind the last message.
  if (found.messages.empty() && !after) {
    return TRY(parts_.reader->Knows(place)) ? NoMessage(place, ts) : NoChannel(place);
  }
  return ToResponse(PageOf(place.team, std::move(found)));
}

// From the object, when the row had no room for it.
Result<Done> Routes::FillRawEvent(archive::Body* body) const {
  if (body->raw_event_object.empty() || parts_.objects == nullptr) return Done{};
  const auto object = TRY(parts_.objects->Open(body->raw_event_object));
  // As in rows: an earlier release may have stored it with copies of other messages.
  if (object != nullptr) {
    body->raw_event = archive::WithoutCopies(TRY(object->Read(0, object->info().size)));
  }
  return Done{};
}

Result<http::Response> Routes::DetailOf(const archive::Place& place,
                                        const slack::Timestamp& ts) const {
  auto detail = TRY(parts_.reader->Detail(place, ts));
  if (!detail) return NoMessage(place, ts);
  if (detail->message.body) TRY(FillRawEvent(&*detail->message.body));
  auto names = TRY(people_.NamesOf(place.team, NamedIn(*detail)));
  SetAuthorName(&detail->message, &names);
  std::string text;
  JsonWriter writer(&text);
  Write(*detail, names, parts_.reader->Hides(detail->message), &writer);
  return http::Json(200, std::move(text));
}

Result<http::Response> Routes::Message(const RoutedRequest& routed) const {
  const archive::Place place = TRY(PlaceIn(routed));
  return DetailOf(place, TRY(TsIn(routed)));
}

// A permalink has no team. Channel ids are unique across teams, so the first match is the right
// one.
Result<std::optional<archive::Place>> Routes::FindPlace(const slack::ChannelId& channel,
                                                        const slack::Timestamp& ts) const {
  for (slack::TeamId& team : TRY(parts_.state->Teams())) {
    archive::Place place{.team = std::move(team), .channel = channel};
    if (TRY(parts_.reader->FindMessage(place, ts))) return place;
  }
  return std::nullopt;
}

// The query that Slack adds after '?' has nothing that the path does not have, and is ignored.
Result<http::Response> Routes::Permalink(const RoutedRequest& routed) const {
  const auto channel = TRY(slack::ChannelId::Parse(routed.parameters.find("channel")->second));
  const slack::Timestamp ts = TRY(ParseLink(routed.parameters.find("link")->second));
  const auto place = TRY(FindPlace(channel, ts));
  if (!place) {
    return http::Problem(
        404, fmt::format("no channel that has or had the id {} has a message {} in the archive",
                         channel.text(), ts.text()));
  }
  return DetailOf(*place, ts);
}

Result<std::string> Routes::Index(const RoutedRequest& routed) const {
  const PageRequest page = TRY(ParsePage(routed.request.query));
  const slack::TeamId team = TRY(TeamIn(routed));
  const archive::ChannelIndex::Names names = TRY(parts_.index->All(team));
  const auto newest = TRY(parts_.index->NewestShard(team));
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("channels");
    writer->BeginObject();
    auto entry = page.cursor ? names.upper_bound(*page.cursor) : names.begin();
    std::string last;
    for (uint32_t count = 0; entry != names.end() && count < page.limit; ++entry, ++count) {
      writer->Key(entry->first);
      writer->String(entry->second);
      last = entry->first;
    }
    writer->EndObject();
    if (newest) {
      writer->Key("newest_shard");
      writer->Int(*newest);
    }
    if (entry != names.end()) WriteCursor(last, writer);
  });
}

Result<http::Response> Routes::Coverage(const RoutedRequest& routed) const {
  const archive::Place place = TRY(PlaceIn(routed));
  if (!TRY(parts_.reader->Knows(place))) return NoChannel(place);
  const auto marks = TRY(parts_.ledger->Marks(place));
  return ToResponse(ObjectOf([&](JsonWriter* writer) {
    WriteAll("intervals", archive::ComputeCoverage(marks), writer);
    WriteAll("marks", marks, writer);
  }));
}

Result<std::string> Routes::TeamCoverage(const RoutedRequest& routed) const {
  const PageRequest page = TRY(ParsePage(routed.request.query));
  const slack::TeamId team = TRY(TeamIn(routed));
  const auto marks = TRY(parts_.ledger->TeamMarks(team));
  const auto found = TRY(parts_.reader->Channels(team, page.cursor, page.limit));
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  WriteAll("marks", marks, &writer);
  writer.Key("channels");
  writer.BeginArray();
  for (const archive::Channel& channel : found.channels) {
    writer.BeginObject();
    writer.Key("channel_id");
    writer.String(channel.place.channel.text());
    if (channel.name()) {
      writer.Key("name");
      writer.String(*channel.name());
    }
    WriteAll("intervals", TRY(parts_.ledger->Of(channel.place)), &writer);
    writer.EndObject();
  }
  writer.EndArray();
  WriteCursor(found.next, &writer);
  writer.EndObject();
  return text;
}

Result<std::string> Routes::Status(const RoutedRequest&) const {
  using archive::ReadProcessorStatus;
  const auto files = TRY(ReadProcessorStatus(*parts_.tables, *parts_.clock, parts_.table,
                                             std::string(archive::kFilesConsumer)));
  const auto rows = TRY(ReadProcessorStatus(*parts_.tables, *parts_.clock, parts_.table,
                                            std::string(archive::kRowsConsumer)));
  const uint64_t waiting = TRY(parts_.state->CountFetches());
  const size_t teams = TRY(parts_.state->Teams()).size();
  const auto last_alive = TRY(parts_.state->LastAlive());
  const tables::TableDescription table = TRY(parts_.tables->DescribeTable(parts_.table));
  return ObjectOf([&](JsonWriter* writer) {
    const auto write = [&](std::string_view name, auto number) {
      writer->Key(name);
      writer->Int(static_cast<int64_t>(number));
    };
    writer->Key("processors");
    writer->BeginArray();
    Write("files", files, writer);
    Write("rows", rows, writer);
    writer->EndArray();
    write("files_waiting", waiting);
    write("teams", teams);
    write("rows", table.item_count);
    write("size_bytes", table.size_bytes);
    if (last_alive) write("last_alive", *last_alive);
  });
}

// A message is left out when its flag is gone: it was purged, or the policy hides it.
Result<std::string> Routes::FailedFiles(const RoutedRequest& routed) const {
  const PageRequest page = TRY(ParsePage(routed.request.query));
  const slack::TeamId team = TRY(TeamIn(routed));
  const auto failed = TRY(parts_.state->FailedFetches(team, page.cursor, page.limit));
  std::vector<archive::Message> messages;
  for (const archive::FailedFetch& fetch : failed.fetches) {
    auto message = TRY(parts_.reader->FindMessage(fetch.place, fetch.ts));
    if (message && message->files_fetch_failed) messages.push_back(*std::move(message));
  }
  return ObjectOf([&](JsonWriter* writer) {
    writer->Key("messages");
    writer->BeginArray();
    for (const archive::Message& message : messages) {
      Write(message, {}, parts_.reader->Hides(message), writer);
    }
    writer->EndArray();
    WriteCursor(failed.next, writer);
  });
}

Result<http::Response> Routes::RetryFiles(const RoutedRequest& routed) const {
  const archive::Place place = TRY(PlaceIn(routed));
  const slack::Timestamp ts = TRY(TsIn(routed));
  if (!TRY(parts_.reader->FindMessage(place, ts))) return NoMessage(place, ts);
  bool retried = false;
  for (const archive::Place& id : TRY(parts_.reader->IdsOf(place))) {
    retried |= TRY(archive::AskForFilesAgain(*parts_.tables, parts_.table, id, ts));
    TRY(parts_.state->RemoveFailed({.place = id, .ts = ts}));
  }
  return ToResponse(ObjectOf([&](JsonWriter* writer) {
    writer->Key("retried");
    writer->Bool(retried);
  }));
}

}  // namespace

void AddArchiveRoutes(http::Router* router, const ArchiveRoutesParts& parts, TokenFile* tokens) {
  const auto routes = std::make_shared<const Routes>(parts);
  const auto add_on = [&](WorkerPool* workers, std::string pattern, http::RouteHandler handler,
                          http::Method method) {
    http::RouteHandler asked = RunOn(workers, std::move(handler));
    if (tokens != nullptr) asked = WithToken(tokens, std::move(asked));
    router->Add({.method = method,
                 .pattern = std::move(pattern),
                 .run = http::Run::kOnWorker,
                 .handler = std::move(asked)});
  };
  const auto add_handler = [&](std::string pattern, http::RouteHandler handler,
                               http::Method method = http::Method::kGet) {
    add_on(parts.read_workers, std::move(pattern), std::move(handler), method);
  };
  using Method = Result<std::string> (Routes::*)(const RoutedRequest&) const;
  const auto add = [&](std::string pattern, Method method) {
    add_handler(std::move(pattern), AnswerJson([routes, method](const RoutedRequest& routed) {
                  return (*routes.*method)(routed);
                }));
  };
  // These may not exist: they answer with 404 themselves.
  using Lookup = Result<http::Response> (Routes::*)(const RoutedRequest&) const;
  const auto add_lookup = [&](std::string pattern, Lookup method) {
    add_handler(std::move(pattern), AnswerWith([routes, method](const RoutedRequest& routed) {
                  return (*routes.*method)(routed);
                }));
  };
  const std::string team = "/api/v1/teams/{team}";
  const std::string channel = team + "/channels/{channel}";
  add("/api/v1/teams", &Routes::Teams);
  add(team + "/channels", &Routes::Channels);
  add(team + "/channel-index", &Routes::Index);
  add(team + "/coverage", &Routes::TeamCoverage);
  add(team + "/people", &Routes::People);
  add_lookup(team + "/people/{user}", &Routes::Person);
  add(team + "/emoji", &Routes::Emoji);
  add_lookup(channel, &Routes::Channel);
  add_lookup(channel + "/messages", &Routes::Messages);
  add_lookup(channel + "/messages/{ts}", &Routes::Message);
  add_lookup(channel + "/threads/{ts}", &Routes::Thread);
  add_lookup(channel + "/coverage", &Routes::Coverage);
  add("/api/v1/archive/status", &Routes::Status);
  add_lookup("/archives/{channel}/{link}", &Routes::Permalink);
  add(team + "/failed-files", &Routes::FailedFiles);
  add_on(parts.file_workers, channel + "/messages/{ts}/files/{file}",
         ServeFile(parts.reader, parts.objects), http::Method::kGet);
  add_handler(
      channel + "/messages/{ts}/retry-files",
      AnswerWith([routes](const RoutedRequest& routed) { return routes->RetryFiles(routed); }),
      http::Method::kPost);
}

}  // namespace tidemark::api
