#include "apps/archive/channel.h"

#include <algorithm>
#include <utility>

#include "apps/archive/attributes.h"

namespace tidemark::archive {

namespace {

using slack::Timestamp;

// The newer event wins. A value without a time, which is only implied, loses to any with one. Two
// values of the same time should not occur; the greater wins, so that both orders end the same way.
template <typename T>
void JoinRegister(const Register<T>& told, Register<T>* known) {
  if (!told.value) return;
  if (!known->value || known->at < told.at ||
      (known->at == told.at && *known->value < *told.value)) {
    *known = told;
  }
}

template <typename T>
void JoinValue(const std::optional<T>& value, const Timestamp& at, Register<T>* known) {
  JoinRegister(Register<T>{.value = value, .at = at}, known);
}

bool IsNewer(const NameChange& left, const NameChange& right) {
  return left.at == right.at ? left.name > right.name : left.at > right.at;
}

// Keeps the changes sorted, newest first. Slack may tell of a rename twice with the same time: that
// is one change. Beyond the limit the oldest change is dropped.
void JoinName(const NameChange& told, std::vector<NameChange>* changes) {
  const auto same = std::find_if(changes->begin(), changes->end(),
                                 [&](const NameChange& change) { return change.at == told.at; });
  if (same != changes->end()) {
    same->name = std::max(same->name, told.name);
    return;
  }
  changes->insert(std::lower_bound(changes->begin(), changes->end(), told, IsNewer), told);
  if (changes->size() > kMaxNameChanges) changes->pop_back();
}

bool SaysPublic(const ChannelNews& news) {
  return news.was_public || news.implies_public || news.visibility == Visibility::kPublic;
}

// Two facts are kept apart: the visibility now, which the newest event decides, and whether the
// channel was ever public, which only becomes true and never false again. The second one decides
// whether messages are kept.
void JoinVisibility(const ChannelNews& news, Channel* channel) {
  channel->was_public = channel->EverPublic() || SaysPublic(news);
  if (news.implies_public) JoinRegister({.value = Visibility::kPublic}, &channel->visibility);
  JoinValue(news.visibility, news.event_ts, &channel->visibility);
}

// Only the raw event of the newest event is kept.
void JoinRawEvent(const ChannelNews& news, Channel* channel) {
  if (news.is_listing) return;
  if (channel->last_event_ts && news.event_ts <= *channel->last_event_ts) return;
  channel->last_event_ts = news.event_ts;
  channel->raw_event = news.raw_event;
  channel->raw_event_dropped = false;
}

// The name of the channel at this time. It is not the present one when a listing was dated by a
// clock that was ahead.
std::optional<std::string> NameAt(const Timestamp& at, const Channel& channel) {
  const auto change = std::ranges::find_if(channel.name_changes,
                                           [&](const NameChange& one) { return one.at <= at; });
  return change == channel.name_changes.end() ? std::nullopt : std::optional(change->name);
}

// Without what the channel's state says already. Joined with a later time, a repeated name would
// push older ones out of the history. What is empty or false counts as said by a channel that says
// nothing.
ChannelNews WithoutKnown(ChannelNews news, const Channel& channel) {
  if (news.name == channel.name() || news.name == NameAt(news.event_ts, channel)) news.name.reset();
  if (news.visibility == channel.visibility.value) news.visibility.reset();
  if (news.archived == channel.archived.value.value_or(false)) news.archived.reset();
  if (news.topic == channel.topic.value.value_or("")) news.topic.reset();
  if (news.purpose == channel.purpose.value.value_or("")) news.purpose.reset();
  return news;
}

void JoinAll(const ChannelNews& news, Channel* channel) {
  if (news.name) JoinName({.at = news.event_ts, .name = *news.name}, &channel->name_changes);
  JoinVisibility(news, channel);
  JoinValue(news.archived, news.event_ts, &channel->archived);
  channel->deleted = channel->deleted || news.deleted;
  JoinValue(news.topic, news.event_ts, &channel->topic);
  JoinValue(news.purpose, news.event_ts, &channel->purpose);
  if (news.moved_from) {
    channel->prev_channel_id = std::max(channel->prev_channel_id, news.moved_from->text());
  }
  JoinRawEvent(news, channel);
}

}  // namespace

std::optional<std::string> Channel::name() const {
  return name_changes.empty() ? std::nullopt : std::optional(name_changes.front().name);
}

std::vector<std::string> Channel::names_history() const {
  std::vector<std::string> names;
  for (const NameChange& change : name_changes) {
    if (names.size() == kMaxNames) break;
    if (names.empty() || names.back() != change.name) names.push_back(change.name);
  }
  return names;
}

bool Channel::EverPublic() const { return was_public || visibility.value == Visibility::kPublic; }

void Join(const ChannelNews& news, Channel* channel) {
  JoinAll(news.is_listing ? WithoutKnown(news, *channel) : news, channel);
}

bool SaysMore(const ChannelNews& listing, const Channel& channel) {
  const ChannelNews more = WithoutKnown(listing, channel);
  return more.name || more.visibility || more.archived || more.topic || more.purpose;
}

void JoinState(const Channel& told, Channel* channel) {
  for (const NameChange& change : told.name_changes) JoinName(change, &channel->name_changes);
  channel->was_public = channel->EverPublic() || told.EverPublic();
  JoinRegister(told.visibility, &channel->visibility);
  JoinRegister(told.archived, &channel->archived);
  JoinRegister(told.topic, &channel->topic);
  JoinRegister(told.purpose, &channel->purpose);
}

Result<Channel> JoinRows(std::span<const item::Item> rows) {
  CHECK(!rows.empty());
  Channel newest = TRY(DecodeChannel(rows.front()));
  for (const item::Item& row : rows.subspan(1)) {
    Channel other = TRY(DecodeChannel(row));
    if (other.row_timestamp > newest.row_timestamp) std::swap(newest, other);
    JoinState(other, &newest);
    newest.deleted = newest.deleted || other.deleted;
    newest.prev_channel_id = std::max(newest.prev_channel_id, other.prev_channel_id);
    if (other.last_event_ts > newest.last_event_ts) {
      newest.last_event_ts = other.last_event_ts;
      newest.raw_event = other.raw_event;
      newest.raw_event_dropped = other.raw_event_dropped;
    }
  }
  return newest;
}

// ---- The row ----

namespace {

constexpr std::string_view kPublic = "public";
constexpr std::string_view kPrivate = "private";

item::Value EncodeNames(const std::vector<std::string>& names) {
  return item::List(names.begin(), names.end());
}

item::Value EncodeNameChanges(const std::vector<NameChange>& changes) {
  item::List list;
  for (const NameChange& change : changes) {
    list.push_back(item::Map{{"at", change.at.text()}, {"name", change.name}});
  }
  return list;
}

template <typename T>
void EncodeTime(std::string_view name, const Register<T>& field, RowBuilder* times) {
  if (field.value && field.at) times->Set(name, field.at->text());
}

// When each field was set. A field that is false has no attribute, but its time is kept: without it
// an older "archived" event, arriving late, would win. The map is written even when it is empty,
// because that tells our rows from those of the seed (see RowTimes).
item::Value EncodeTimes(const Channel& channel) {
  RowBuilder times;
  EncodeTime("archived", channel.archived, &times);
  EncodeTime("purpose", channel.purpose, &times);
  EncodeTime("topic", channel.topic, &times);
  EncodeTime("visibility", channel.visibility, &times);
  return times.Build();
}

// "was_public" is only written when "visibility" does not already say it: a row of a public channel
// looks like a row of the seed.
void EncodeVisibility(const Channel& channel, RowBuilder* row) {
  if (!channel.visibility.value) {
    row->SetTrue("was_public", channel.was_public);
    return;
  }
  const bool is_public = channel.visibility.value == Visibility::kPublic;
  row->SetText("visibility", is_public ? kPublic : kPrivate);
  row->SetTrue("was_public", !is_public && channel.was_public);
}

void EncodeNamesOf(const Channel& channel, RowBuilder* row) {
  if (channel.name_changes.empty()) return;
  row->SetText("name", *channel.name());
  row->Set("names_history", EncodeNames(channel.names_history()));
  row->Set("name_changes", EncodeNameChanges(channel.name_changes));
}

// A row of the seed has only a name: it counts as set at the time of the row.
std::vector<NameChange> DecodeNameChanges(const item::Item& row, const Timestamp& row_time) {
  std::vector<NameChange> changes;
  const item::Value* value = row.Find("name_changes");
  const auto* list = value ? value->As<item::List>() : nullptr;
  if (!list) {
    if (const std::string* name = FindText(row, "name")) changes.push_back({row_time, *name});
    return changes;
  }
  for (const item::Value& element : *list) {
    const auto* change = element.As<item::Map>();
    const auto at = change ? TimestampIn(*change, "at") : std::nullopt;
    if (at) changes.push_back({*at, TextIn(*change, "name")});
  }
  std::sort(changes.begin(), changes.end(),
            [](const NameChange& left, const NameChange& right) { return left.at > right.at; });
  if (changes.size() > kMaxNameChanges) changes.resize(kMaxNameChanges, changes.front());
  return changes;
}

// When a field was set: what `changed_at` says. A row without `changed_at` was written by the
// seed's code: there the row's own time counts for every field.
class RowTimes {
 public:
  RowTimes(const item::Item& row, const Timestamp& row_time) : row_time_(row_time) {
    const item::Value* value = row.Find("changed_at");
    times_ = value ? value->As<item::Map>() : nullptr;
  }
  std::optional<Timestamp> Of(std::string_view name) const {
    return times_ ? TimestampIn(*times_, name) : row_time_;
  }

