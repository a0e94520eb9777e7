#include <algorithm>
#include <array>
#include <utility>

#include "apps/archive/event_reading.h"

namespace tidemark::archive {

namespace {

constexpr std::array<std::string_view, 2> kPrefixes = {"channel_", "group_"};
// Told by an event or, most of them, by a message of that subtype, or by both.
constexpr std::array<std::string_view, 7> kChanges = {
    "topic", "purpose", "name", "archive", "unarchive", "convert_to_private", "convert_to_public"};

// A group event is about a private channel, and so is one whose channel_type or channel says so.
bool IsAboutPublic(const EventView& view) {
  const slack::Event& event = view.callback.event;
  if (!event.channel_type.empty()) return event.channel_type == "channel";
  const MaybeJson channel = view.event.Find("channel");
  const bool is_private = IsTrueIn(channel, "is_private") || IsTrueIn(channel, "is_mpim");
  return event.type.starts_with("channel_") && !is_private;
}

ScopedChannelNews NewsOf(const EventView& view, const slack::ChannelId& channel) {
  const bool is_public = IsAboutPublic(view);
  ScopedChannelNews scoped{.news = {.channel = channel,
                                    .event_ts = view.event_ts,
                                    .implies_public = is_public,
                                    .raw_event = RawEvent(view)}};
  scoped.scope = is_public ? Scope::kPublic : ScopeOf(channel, view.callback.event.channel_type);
  return scoped;
}

std::optional<std::string> MaybeTextIn(const Json& json, std::string_view name) {
  const auto text = FindTextIn(json, name);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

// Conversion is believed: it says that the channel was public, when nothing else does.
void ReadConversion(Visibility visibility, ScopedChannelNews* scoped) {
  scoped->news.visibility = visibility;
  scoped->news.was_public = true;
  scoped->news.implies_public = false;
  if (scoped->scope != Scope::kPrivate) scoped->scope = Scope::kPublic;
}

// False when the event lacks what changed.
bool ReadValue(const EventView& view, std::string_view change, ScopedChannelNews* scoped) {
  ChannelNews& news = scoped->news;
  if (change == "topic") return (news.topic = MaybeTextIn(view.event, "topic")).has_value();
  if (change == "purpose") return (news.purpose = MaybeTextIn(view.event, "purpose")).has_value();
  if (change == "name") {
    news.name = MaybeTextIn(view.event, "name");
    return news.name && !news.name->empty();
  }
  if (change == "archive") news.archived = true;
  if (change == "unarchive") news.archived = false;
  if (change == "convert_to_private") ReadConversion(Visibility::kPrivate, scoped);
  if (change == "convert_to_public") ReadConversion(Visibility::kPublic, scoped);
  return true;
}

News ReadCreated(const EventView& view, ScopedChannelNews scoped) {
  const MaybeJson channel = view.event.Find("channel");
  if (IsTrueIn(channel, "is_private")) {
    scoped.scope = Scope::kPrivate;
    return scoped;
  }
  scoped.news.visibility = Visibility::kPublic;
  if (const auto name = FindTextIn(channel, "name")) scoped.news.name = std::string(*name);
  return scoped;
}

News ReadRename(const EventView& view, ScopedChannelNews scoped) {
  const auto name = FindTextIn(view.event.Find("channel"), "name");
  if (!name || name->empty()) return Incomplete("a rename without a name");
  scoped.news.name = std::string(*name);
  return scoped;
}

}  // namespace

std::optional<std::string_view> ChannelChangeOf(std::string_view type_or_subtype) {
  for (const std::string_view prefix : kPrefixes) {
    if (!type_or_subtype.starts_with(prefix)) continue;
    const auto* const change =
        std::find(kChanges.begin(), kChanges.end(), type_or_subtype.substr(prefix.size()));
    if (change != kChanges.end()) return *change;
  }
  return std::nullopt;
}

News ReadChannelChange(const EventView& view, std::string_view change) {
  const auto channel = ParseChannelId(view.callback.event.channel);
  if (!channel) return Incomplete("a channel event without a proper channel");
  ScopedChannelNews scoped = NewsOf(view, *channel);
  if (!ReadValue(view, change, &scoped)) return Incomplete("a channel event without its value");
  return scoped;
}

News ReadChannelEvent(const EventView& view) {
  const std::string& type = view.callback.event.type;
  if (const auto change = ChannelChangeOf(type)) return ReadChannelChange(view, *change);
  const auto channel = ParseChannelId(view.callback.event.channel);
  if (!channel) return Incomplete("a channel event without a proper channel");
  ScopedChannelNews scoped = NewsOf(view, *channel);
  if (type == "channel_created") return ReadCreated(view, std::move(scoped));
  if (type.ends_with("_rename")) return ReadRename(view, std::move(scoped));
  scoped.news.deleted = true;
  return scoped;
}

// Always believed: it makes two ids one, and says nothing else of the channel.
News ReadChannelIdChanged(const EventView& view) {
  const auto channel = ParseChannelId(TextIn(view.event, "new_channel_id"));
  const auto old_channel = ParseChannelId(TextIn(view.event, "old_channel_id"));
  if (!channel || !old_channel) return Incomplete("an id change without both ids");
  return ScopedChannelNews{.news = {.channel = *channel,
                                    .event_ts = view.event_ts,
                                    .moved_from = *old_channel,
                                    .raw_event = RawEvent(view)},
                           .scope = Scope::kPublic};
}

}  // namespace tidemark::archive
