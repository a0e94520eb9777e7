#include "apps/archive/reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/archive/attributes.h"
#include "apps/archive/partition.h"

namespace tidemark::archive {

namespace {

// How often a channel's id may have changed for a permalink to be followed.
constexpr size_t kMaxPlaces = 16;
// Rows of a thread looked at in one query: those of other channels are among them.
constexpr uint32_t kMinThreadPage = 100;

// What the policy hides is taken out of what is returned.
void Redact(Message* message) {
  if (message->body) {
    message->body->text.reset();
    message->body->raw_event.clear();
  }
  message->traits.files.clear();
  message->files_s3.clear();
  message->files_fetch_failed = false;
  message->files_fetch_error.clear();
}

void Between(const slack::Timestamp& from, const slack::Timestamp& to,
             tables::QueryRequest* request) {
  request->key_condition += " AND #t BETWEEN :from AND :to";
  request->values[":from"] = from.text();
  request->values[":to"] = to.text();
}

void Bound(const MessageQuery& query, tables::QueryRequest* request) {
  if (!query.from && !query.to) return;
  request->names["#t"] = "timestamp";
  if (query.from && query.to) return Between(*query.from, *query.to, request);
  request->key_condition += query.from ? " AND #t >= :bound" : " AND #t <= :bound";
  request->values[":bound"] = (query.from ? query.from : query.to)->text();
}

// Nothing can lie between the bounds and behind the cursor.
bool IsEmpty(const MessageQuery& query) {
  if (query.from && query.to && *query.to < *query.from) return true;
  const auto& end = query.newest_first ? query.from : query.to;
  if (!query.after || !end) return false;
  return query.newest_first ? *query.after <= *end : *query.after >= *end;
}

// A cursor before the range is no place in it, and a store refuses it.
bool StartsWithinRange(const MessageQuery& query) {
  if (!query.after) return false;
  const auto& start = query.newest_first ? query.to : query.from;
  if (!start) return true;
  return query.newest_first ? *query.after <= *start : *query.after >= *start;
}

Person DecodePerson(const item::Item& row, const std::string& user) {
  return {.user = user,
          .name = TextIn(row, "name"),
          .real_name = TextIn(row, "real_name"),
          .display_name = TextIn(row, "display_name"),
          .avatar = TextIn(row, "avatar")};
}

}  // namespace

bool IsHidden(const Message& message, const DeletedPolicy& policy, EpochSeconds now) {
  if (!message.deleted_ts) return false;
  switch (policy.text) {
    case DeletedText::kShow:
      return false;
    case DeletedText::kRedact:
      return true;
    case DeletedText::kPurge:
      return message.deleted_ts->seconds() + policy.purge_after.count() <= now;
  }
  return true;
}

Reader::Reader(ReaderOptions options, tables::Tables* tables, ChannelIndex* index,
               const Clock* clock)
    : options_(std::move(options)), tables_(*tables), index_(*index), clock_(*clock) {}

bool Reader::Hides(const Message& message) const {
  return IsHidden(message, options_.deleted, clock_.NowSeconds());
}

Result<Message> Reader::Decode(const item::Item& row) const {
  Message message = TRY(DecodeMessage(row));
  if (Hides(message)) Redact(&message);
  return message;
}

Result<Reader::ChannelPage> Reader::Channels(const slack::TeamId& team,
                                             const std::optional<std::string>& after,
                                             uint32_t limit) {
  const ChannelIndex::Names names = TRY(index_.All(team));
  ChannelPage page;
  for (auto entry = after ? names.upper_bound(*after) : names.begin(); entry != names.end();
       ++entry) {
    if (page.channels.size() == limit) {
      page.next = page.channels.back().place.channel.text();
      break;
    }
    auto channel = slack::ChannelId::Parse(entry->first);
    if (!channel) continue;
    const Place place{.team = team, .channel = *std::move(channel)};
    auto found = TRY(FindChannel(place));
    page.channels.push_back(found ? *std::move(found) : Channel{.place = place});
  }
  return page;
}

Result<std::optional<Channel>> Reader::FindChannel(const Place& place) {
  const auto rows = TRY(QueryAll(tables_, PartitionQuery(options_.table, RowsOfChannel(place))));
  if (!rows.empty()) return TRY(JoinRows(rows));
  tables::QueryRequest messages = PartitionQuery(options_.table, MessagesOf(place));
  messages.select = tables::Select::kCount;
  messages.limit = 1;
  if (TRY(tables_.Query(messages)).count == 0) return std::nullopt;
  return Channel{.place = place};
}

Result<MessagePage> Reader::Messages(const Place& place, const MessageQuery& query) {
  if (IsEmpty(query)) return MessagePage{};
  tables::QueryRequest request = PartitionQuery(options_.table, MessagesOf(place));
  Bound(query, &request);
  request.forward = !query.newest_first;
  request.limit = query.limit;
  if (StartsWithinRange(query)) {
    request.start_after = KeyOf(MessagesOf(place), query.after->text());
  }
  const tables::Page rows = TRY(tables_.Query(request));
  MessagePage page;
  for (const item::Item& row : rows.items) page.messages.push_back(TRY(Decode(row)));
  if (rows.last) page.next = TimestampIn(*rows.last, "timestamp");
  return page;
}

Result<std::optional<Message>> Reader::RootOutsideIndex(const Place& place,
                                                        const slack::Timestamp& thread_ts) {
  const auto row = TRY(
      tables_.Get({.table = options_.table, .key = KeyOf(MessagesOf(place), thread_ts.text())}));
  if (!row || row->Contains("parent")) return std::nullopt;
  return TRY(Decode(*row));
}

// The index's key lacks the channel, so rows of other channels are filtered out, and since a store
// counts them towards its limit, more is asked for until the page is full.
Result<MessagePage> Reader::Thread(const Place& place, const slack::Timestamp& thread_ts,
                                   const std::optional<slack::Timestamp>& after, uint32_t limit) {
  tables::QueryRequest request{
      .table = options_.table,
      .index = std::string(kThreadIndex),
      .key_condition = "#p = :p",
      .filter = "#c = :c",
      .names = {{"#p", "parent"}, {"#c", "channel_id"}},
      .values = {{":p", ThreadOf(place.team, thread_ts)}, {":c", place.channel.text()}},
      .limit = std::max(limit + 1, kMinThreadPage)};
  if (after) {
    request.key_condition += " AND #t > :after";
    request.names["#t"] = "timestamp";
    request.values[":after"] = after->text();
  }
  MessagePage page;
  do {
    tables::Page rows = TRY(tables_.Query(request));
    for (const item::Item& row : rows.items) page.messages.push_back(TRY(Decode(row)));
    request.start_after = std::move(rows.last);
  } while (request.start_after && page.messages.size() <= limit);

  if (!after || *after < thread_ts) {
    auto root = TRY(RootOutsideIndex(place, thread_ts));
    if (root) page.messages.push_back(*std::move(root));
    std::ranges::sort(page.messages, {}, &Message::ts);
  }
  if (page.messages.size() > limit) {
    page.messages.erase(page.messages.begin() + limit, page.messages.end());
    page.next = page.messages.back().ts;
  }
  return page;
}

Result<std::optional<Message>> Reader::FindMessage(const Place& place, const slack::Timestamp& ts) {
  const auto row =
      TRY(tables_.Get({.table = options_.table, .key = KeyOf(MessagesOf(place), ts.text())}));
  if (!row) return std::nullopt;
  return TRY(Decode(*row));
}

Result<std::optional<MessageDetail>> Reader::Detail(const Place& place,
                                                    const slack::Timestamp& ts) {
  auto message = TRY(FindMessage(place, ts));
  if (!message) return std::nullopt;
  std::vector<Body> versions = TRY(Versions(*message));
  std::vector<Reaction> reactions = TRY(Reactions(place, ts));
  const bool pinned = TRY(IsPinned(place, ts));
  std::optional<Person> author;
  if (!message->traits.user.empty()) {
    author = TRY(FindPerson(place.team, message->traits.user, ts));
  }
  return MessageDetail{.message = *std::move(message),
                       .versions = std::move(versions),
                       .reactions = std::move(reactions),
                       .pinned = pinned,
                       .author = std::move(author)};
}

Result<std::vector<Body>> Reader::Versions(const Message& message) {
  std::vector<Body> versions;
  if (Hides(message)) return versions;
  const std::string item_id = VersionsOf(message.place, message.ts);
  for (const item::Item& row : TRY(QueryAll(tables_, PartitionQuery(options_.table, item_id)))) {
    versions.push_back(TRY(DecodeVersion(row)).body);
  }
  if (message.body) versions.push_back(*message.body);
  return versions;
}

Result<std::vector<Reaction>> Reader::Reactions(const Place& place, const slack::Timestamp& ts) {
  tables::QueryRequest request = PartitionQuery(options_.table, ReactionsOf(place));
  request.key_condition += " AND begins_with(#t, :ts)";
  request.names["#t"] = "timestamp";
  request.values[":ts"] = ts.text() + "#";
  std::vector<item::Item> rows = TRY(QueryAll(tables_, std::move(request)));
  std::erase_if(rows, [](const item::Item& row) { return IsTrueIn(row, "removed"); });
  std::ranges::stable_sort(rows, {}, [](const item::Item& row) { return TextIn(row, "event_ts"); });
  std::vector<Reaction> reactions;
  for (const item::Item& row : rows) {
    const std::string name = TextIn(row, "reaction");
    auto found = std::ranges::find(reactions, name, &Reaction::reaction);
    if (found == reactions.end()) {
      found = reactions.insert(reactions.end(), {.reaction = name, .users = {}});
    }
    found->users.push_back(TextIn(row, "user"));
  }
  return reactions;
}

Result<bool> Reader::IsPinned(const Place& place, const slack::Timestamp& ts) {
  const auto row =
      TRY(tables_.Get({.table = options_.table, .key = KeyOf(PinsOf(place), ts.text())}));
  return row && !IsTrueIn(*row, "removed");
}

Result<std::optional<Person>> Reader::FindPerson(const slack::TeamId& team, const std::string& user,
                                                 const slack::Timestamp& as_of) {
  tables::QueryRequest request = PartitionQuery(options_.table, UserRowsOf(team, user));
  request.limit = 1;
  tables::QueryRequest until = request;
  until.key_condition += " AND #t <= :as_of";
  until.names["#t"] = "timestamp";
  until.values[":as_of"] = as_of.text();
  until.forward = false;
  tables::Page page = TRY(tables_.Query(until));
  if (page.items.empty()) page = TRY(tables_.Query(request));
  if (page.items.empty()) return std::nullopt;
  return DecodePerson(page.items.front(), user);
}

Result<bool> Reader::HasMessage(const Place& place, const slack::Timestamp& ts) {
  const auto row = TRY(tables_.Get({.table = options_.table,
                                    .key = KeyOf(MessagesOf(place), ts.text()),
                                    .projection = "#k",
                                    .names = {{"#k", "itemId"}}}));
  return row.has_value();
}

Result<std::vector<Place>> Reader::Neighbours(const Place& place) {
  std::vector<std::string> ids;
  const auto moves = TRY(QueryAll(tables_, PartitionQuery(options_.table, MovesOf(place))));
  for (const item::Item& move : moves) ids.push_back(TextIn(move, "channel_id"));
  const auto rows = TRY(QueryAll(tables_, PartitionQuery(options_.table, RowsOfChannel(place))));
  if (!rows.empty()) ids.push_back(TRY(JoinRows(rows)).prev_channel_id);
  std::vector<Place> places;
  for (const std::string& id : ids) {
    auto channel = slack::ChannelId::Parse(id);
    if (channel) places.push_back({.team = place.team, .channel = *std::move(channel)});
  }
  return places;
}

Result<std::optional<Place>> Reader::Resolve(const Place& place, const slack::Timestamp& ts) {
  std::vector<Place> places = {place};
  for (size_t i = 0; i < places.size() && i < kMaxPlaces; ++i) {
    if (TRY(HasMessage(places[i], ts))) return places[i];
    for (Place& next : TRY(Neighbours(places[i]))) {
      if (std::ranges::find(places, next) == places.end()) places.push_back(std::move(next));
    }
  }
  return std::nullopt;
}

}  // namespace tidemark::archive