 private:
  const std::optional<Timestamp> row_time_;
  const item::Map* times_;
};

Register<Visibility> DecodeVisibility(const item::Item& row, const RowTimes& times) {
  const std::string* text = FindText(row, "visibility");
  if (!text || (*text != kPublic && *text != kPrivate)) return {};
  return {.value = *text == kPublic ? Visibility::kPublic : Visibility::kPrivate,
          .at = times.Of("visibility")};
}

// Not archived but with a time: an event has said that it is not archived (any more).
Register<bool> DecodeArchived(const item::Item& row, const RowTimes& times) {
  const bool archived = IsTrueIn(row, "archived");
  if (!archived && !row.Contains("changed_at")) return {};
  const auto at = times.Of("archived");
  if (!archived && !at) return {};
  return {.value = archived, .at = at};
}

Register<std::string> DecodeText(std::string_view name, const item::Item& row,
                                 const RowTimes& times) {
  const std::string* text = FindText(row, name);
  if (!text) return {};
  return {.value = *text, .at = times.Of(name)};
}

}  // namespace

item::Item Encode(const Channel& channel) {
  CHECK(channel.row_timestamp.has_value());
  RowBuilder row;
  row.Set("itemId", RowsOfChannel(channel.place));
  row.Set("timestamp", *channel.row_timestamp);
  row.Set("type", "channel");
  row.Set("team_id", channel.place.team.text());
  row.Set("channel_id", channel.place.channel.text());
  EncodeNamesOf(channel, &row);
  EncodeVisibility(channel, &row);
  row.SetTrue("archived", channel.archived.value.value_or(false));
  row.SetTrue("deleted", channel.deleted);
  if (channel.topic.value) row.Set("topic", *channel.topic.value);
  if (channel.purpose.value) row.Set("purpose", *channel.purpose.value);
  row.SetText("prev_channel_id", channel.prev_channel_id);
  row.Set("changed_at", EncodeTimes(channel));
  if (channel.last_event_ts) row.Set("last_event_ts", channel.last_event_ts->text());
  row.SetText("raw_event", channel.raw_event);
  row.SetTrue("raw_event_dropped", channel.raw_event_dropped);
  if (channel.revision > 1) row.SetInt("revision", channel.revision);
  return row.Build();
}

Result<Channel> DecodeChannel(const item::Item& row) {
  auto place = PlaceOfChannelRow(TextIn(row, "itemId"));
  const auto row_time = TimestampIn(row, "timestamp");
  if (!place || !row_time) {
    return NotA("a channel", row);
  }
  const RowTimes times(row, *row_time);
  Channel channel{.place = *std::move(place)};
  channel.name_changes = DecodeNameChanges(row, *row_time);
  channel.visibility = DecodeVisibility(row, times);
  channel.was_public = IsTrueIn(row, "was_public");
  channel.archived = DecodeArchived(row, times);
  channel.deleted = IsTrueIn(row, "deleted");
  channel.topic = DecodeText("topic", row, times);
  channel.purpose = DecodeText("purpose", row, times);
  channel.prev_channel_id = TextIn(row, "prev_channel_id");
  channel.raw_event = TextIn(row, "raw_event");
  channel.raw_event_dropped = IsTrueIn(row, "raw_event_dropped");
  channel.last_event_ts = TimestampIn(row, "last_event_ts").value_or(*row_time);
  channel.row_timestamp = row_time->text();
  channel.revision = IntIn(row, "revision").value_or(1);
  return channel;
}

}  // namespace tidemark::archive
