// The parts of ReadEvent (read_event.h): how they see an event, and one function for each kind of
// event. None of them fails when a field is missing: it returns NoNews, which says what is missing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/archive/json_fields.h"
#include "apps/archive/read_event.h"
#include "apps/archive/without_copies.h"
#include "base/json.h"
#include "slack/event.h"

namespace tidemark::archive {

// An event as the functions below see it. It refers to the caller's callback and document, and is
// used within one call of ReadEvent.
struct EventView {
  const slack::EventCallback& callback;
  Json root;
  Json event;
  slack::Timestamp event_ts;  // Always known: an event without any time is not read.
  ReadOptions options;
};

inline std::optional<slack::ChannelId> ParseChannelId(std::string_view text) {
  auto id = slack::ChannelId::Parse(text);
  return id ? std::optional(*std::move(id)) : std::nullopt;
}

inline News Incomplete(std::string_view detail) {
  return NoNews{.why = NoNews::Why::kIncomplete, .detail = std::string(detail)};
}
inline News NotKept() { return NoNews{.why = NoNews::Why::kNotKept}; }

inline std::string RawEvent(const EventView& view) {
  return view.options.raw_events ? WithoutCopies(view.event) : std::string();
}

// The scope by the channel's id and the event's channel_type.
Scope ScopeOf(const slack::ChannelId& channel, std::string_view channel_type);

News ReadMessageEvent(const EventView& view);
// Slack tells of some changes twice: by an event (channel_topic, group_topic) and by a message
// whose subtype has the same name. Both are read here. ChannelChangeOf gives the name of the change
// without its prefix ("topic"), or nullopt when the type or subtype is not about such a change.
std::optional<std::string_view> ChannelChangeOf(std::string_view type_or_subtype);
News ReadChannelChange(const EventView& view, std::string_view change);
News ReadChannelEvent(const EventView& view);
News ReadChannelIdChanged(const EventView& view);
News ReadReaction(const EventView& view);
News ReadPin(const EventView& view);
News ReadUserEvent(const EventView& view);
News ReadTeamEvent(const EventView& view);
News ReadEmoji(const EventView& view);
News ReadMembership(const EventView& view);
News ReadRemoval(const EventView& view);
News ReadHistoryChanged(const EventView& view);

}  // namespace tidemark::archive
