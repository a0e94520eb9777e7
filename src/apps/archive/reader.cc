#include "apps/archive/reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/archive/attributes.h"
#include "apps/archive/without_copies.h"
#include "tables/pages.h"

namespace tidemark::archive {

namespace {

// At least so many rows of a thread are read by one query, because rows of other channels are among
// them.
constexpr uint32_t kMinThreadPage = 100;

// Removes what the policy hides: the same as the Purger removes from the row.
void Redact(Message* message) {
  if (message->body) {
    message->body->text.reset();
    message->body->blocks.clear();
    message->body->attachments.clear();
    message->body->raw_event.clear();
    message->body->raw_event_object.clear();
  }
  message->traits.author_name.clear();
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

// Rows of the same message, one after the other, become one message. Only the newest body matters
// here.
std::vector<Message> JoinNeighbours(std::vector<Message> rows) {
  std::vector<Message> messages;
  for (Message& row : rows) {
    if (messages.empty() || messages.back().ts != row.ts) {
      messages.push_back(std::move(row));
      continue;
    }
    MessageState state{.message = std::move(messages.back())};
    JoinRow(row, &state);
    messages.back() = std::move(state.message);
  }
  return messages;
}

// Of the rows with the same sort key the one of the newest event counts.
void KeepNewer(item::Item row, std::map<std::string, item::Item>* newest) {
  const auto [at, is_new] = newest->try_emplace(TextIn(row, "timestamp"), row);
  if (!is_new && TextIn(at->second, "event_ts") < TextIn(row, "event_ts")) {
    at->second = std::move(row);
  }
}

// A row without a user has the number of people that Slack gave beside its list of some of them.
// Those who took theirs back since then have rows that say so.
std::vector<Reaction> CountReactions(const std::vector<item::Item>& rows) {
  std::vector<Reaction> reactions;
  std::map<std::string, int64_t> removed;
  const auto find = [&](const std::string& name) -> Reaction& {
    const auto found = std::ranges::find(reactions, name, &Reaction::reaction);
    if (found != reactions.end()) return *found;
    return reactions.emplace_back(Reaction{.reaction = name, .users = {}});
  };
  for (const item::Item& row : rows) {
    const std::string name = TextIn(row, "reaction");
    if (IsTrueIn(row, "removed")) {
      ++removed[name];
    } else if (const std::string user = TextIn(row, "user"); !user.empty()) {
      find(name).users.push_back(user);
    } else {
      find(name).count = IntIn(row, "count").value_or(0);
    }
  }
  for (Reaction& reaction : reactions) {
    const auto named = static_cast<int64_t>(reaction.users.size());
    reaction.count = std::max(named, reaction.count - removed[reaction.reaction]);
  }
  std::erase_if(reactions, [](const Reaction& reaction) { return reaction.count == 0; });
  return reactions;
}

void Cut(uint32_t limit, MessagePage* page) {
  if (page->messages.size() <= limit) return;
  page->messages.erase(page->messages.begin() + limit, page->messages.end());
  page->next = page->messages.back().ts;
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

Message Reader::Shown(Message message) const {
  if (IsEmptied(message)) Redact(&message);
  // A row that an earlier release stored may have copies of other messages.
  if (message.body) message.body->raw_event = WithoutCopies(message.body->raw_event);
  return message;
}

Result<std::optional<MessageState>> Reader::ReadState(const Ids& ids,
                                                      const slack::Timestamp& ts) const {
  std::optional<MessageState> state;
  for (const Place& id : ids) {
    auto message = TRY(table_.FindMessage(id, ts));
    if (!message) continue;
    if (state) {
      JoinRow(*message, &*state);
    } else {
      state = MessageState{.message = *std::move(message)};
    }
  }
  return state;
}

Result<Message> Reader::WholeMessage(const Ids& ids, const item::Item& row) const {
  Message message = TRY(DecodeMessage(row));
  if (ids.size() == 1) return message;
  auto state = TRY(ReadState(ids, message.ts));
  return state ? std::move(state->message) : std::move(message);
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
  if (!channel && TRY(table_.Knows(place))) channel = Channel{.place = place};
  if (!channel) return channel;
  const auto next = TRY(table_.NextIdOf(place));
  if (next) channel->next_channel_id = next->text();
  return channel;
}

tables::QueryRequest Reader::RequestOf(const Place& id, const MessageQuery& query) const {
  tables::QueryRequest request = table_.QueryOf(MessagesOf(id));
  Bound(query, &request);
  request.forward = !query.newest_first;
  request.limit = query.limit;
  if (StartsWithinRange(query)) request.start_after = KeyOf(MessagesOf(id), query.after->text());
  return request;
}

tables::QueryRequest Reader::ThreadRequestOf(const Ids& ids,
                                             const slack::Timestamp& thread_ts) const {
  tables::QueryRequest request{.table = options_.table,
                               .index = std::string(kThreadIndex),
                               .key_condition = "#p = :p",
                               .names = {{"#p", "parent"}, {"#c", "channel_id"}},
                               .values = {{":p", ThreadOf(ids.front().team, thread_ts)}}};
  std::vector<std::string> channels;
  for (const Place& id : ids) {
    channels.push_back(fmt::format(":c{}", channels.size()));
    request.values[channels.back()] = id.channel.text();
  }
  request.filter = fmt::format("#c IN ({})", fmt::join(channels, ", "));
  return request;
}

// Each id is asked for a page, and the pages are merged. Behind the end of the shortest page that
// has more behind it the others may be incomplete, so the merged page ends there.
Result<MessagePage> Reader::Messages(const Place& place, const MessageQuery& query) {
  if (IsEmpty(query)) return MessagePage{};
  const auto is_before = [&](const slack::Timestamp& left, const slack::Timestamp& right) {
    return query.newest_first ? right < left : left < right;
  };
  std::vector<Message> found;
  std::optional<slack::Timestamp> end;
  const Ids ids = TRY(table_.IdsOf(place));
  for (const Place& id : ids) {
    const tables::Page rows = TRY(table_.tables().Query(RequestOf(id, query)));
    for (const item::Item& row : rows.items) found.push_back(TRY(DecodeMessage(row)));
    const auto last = rows.last ? TimestampIn(*rows.last, "timestamp") : std::nullopt;
    if (last && (!end || is_before(*last, *end))) end = last;
  }
  std::ranges::stable_sort(found, is_before, &Message::ts);
  MessagePage page{.messages = JoinNeighbours(std::move(found)), .next = end};
  if (end) {
    std::erase_if(page.messages,
                  [&](const Message& message) { return is_before(*end, message.ts); });
  }
  Cut(query.limit, &page);
  TRY(Finish(ids, &page));
  return page;
}

Status Reader::Finish(const Ids& ids, MessagePage* page) const {
  for (Message& message : page->messages) {
    message = Shown(std::move(message));
    Replies replies = TRY(RepliesTo(ids, message));
    if (replies.count > 0) page->replies.emplace(message.ts, std::move(replies));
  }
  return Done{};
}

// Replies have none of their own. A root need not know that it is one: see Thread.
Result<Replies> Reader::RepliesTo(const Ids& ids, const Message& message) const {
  const std::string& thread_ts = message.traits.thread_ts;
  if (!thread_ts.empty() && thread_ts != message.ts.text()) return Replies{};
  tables::QueryRequest request = ThreadRequestOf(ids, message.ts);
  request.projection = "#t, #deleted";
  request.names["#t"] = "timestamp";
  request.names["#deleted"] = "deleted";
  std::map<std::string, bool> deleted;
  for (const item::Item& row : TRY(tables::QueryAll(table_.tables(), std::move(request)))) {
    deleted[TextIn(row, "timestamp")] |= IsTrueIn(row, "deleted");
  }
  deleted.erase(message.ts.text());
  Replies replies;
  for (const auto& [ts, is_deleted] : deleted) {
    if (is_deleted) continue;
    ++replies.count;
    replies.latest = ParseTimestamp(ts);
  }
  return replies;
}

// The thread of the message with this ts.
Result<slack::Timestamp> Reader::ThreadWith(const Ids& ids, const slack::Timestamp& ts) const {
  const auto state = TRY(ReadState(ids, ts));
  return state ? ParseTimestamp(state->message.traits.thread_ts).value_or(ts) : ts;
}

// The key of the thread index has no channel, so rows of other channels are filtered out. A store
// counts filtered rows towards the limit: it may return fewer rows than asked for although there
// are more. So this reads on until the page is full.
Result<MessagePage> Reader::Thread(const Place& place, const slack::Timestamp& ts,
                                   const std::optional<slack::Timestamp>& after, uint32_t limit) {
  const Ids ids = TRY(table_.IdsOf(place));
  const slack::Timestamp thread_ts = TRY(ThreadWith(ids, ts));
  tables::QueryRequest request = ThreadRequestOf(ids, thread_ts);
  request.limit = std::max(limit + 1, kMinThreadPage);
  if (after) {
    request.key_condition += " AND #t > :after";
    request.names["#t"] = "timestamp";
    request.values[":after"] = after->text();
  }
  std::vector<Message> found;
  const auto visit = [&](const tables::Page& rows) -> Result<tables::Paging> {
    for (const item::Item& row : rows.items) {
      // Its rows under two ids are neighbours in the index.
      if (!found.empty() && found.back().ts.text() == TextIn(row, "timestamp")) continue;
      found.push_back(TRY(WholeMessage(ids, row)));
    }
    return found.size() > limit ? tables::Paging::kStop : tables::Paging::kContinue;
  };
  TRY(tables::ForEachPage(table_.tables(), std::move(request), visit));

  // The index may lack the root: when Slack last showed it there was no reply yet, so its row has
  // no thread_ts.
  const bool has_root = std::ranges::find(found, thread_ts, &Message::ts) != found.end();
  if (!has_root && (!after || *after < thread_ts)) {
    auto root = TRY(ReadState(ids, thread_ts));
    if (root) found.push_back(std::move(root->message));
    std::ranges::sort(found, {}, &Message::ts);
  }
  MessagePage page{.messages = std::move(found)};
  Cut(limit, &page);
  TRY(Finish(ids, &page));
  return page;
}

Result<std::optional<Message>> Reader::FindMessage(const Place& place, const slack::Timestamp& ts) {
  const Ids ids = TRY(table_.IdsOf(place));
  auto state = TRY(ReadState(ids, ts));
  if (!state) return std::nullopt;
  return Shown(std::move(state->message));
}

Result<std::optional<MessageDetail>> Reader::Detail(const Place& place,
                                                    const slack::Timestamp& ts) {
  const Ids ids = TRY(table_.IdsOf(place));
  auto state = TRY(ReadState(ids, ts));
  if (!state) return std::nullopt;
  std::vector<Body> versions = TRY(Versions(ids, &*state));
  std::vector<Reaction> reactions = TRY(Reactions(ids, ts));
  const bool pinned = TRY(IsPinned(ids, ts));
  Replies replies = TRY(RepliesTo(ids, state->message));
  Message message = Shown(std::move(state->message));
  std::optional<Person> author;
  if (!message.traits.user.empty()) {
    author = TRY(FindPerson(place.team, message.traits.user, ts));
  }
  return MessageDetail{.message = std::move(message),
                       .versions = std::move(versions),
                       .reactions = std::move(reactions),
                       .replies = std::move(replies),
                       .pinned = pinned,
                       .author = std::move(author)};
}

Result<std::vector<Body>> Reader::Versions(const Ids& ids, MessageState* state) const {
  const Message& message = state->message;
  std::vector<Body> versions;
  if (IsEmptied(message)) return versions;
  for (const Place& id : ids) {
    for (const item::Item& row : TRY(table_.ReadPartition(VersionsOf(id, message.ts)))) {
      JoinVersion(TRY(DecodeVersion(row)).body, state);
    }
  }
  for (const auto& [version, body] : state->older) versions.push_back(body);
  if (message.body) versions.push_back(*message.body);
  for (Body& body : versions) body.raw_event = WithoutCopies(body.raw_event);
  // The keys are the times of the edits, which do not tell the order within a second.
  std::ranges::sort(versions, [&](const Body& left, const Body& right) {
    return IsOlder(left, right, message.ts);
  });
  return versions;
}

// A row for each reaction and person. A removed reaction keeps its row, marked as removed: without
// it a late "added" event would bring it back. Of two ids the newer row counts.
Result<std::vector<Reaction>> Reader::Reactions(const Ids& ids, const slack::Timestamp& ts) const {
  std::map<std::string, item::Item> newest;
  for (const Place& id : ids) {
    tables::QueryRequest request = table_.QueryOf(ReactionsOf(id));
    request.key_condition += " AND begins_with(#t, :ts)";
    request.names["#t"] = "timestamp";
    request.values[":ts"] = ts.text() + "#";
    for (item::Item& row : TRY(tables::QueryAll(table_.tables(), std::move(request)))) {
      KeepNewer(std::move(row), &newest);
    }
  }
  std::vector<item::Item> rows;
  for (auto& [key, row] : newest) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, {}, [](const item::Item& row) { return TextIn(row, "event_ts"); });
  return CountReactions(rows);
}

Result<bool> Reader::IsPinned(const Ids& ids, const slack::Timestamp& ts) const {
  std::map<std::string, item::Item> newest;
  for (const Place& id : ids) {
    auto row = TRY(table_.Get(PinsOf(id), ts.text()));
    if (row) KeepNewer(*std::move(row), &newest);
  }
  return !newest.empty() && !IsTrueIn(newest.begin()->second, "removed");
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

}  // namespace tidemark::archive
