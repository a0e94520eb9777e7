#include "apps/archive/planner.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/coverage.h"
#include "apps/archive/files.h"
#include "apps/archive/row_update.h"
#include "item/limits.h"
#include "item/size.h"
#include "tables/pages.h"

namespace tidemark::archive {

namespace {

// Left free in a row for what the file processor adds to it later.
constexpr size_t kRoomBytes = 8 << 10;

}  // namespace

// ---- Whether to keep it ----

// When no row says whether the channel was public, its messages do: messages are only kept of
// channels that are or were public.
Result<bool> Archive::Planner::WasPublic(const Place& place, const Rows& rows) {
  if (!rows.empty()) {
    const Channel channel = TRY(JoinRows(rows));
    if (channel.EverPublic()) return true;
    if (channel.visibility.value) return false;
  }
  return table_.HasMessages(place);
}

Result<bool> Archive::Planner::MayKeep(const Place& place, Scope scope) {
  if (scope != Scope::kAsk) return scope == Scope::kPublic;
  const Rows rows = TRY(table_.ReadPartition(RowsOfChannel(place)));
  return WasPublic(place, rows);
}

// ---- Writing a row ----

void Archive::Planner::WarnOfSize(const item::Item& row) {
  const size_t bytes = item::SizeBytes(row);
  if (bytes <= options_.warn_bytes) return;
  large_rows_.Add();
  logger_.Log(LogLevel::kWarning, "large row in the archive",
              {{"item_id", TextIn(row, "itemId")},
               {"timestamp", TextIn(row, "timestamp")},
               {"bytes", bytes}});
}

template <typename T, typename Raw>
std::optional<item::Item> Archive::Planner::EncodeToFit(const T& state, Raw* raw) {
  item::Item row = Encode(state);
  if (item::SizeBytes(row) <= item::kMaxItemBytes - kRoomBytes) return row;
  if (raw && !raw->raw_event.empty()) {
    raw->raw_event.clear();
    raw->raw_event_dropped = true;
    row = Encode(state);
  }
  if (item::SizeBytes(row) <= item::kMaxItemBytes) return row;
  logger_.Log(LogLevel::kError, "row is too large for the archive and was not stored",
              {{"item_id", TextIn(row, "itemId")}, {"timestamp", TextIn(row, "timestamp")}});
  return std::nullopt;
}

tables::PutRequest Archive::Planner::PutNew(item::Item row) const {
  return {.table = options_.table,
          .item = std::move(row),
          .condition = "attribute_not_exists(#id)",
          .names = {{"#id", "itemId"}}};
}

void Archive::Planner::AddRow(const item::Item* row, item::Item next, Plan* plan) {
  plan->outcome = ArchiveOutcome::kStored;
  WarnOfSize(next);
  if (row) {
    plan->actions.emplace_back(UpdateRow(options_.table, *row, next));
  } else {
    plan->actions.emplace_back(PutNew(std::move(next)));
  }
}

// For rows whose key has the time of their event: a row that is there is the same row.
Status Archive::Planner::AddOnce(item::Item row, Plan* plan) {
  if (TRY(table_.Get(TextIn(row, "itemId"), TextIn(row, "timestamp")))) return Done{};
  plan->outcome = ArchiveOutcome::kStored;
  plan->actions.emplace_back(PutNew(std::move(row)));
  return Done{};
}

// The condition compares event_ts with what was just read. If another writer changed the row
// between the read and the write, the transaction is cancelled and the caller plans again.
void Archive::Planner::AddNewest(item::Item row, const std::optional<item::Item>& known,
                                 Plan* plan) {
  if (!known) {
    plan->outcome = ArchiveOutcome::kStored;
    plan->actions.emplace_back(PutNew(std::move(row)));
    return;
  }
  if (TextIn(*known, "event_ts") >= TextIn(row, "event_ts")) return;
  plan->outcome = ArchiveOutcome::kStored;
  plan->actions.emplace_back(
      tables::PutRequest{.table = options_.table,
                         .item = std::move(row),
                         .condition = "#event_ts = :event_ts",
                         .names = {{"#event_ts", "event_ts"}},
                         .values = {{":event_ts", TextIn(*known, "event_ts")}}});
}

Result<Plan> Archive::Planner::PlanNewest(item::Item row) {
  const auto known = TRY(table_.Get(TextIn(row, "itemId"), TextIn(row, "timestamp")));
  Plan plan;
  AddNewest(std::move(row), known, &plan);
  return plan;
}

// ---- Messages ----

namespace {

void JoinNews(const MessageNews& news, MessageState* state) {
  for (const Observation& observation : news.observations) Join(observation, state);
  if (!state->message.purged) Join(news.traits, &state->message.traits);
  if (news.deleted_ts) JoinDeletion(*news.deleted_ts, state);
}

// Removes the blocks, and then the attachments, if the row has no room for them even without its
// raw event. The text stays: it is what people look for.
template <typename T>
void DropLargeParts(const T& state, Body* body) {
  std::string raw_event = std::exchange(body->raw_event, "");
  for (std::string* const part : {&body->blocks, &body->attachments}) {
    if (item::SizeBytes(Encode(state)) > item::kMaxItemBytes - kRoomBytes) part->clear();
  }
  body->raw_event = std::move(raw_event);
}

// The beginnings of the keys of all rows that the news may be about. A body of a later second than
// the newest one has no row of its own: it would be in the message's row. Of the newest one's own
// second all bodies are read (see MessageState). An edit may have the time of its event as its key
// (see KeepBetter in message.cc), so its row is looked for under both times.
std::set<std::string> KeysToRead(const Body& newest, const slack::Timestamp& ts,
                                 const MessageNews& news) {
  const EpochSeconds second = newest.version.seconds();
  std::set<std::string> keys;
  const auto add = [&](const slack::Timestamp& at) {
    if (at.seconds() > second) return;
    keys.insert(at.seconds() == second ? fmt::format("{}.", second) : at.text());
  };
  for (const Observation& observation : news.observations) {
    const Body& told = observation.body;
    add(told.version);
    if (!told.inferred && told.version != ts) add(told.event_ts);
  }
  return keys;
}

}  // namespace

Result<Archive::Planner::Bodies> Archive::Planner::OlderBodies(const Message& message,
                                                               const MessageNews& news) {
  Bodies older;
  if (!message.body) return older;
  for (const std::string& key : KeysToRead(*message.body, message.ts, news)) {
    tables::QueryRequest request = table_.QueryOf(VersionsOf(message.place, message.ts));
    request.key_condition += " AND begins_with(#t, :t)";
    request.names.emplace("#t", "timestamp");
    request.values.emplace(":t", key);
    for (const item::Item& row : TRY(tables::QueryAll(table_.tables(), std::move(request)))) {
      Version known = TRY(DecodeVersion(row));
      older.emplace(known.body.version, std::move(known.body));
    }
  }
  return older;
}

// These writes need no condition. A version changes only together with its message's row, and the
// update of that row checks and raises the revision in the same transaction.
void Archive::Planner::AddVersions(const MessageState& state, const Bodies& known_older,
                                   Plan* plan) {
  const Message& message = state.message;
  for (const auto& [version, body] : state.older) {
    const auto known = known_older.find(version);
    if (known != known_older.end() && known->second == body) continue;
    Version older{.place = message.place, .ts = message.ts, .body = body};
    auto row = EncodeWithBody(older, &older.body, plan);
    if (!row) continue;
    plan->actions.emplace_back(
        tables::PutRequest{.table = options_.table, .item = *std::move(row)});
  }
  // A version that turned out to be the newest body is in the message's row now.
  for (const auto& [version, body] : known_older) {
    if (state.older.contains(version)) continue;
    plan->actions.emplace_back(
        tables::DeleteRequest{.table = options_.table,
                              .key = KeyOf(VersionsOf(message.place, message.ts), version.text())});
  }
}

template <typename T>
std::optional<item::Item> Archive::Planner::EncodeWithBody(const T& state, Body* body, Plan* plan) {
  const bool is_large = item::SizeBytes(Encode(state)) > item::kMaxItemBytes - kRoomBytes;
  const bool has_objects = large_events_ == LargeEvents::kToObjects;
  if (is_large && has_objects && body != nullptr && !body->raw_event.empty()) {
    const std::string key = RawEventKeyOf(state.place, state.ts, *body);
    plan->objects.push_back({.key = key,
                             .bytes = std::exchange(body->raw_event, {}),
                             .content_type = "application/json"});
    body->raw_event_object = key;
  } else if (is_large && body != nullptr) {
    DropLargeParts(state, body);
  }
  return EncodeToFit(state, body);
}

Result<Plan> Archive::Planner::PlanMessage(MessageState state, const std::optional<item::Item>& row,
                                           const Bodies& known_older) {
  Message& message = state.message;
  Plan plan;
  auto next = EncodeWithBody(message, message.body ? &*message.body : nullptr, &plan);
  if (!next) return Plan{.outcome = ArchiveOutcome::kIncomplete};
  AddVersions(state, known_older, &plan);
  if (row && plan.actions.empty() && !Differs(*row, *next)) return plan;
  AddRow(row ? &*row : nullptr, *std::move(next), &plan);
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const MessageNews& news) {
  const Place place{.team = team, .channel = news.channel};
  if (!TRY(MayKeep(place, news.scope))) return Plan{.outcome = ArchiveOutcome::kNotPublic};
  const auto row = TRY(table_.Get(MessagesOf(place), news.ts.text()));
  MessageState state{.message = {.place = place, .ts = news.ts}};
  if (row) state.message = TRY(DecodeMessage(*row));
  // Until an event tells of the message too: so the flag does not depend on who came first.
  state.message.imported = news.is_import && (!row || state.message.imported);
  const Bodies known_older = TRY(OlderBodies(state.message, news));
  state.older = known_older;
  JoinNews(news, &state);
  return PlanMessage(std::move(state), row, known_older);
}

// ---- Channels ----

// A channel with messages but without a row was public: see WasPublic.
Status Archive::Planner::JoinOldChannel(const Place& old_place, Channel* channel) {
  if (const auto old_channel = TRY(table_.FindChannel(old_place))) JoinState(*old_channel, channel);
  if (!channel->visibility.value && TRY(table_.HasMessages(old_place))) {
    channel->visibility.value = Visibility::kPublic;
  }
  return Done{};
}

Status Archive::Planner::AddMove(const slack::TeamId& team, const ChannelNews& news, Plan* plan) {
  RowBuilder row;
  row.Set("itemId", MovesOf({.team = team, .channel = *news.moved_from}));
  row.Set("timestamp", news.event_ts.text());
  row.Set("type", "moved");
  row.Set("channel_id", news.channel.text());
  return AddOnce(row.Build(), plan);
}

Plan Archive::Planner::PlanChannel(Channel channel, const item::Item* row) {
  auto next = EncodeToFit(channel, &channel);
  if (!next) return Plan{.outcome = ArchiveOutcome::kIncomplete};
  Plan plan;
  if (row && !Differs(*row, *next)) return plan;
  AddRow(row, *std::move(next), &plan);
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const ScopedChannelNews& scoped) {
  const ChannelNews& news = scoped.news;
  const Place place{.team = team, .channel = news.channel};
  if (scoped.scope == Scope::kPrivate) return Plan{.outcome = ArchiveOutcome::kNotPublic};
  const Rows rows = TRY(table_.ReadPartition(RowsOfChannel(place)));
  if (scoped.scope == Scope::kAsk && !TRY(WasPublic(place, rows))) {
    return Plan{.outcome = ArchiveOutcome::kNotPublic};
  }
  Channel channel{.place = place};
  if (!rows.empty()) channel = TRY(JoinRows(rows));
  if (!rows.empty() && news.is_listing && !SaysMore(news, channel)) return Plan{};
  if (rows.empty()) channel.row_timestamp = news.event_ts.text();
  if (news.moved_from) {
    TRY(JoinOldChannel({.team = team, .channel = *news.moved_from}, &channel));
  }
  Join(news, &channel);
  // Rows are ordered by timestamp. The last one is the newest, and the one to write.
  Plan plan = PlanChannel(std::move(channel), rows.empty() ? nullptr : &rows.back());
  if (news.moved_from) TRY(AddMove(team, news, &plan));
  if (scoped.notice) TRY(AddNotice(team, *scoped.notice, &plan));
  return plan;
}

// The channel may be kept, so its notice may be too.
Status Archive::Planner::AddNotice(const slack::TeamId& team, MessageNews notice, Plan* plan) {
  notice.scope = Scope::kPublic;
  Plan message = TRY(For(team, notice));
  if (message.outcome != ArchiveOutcome::kStored) return Done{};
  plan->outcome = ArchiveOutcome::kStored;
  std::ranges::move(message.actions, std::back_inserter(plan->actions));
  std::ranges::move(message.objects, std::back_inserter(plan->objects));
  return Done{};
}

// ---- Reactions, pins, users, teams, emoji, coverage ----

namespace {

// A transaction has at most 100 actions, and the caller adds its own. An emoji needs two.
constexpr size_t kMaxEmojiActions = 90;

// How a person is shown: name, avatar and so on, without the key.
item::Item EncodeShown(const UserNews& news) {
  RowBuilder row;
  row.SetText("name", news.name);
  row.SetText("real_name", news.real_name);
  row.SetText("display_name", news.display_name);
  row.SetText("avatar", news.avatar);
  row.SetTrue("is_bot", news.is_bot);
  row.SetTrue("deactivated", news.deactivated);
  return row.Build();
}

item::Item Encode(const slack::TeamId& team, const UserNews& news) {
  item::Item row = EncodeShown(news);
  row.Set("itemId", UserRowsOf(team, news.user));
  row.Set("timestamp", news.event_ts.text());
  row.Set("type", "user");
  return row;
}

item::Item WithoutKey(item::Item row) {
  for (const std::string_view name : {"itemId", "timestamp", "type"}) row.Erase(name);
  return row;
}

// The row that says what a person or an emoji is now. Such rows are in one partition for each team,
// so that they can be listed.
item::Item EncodePresent(std::string_view item_id, std::string_view name, item::Item row,
                         const slack::Timestamp& event_ts) {
  row.Set("itemId", std::string(item_id));
  row.Set("timestamp", std::string(name));
  row.Set("type", "present");
  row.Set("event_ts", event_ts.text());
  return row;
}

bool ShowsTheSame(item::Item left, item::Item right) {
  left.Erase("event_ts");
  right.Erase("event_ts");
  return left == right;
}

}  // namespace

// A row that shows the same stays as it is: Slack's lists repeat everything every few minutes.
Status Archive::Planner::AddPresent(item::Item row, Plan* plan) {
  const auto known = TRY(table_.Get(TextIn(row, "itemId"), TextIn(row, "timestamp")));
  if (!known || !ShowsTheSame(*known, row)) AddNewest(std::move(row), known, plan);
  return Done{};
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const ReactionNews& news) {
  const Place place{.team = team, .channel = news.channel};
  if (!TRY(MayKeep(place, news.scope))) return Plan{.outcome = ArchiveOutcome::kNotPublic};
  RowBuilder row;
  row.Set("itemId", ReactionsOf(place));
  row.Set("timestamp", fmt::format("{}#{}#{}", news.ts.text(), news.reaction, news.user));
  row.Set("type", "reaction");
  row.Set("ts", news.ts.text());
  row.Set("reaction", news.reaction);
  row.Set("user", news.user);
  row.Set("event_ts", news.event_ts.text());
  row.SetTrue("removed", news.removed);
  return PlanNewest(row.Build());
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const PinNews& news) {
  const Place place{.team = team, .channel = news.channel};
  if (!TRY(MayKeep(place, news.scope))) return Plan{.outcome = ArchiveOutcome::kNotPublic};
  RowBuilder row;
  row.Set("itemId", PinsOf(place));
  row.Set("timestamp", news.ts.text());
  row.Set("type", "pin");
  row.Set("ts", news.ts.text());
  row.SetText("user", news.user);
  row.Set("event_ts", news.event_ts.text());
  row.SetTrue("removed", news.removed);
  return PlanNewest(row.Build());
}

// A new row only when what is shown of the person changed. Most user events are about their status,
// which the archive does not keep. The row that counts is the newest one up to the event's time, so
// that events may arrive late.
Result<Plan> Archive::Planner::For(const slack::TeamId& team, const UserNews& news) {
  tables::QueryRequest request = table_.QueryOf(UserRowsOf(team, news.user));
  request.key_condition += " AND #t <= :t";
  request.names.emplace("#t", "timestamp");
  request.values.emplace(":t", news.event_ts.text());
  request.forward = false;
  request.limit = 1;
  const tables::Page page = TRY(table_.tables().Query(request));
  const item::Item* const known = page.items.empty() ? nullptr : &page.items.front();
  Plan plan;
  TRY(AddPresent(EncodePresent(PeopleOf(team), news.user, EncodeShown(news), news.event_ts),
                 &plan));
  if (known && (TextIn(*known, "timestamp") == news.event_ts.text() ||
                WithoutKey(*known) == EncodeShown(news))) {
    return plan;
  }
  plan.outcome = ArchiveOutcome::kStored;
  plan.actions.emplace_back(PutNew(Encode(team, news)));
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const TeamNews& news) {
  RowBuilder row;
  row.Set("itemId", TeamRowsOf(team));
  row.Set("timestamp", news.event_ts.text());
  row.Set("type", "team");
  row.SetText("name", news.name);
  row.SetText("domain", news.domain);
  Plan plan;
  TRY(AddOnce(row.Build(), &plan));
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const EmojiNews& news) {
  Plan plan;
  for (const EmojiNews::Change& change : news.changes) {
    if (plan.actions.size() >= kMaxEmojiActions) break;
    RowBuilder row;
    row.Set("itemId", EmojiRowsOf(team, change.name));
    row.Set("timestamp", news.event_ts.text());
    row.Set("type", "emoji");
    row.SetText("value", change.value);
    row.SetTrue("removed", change.removed);
    const item::Item history = row.Build();
    TRY(AddPresent(EncodePresent(EmojiOf(team), change.name, WithoutKey(history), news.event_ts),
                   &plan));
    TRY(AddOnce(history, &plan));
  }
  return plan;
}

// Slack cannot be asked about a channel that the bot has left. An earlier mark shows that it was
// public: without the mark of the end, the channel would count as covered.
Result<bool> Archive::Planner::MayMark(const Place& place, Scope scope) {
  if (TRY(MayKeep(place, scope))) return true;
  return scope == Scope::kAsk && !TRY(table_.ReadPartition(CoverageOf(place))).empty();
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const CoverageNews& news) {
  if (news.channel && !TRY(MayMark({.team = team, .channel = *news.channel}, news.scope))) {
    return Plan{.outcome = ArchiveOutcome::kNotPublic};
  }
  Plan plan;
  TRY(AddOnce(EncodeMark(team, news), &plan));
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& /*team*/, const NoNews& news) {
  switch (news.why) {
    case NoNews::Why::kUnknownType:
      return Plan{.outcome = ArchiveOutcome::kUnknownType};
    case NoNews::Why::kNotKept:
      return Plan{.outcome = ArchiveOutcome::kNotKept};
    case NoNews::Why::kIncomplete:
      return Plan{.outcome = ArchiveOutcome::kIncomplete};
  }
  return Plan{.outcome = ArchiveOutcome::kIncomplete};
}

}  // namespace tidemark::archive
