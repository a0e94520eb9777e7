#include "apps/archive/reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/archive/attributes.h"
#include "apps/archive/without_copies.h"
#include "tables/pages.h"

namespace tidemark::archive {

namespace {

// How many ids of a channel are searched for a message. Ids can change, and the moves form a chain.
constexpr size_t kMaxPlaces = 16;
// At least so many rows of a thread are read by one query, because rows of other channels are among
// them.
constexpr uint32_t kMinThreadPage = 100;

// Removes what the policy hides.
void Redact(Message* message) {
  if (message->body) {
    message->body->text.reset();
    message->body->raw_event.clear();
    message->body->raw_event_object.clear();
  }
  message->traits.files.clear();
  message->files_s3.clear();
  message->files_fetch_failed = false;
  message->files_fetch_error.clear();
  message->files_info.clear();
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

// Whether no message can be within the bounds and after the cursor.
bool IsEmpty(const MessageQuery& query) {
  if (query.from && query.to && *query.to < *query.from) return true;
  const auto& end = query.newest_first ? query.from : query.to;
  if (!query.after || !end) return false;
  return query.newest_first ? *query.after <= *end : *query.after >= *end;
}

// A store refuses a cursor outside of the range. A cursor before the range is the same as none.
bool StartsWithinRange(const MessageQuery& query) {
  if (!query.after) return false;
  const auto& start = query.newest_first ? query.to : query.from;
  if (!start) return true;
  return query.newest_first ? *query.after <= *start : *query.after >= *start;
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
    : options_(std::move(options)),
      table_(tables, options_.table),
      index_(*index),
      clock_(*clock) {}

bool Reader::Hides(const Message& message) const {
  return IsHidden(message, options_.deleted, clock_.NowSeconds());
}

Result<Message> Reader::Decode(const item::Item& row) const {
  Message message = TRY(DecodeMessage(row));
  if (Hides(message)) Redact(&message);
  // A row that an earlier release stored may have copies of other messages.
  if (message.body) message.body->raw_event = WithoutCopies(message.body->raw_event);
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
  auto channel = TRY(table_.FindChannel(place));
  if (!channel && TRY(table_.HasMessages(place))) channel = Channel{.place = place};
  return channel;
}

Result<MessagePage> Reader::Messages(const Place& place, const MessageQuery& query) {
  if (IsEmpty(query)) return MessagePage{};
  tables::QueryRequest request = table_.QueryOf(MessagesOf(place));
  Bound(query, &request);
  request.forward = !query.newest_first;
  request.limit = query.limit;
  if (StartsWithinRange(query)) {
    request.start_after = KeyOf(MessagesOf(place), query.after->text());
  }
  const tables::Page rows = TRY(table_.tables().Query(request));
  MessagePage page;
  for (const item::Item& row : rows.items) page.messages.push_back(TRY(Decode(row)));
  if (rows.last) page.next = TimestampIn(*rows.last, "timestamp");
  return page;
}

Result<std::optional<Message>> Reader::RootOutsideIndex(const Place& place,
                                                        const slack::Timestamp& thread_ts) {
  const auto row = TRY(table_.Get(MessagesOf(place), thread_ts.text()));
  if (!row || row->Contains("parent")) return std::nullopt;
  return TRY(Decode(*row));
}

// The key of the thread index has no channel, so rows of other channels are filtered out. A store
// counts filtered rows towards the limit: it may return fewer rows than asked for although there
// are more. So this reads on until the page is full.
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
  const auto visit = [&](const tables::Page& rows) -> Result<tables::Paging> {
    for (const item::Item& row : rows.items) page.messages.push_back(TRY(Decode(row)));
    return page.messages.size() > limit ? tables::Paging::kStop : tables::Paging::kContinue;
  };
  TRY(tables::ForEachPage(table_.tables(), std::move(request), visit));

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
  const auto row = TRY(table_.Get(MessagesOf(place), ts.text()));
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
  for (const item::Item& row : TRY(table_.ReadPartition(item_id))) {
    versions.push_back(TRY(DecodeVersion(row)).body);
  }
  if (message.body) versions.push_back(*message.body);
  // The keys are the times of the edits, which do not tell the order within a second.
  std::ranges::sort(versions, [&](const Body& left, const Body& right) {
    return IsOlder(left, right, message.ts);
  });
  return versions;
}

// A row for each reaction and person. A removed reaction keeps its row, marked as removed: without
// it a late "added" event would bring it back.
Result<std::vector<Reaction>> Reader::Reactions(const Place& place, const slack::Timestamp& ts) {
  tables::QueryRequest request = table_.QueryOf(ReactionsOf(place));
  request.key_condition += " AND begins_with(#t, :ts)";
  request.names["#t"] = "timestamp";
  request.values[":ts"] = ts.text() + "#";
  std::vector<item::Item> rows = TRY(tables::QueryAll(table_.tables(), std::move(request)));
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
  const auto row = TRY(table_.Get(PinsOf(place), ts.text()));
  return row && !IsTrueIn(*row, "removed");
}

Result<std::optional<Person>> Reader::FindPerson(const slack::TeamId& team, const std::string& user,
                                                 const slack::Timestamp& as_of) {
  tables::QueryRequest request = table_.QueryOf(UserRowsOf(team, user));
  request.limit = 1;
  tables::QueryRequest until = request;
  until.key_condition += " AND #t <= :as_of";
  until.names["#t"] = "timestamp";
  until.values[":as_of"] = as_of.text();
  until.forward = false;
  tables::Page page = TRY(table_.tables().Query(until));
  if (page.items.empty()) page = TRY(table_.tables().Query(request));
  if (page.items.empty()) return std::nullopt;
  return DecodePerson(page.items.front(), user);
}

Result<bool> Reader::HasMessage(const Place& place, const slack::Timestamp& ts) {
  const auto row = TRY(table_.tables().Get({.table = options_.table,
                                            .key = KeyOf(MessagesOf(place), ts.text()),
                                            .projection = "#k",
                                            .names = {{"#k", "itemId"}}}));
  return row.has_value();
}

Result<std::vector<Place>> Reader::Neighbours(const Place& place) {
  std::vector<std::string> ids;
  const auto moves = TRY(table_.ReadPartition(MovesOf(place)));
  for (const item::Item& move : moves) ids.push_back(TextIn(move, "channel_id"));
  if (const auto channel = TRY(table_.FindChannel(place))) ids.push_back(channel->prev_channel_id);
  std::vector<Place> places;
  for (const std::string& id : ids) {
    auto channel = slack::ChannelId::Parse(id);
    if (channel) places.push_back({.team = place.team, .channel = *std::move(channel)});
  }
  return places;
}

// Breadth-first search over the ids of the channel. The list of places is also the list of what was
// visited, so a cycle of ids ends.
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
