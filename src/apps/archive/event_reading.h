// The parts of ReadEvent: one function a kind of event. Each is given the event once its time is
// known, and none fails on what is missing: it says so by NoNews.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "apps/archive/attributes.h"
#include "apps/archive/reading.h"
#include "base/json.h"
#include "slack/event.h"

namespace tidemark::archive {

struct EventView {
  const slack::EventCallback& callback;
  Json root;
  Json event;
  slack::Timestamp event_ts;
  ReadOptions options;
};

using MaybeJson = std::optional<Json>;

inline MaybeJson FindIn(const MaybeJson& json, std::string_view name) {
  return json ? json->Find(name) : std::nullopt;
}

// nullopt when it is missing or no text.
inline std::optional<std::string_view> FindTextIn(const MaybeJson& json, std::string_view name) {
  const MaybeJson value = FindIn(json, name);
  return value ? value->AsString() : std::nullopt;
}

inline std::string TextIn(const MaybeJson& json, std::string_view name) {
  return std::string(FindTextIn(json, name).value_or(""));
}

inline int64_t IntIn(const MaybeJson& json, std::string_view name) {
  const MaybeJson value = FindIn(json, name);
  return value ? value->AsInt().value_or(0) : 0;
}

inline bool IsTrueIn(const MaybeJson& json, std::string_view name) {
  const MaybeJson value = FindIn(json, name);
  return value && value->AsBool().value_or(false);
}

inline std::optional<slack::Timestamp> TimestampIn(const MaybeJson& json, std::string_view name) {
  return ParseTimestamp(FindTextIn(json, name).value_or(""));
}

inline std::optional<slack::ChannelId> ParseChannelId(std::string_view text) {
  auto id = slack::ChannelId::Parse(text);
  return id ? std::optional(*std::move(id)) : std::nullopt;
}

inline News Incomplete(std::string_view detail) {
  return NoNews{.why = NoNews::Why::kIncomplete, .detail = std::string(detail)};
}
inline News NotKept() { return NoNews{.why = NoNews::Why::kNotKept}; }

inline std::string RawEvent(const EventView& view) {
  return view.options.raw_events ? ToText(view.event) : std::string();
}

// What the channel's id and the event's channel_type say.
Scope ScopeOf(const slack::ChannelId& channel, std::string_view channel_type);

News ReadMessageEvent(const EventView& view);
// "topic" for the event channel_topic or group_topic, or for a message of that subtype.
News ReadChannelChange(const EventView& view, std::string_view change);
// The change that an event or a message subtype tells of; nullopt when it tells of none.
std::optional<std::string_view> ChannelChangeOf(std::string_view type_or_subtype);
News ReadChannelEvent(const EventView& view);
News ReadChannelIdChanged(const EventView& view);
News ReadReaction(const EventView& view);
News ReadPin(const EventView& view);
News ReadUserEvent(const EventView& view);
News ReadTeamEvent(const EventView& view);
News ReadEmoji(const EventView& view);
News ReadMembership(const EventView& view);
News ReadRemoval(const EventView& view);

}  // namespace tidemark::archive
