// The keys of the archive's rows, and back. Ids are checked before they become part of a key, so
// none can hold the '#' between the parts. docs/formats/archive.md has them all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "item/value.h"
#include "slack/ids.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

inline constexpr std::string_view kThreadIndex = "thread-index";

// A conversation of a team.
struct Place {
  slack::TeamId team;
  slack::ChannelId channel;
  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// Partition keys.
std::string MessagesOf(const Place& place);
std::string VersionsOf(const Place& place, const slack::Timestamp& ts);
std::string RowsOfChannel(const Place& place);
std::string ChannelIndexOf(const slack::TeamId& team);
std::string ReactionsOf(const Place& place);
std::string PinsOf(const Place& place);
std::string UserRowsOf(const slack::TeamId& team, std::string_view user);
std::string TeamRowsOf(const slack::TeamId& team);
std::string EmojiRowsOf(const slack::TeamId& team, std::string_view name);
std::string MovesOf(const Place& old_place);
// Of all channels, and of one.
std::string CoverageOf(const slack::TeamId& team);
std::string CoverageOf(const Place& place);

// The value of `parent`: the thread index's partition key. It lacks the channel, as the seed lays
// it out, so who queries it filters by channel.
std::string ThreadOf(const slack::TeamId& team, const slack::Timestamp& thread_ts);

// {"itemId": …, "timestamp": …}
item::Item KeyOf(std::string_view item_id, std::string_view timestamp);

// What a row is, by its partition key; nullopt when it is none of these.
std::optional<Place> PlaceOfMessages(std::string_view item_id);
std::optional<Place> PlaceOfChannelRow(std::string_view item_id);

}  // namespace tidemark::archive
