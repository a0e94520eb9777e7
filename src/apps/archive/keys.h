// The keys of the archive's rows: how they are built, and what a key says about its row.
// docs/formats/archive.md has them all. The parts of a key are separated by '#'. Ids are checked
// when they are parsed (slack/ids.h), so no id contains a '#'.
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
// What people and emoji are now, by their id or name.
std::string PeopleOf(const slack::TeamId& team);
std::string EmojiOf(const slack::TeamId& team);
std::string MovesOf(const Place& old_place);
// The marks about all channels of a team, and those about one channel.
std::string CoverageOf(const slack::TeamId& team);
std::string CoverageOf(const Place& place);

// The value of `parent`, the partition key of the thread index. The seed's layout has no channel in
// it, and two channels may have messages of the same ts: queries must filter by channel.
std::string ThreadOf(const slack::TeamId& team, const slack::Timestamp& thread_ts);

// {"itemId": …, "timestamp": …}
item::Item KeyOf(std::string_view item_id, std::string_view timestamp);

// The channel of a message row or a channel row; nullopt for the key of any other row.
std::optional<Place> PlaceOfMessages(std::string_view item_id);
std::optional<Place> PlaceOfChannelRow(std::string_view item_id);

}  // namespace tidemark::archive
