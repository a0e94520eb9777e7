#include <algorithm>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/channel.h"

namespace tidemark::archive {

namespace {

using slack::Timestamp;

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

// When each field was set, also of those that have no attribute, such as an archived channel's
// that no longer is. It is there even when it is empty: what it lacks was told by no event.
item::Value EncodeTimes(const Channel& channel) {
  RowBuilder times;
  EncodeTime("archived", channel.archived, &times);
  EncodeTime("purpose", channel.purpose, &times);
  EncodeTime("topic", channel.topic, &times);
  EncodeTime("visibility", channel.visibility, &times);
  return times.Build();
}

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

// When a field was set: as `changed_at` says, or the row's own time when it has none.
class Times {
 public:
  Times(const item::Item& row, const Timestamp& row_time) : row_time_(row_time) {
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

Register<Visibility> DecodeVisibility(const item::Item& row, const Times& times) {
  const std::string* text = FindText(row, "visibility");
  if (!text || (*text != kPublic && *text != kPrivate)) return {};
  return {.value = *text == kPublic ? Visibility::kPublic : Visibility::kPrivate,
          .at = times.Of("visibility")};
}

// Absent with a time: it was archived once, or an event said that it is not.
Register<bool> DecodeArchived(const item::Item& row, const Times& times) {
  const bool archived = IsTrueIn(row, "archived");
  if (!archived && !row.Contains("changed_at")) return {};
  const auto at = times.Of("archived");
  if (!archived && !at) return {};
  return {.value = archived, .at = at};
}

Register<std::string> DecodeText(std::string_view name, const item::Item& row, const Times& times) {
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
    return Error{ErrorCode::kCorrupt, fmt::format("the row {} / {} of the archive is no channel",
                                                  TextIn(row, "itemId"), TextIn(row, "timestamp"))};
  }
  const Times times(row, *row_time);
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
