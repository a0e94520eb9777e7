#include "apps/archive/keys.h"

#include <initializer_list>

namespace tidemark::archive {

namespace {

constexpr char kSeparator = '#';

std::string Joined(std::initializer_list<std::string_view> parts) {
  size_t size = parts.size();
  for (const std::string_view part : parts) size += part.size();
  std::string joined;
  joined.reserve(size);
  for (const std::string_view part : parts) {
    if (!joined.empty()) joined += kSeparator;
    joined += part;
  }
  return joined;
}

// "{kind}#{team}#{channel}" and nothing behind it.
// Reads a place back from a key of this kind. The id is checked, so a key of another kind that
// begins alike ("channelindex#…") is not taken for it.
std::optional<Place> PlaceBehind(std::string_view kind, std::string_view item_id) {
  if (!item_id.starts_with(kind)) return std::nullopt;
  item_id.remove_prefix(kind.size());
  if (!item_id.starts_with(kSeparator)) return std::nullopt;
  item_id.remove_prefix(1);
  const size_t end = item_id.find(kSeparator);
  if (end == std::string_view::npos) return std::nullopt;
  auto team = slack::TeamId::Parse(item_id.substr(0, end));
  auto channel = slack::ChannelId::Parse(item_id.substr(end + 1));
  if (!team || !channel) return std::nullopt;
  return Place{.team = *std::move(team), .channel = *std::move(channel)};
}

}  // namespace

std::string MessagesOf(const Place& place) {
  return Joined({"message", place.team.text(), place.channel.text()});
}

std::string VersionsOf(const Place& place, const slack::Timestamp& ts) {
  return Joined({"meta", place.team.text(), "versions", place.channel.text(), ts.text()});
}

std::string RowsOfChannel(const Place& place) {
  return Joined({"channel", place.team.text(), place.channel.text()});
}

std::string ChannelIndexOf(const slack::TeamId& team) {
  return Joined({"channelindex", team.text()});
}

std::string ReactionsOf(const Place& place) {
  return Joined({"meta", place.team.text(), "reactions", place.channel.text()});
}

std::string PinsOf(const Place& place) {
  return Joined({"meta", place.team.text(), "pins", place.channel.text()});
}

std::string UserRowsOf(const slack::TeamId& team, std::string_view user) {
  return Joined({"meta", team.text(), "user", user});
}

std::string TeamRowsOf(const slack::TeamId& team) { return Joined({"meta", team.text(), "team"}); }

std::string EmojiRowsOf(const slack::TeamId& team, std::string_view name) {
  return Joined({"meta", team.text(), "emoji", name});
}

std::string PeopleOf(const slack::TeamId& team) { return Joined({"meta", team.text(), "people"}); }

std::string EmojiOf(const slack::TeamId& team) { return Joined({"meta", team.text(), "emoji"}); }

std::string MovesOf(const Place& old_place) {
  return Joined({"meta", old_place.team.text(), "moved", old_place.channel.text()});
}

std::string CoverageOf(const slack::TeamId& team) {
  return Joined({"meta", team.text(), "coverage"});
}

std::string CoverageOf(const Place& place) {
  return Joined({"meta", place.team.text(), "coverage", place.channel.text()});
}

std::string ThreadOf(const slack::TeamId& team, const slack::Timestamp& thread_ts) {
  return Joined({"thread", team.text(), thread_ts.text()});
}

item::Item KeyOf(std::string_view item_id, std::string_view timestamp) {
  return {{"itemId", std::string(item_id)}, {"timestamp", std::string(timestamp)}};
}

std::optional<Place> PlaceOfMessages(std::string_view item_id) {
  return PlaceBehind("message", item_id);
}

std::optional<Place> PlaceOfChannelRow(std::string_view item_id) {
  return PlaceBehind("channel", item_id);
}

}  // namespace tidemark::archive
