#include <algorithm>
#include <array>
#include <utility>

#include "apps/archive/event_view.h"

namespace tidemark::archive {

namespace {

constexpr std::array<std::string_view, 2> kPrefixes = {"channel_", "group_"};
// Slack tells of these by an event, by a message of the same subtype, or by both.
constexpr std::array<std::string_view, 7> kChannelChanges = {
    "topic", "purpose", "name", "archive", "unarchive", "convert_to_private", "convert_to_public"};

// channel_type decides when it is there, or else the channel object in the event. The name of the
// event decides nothing: a private channel may have an id that begins with C, and then Slack may
// name its events channel_*. Once taken for public, a channel would be kept for ever.
bool IsAboutPublic(const EventView& view) {
  const slack::Event& event = view.callback.event;
  if (!event.channel_type.empty()) return event.channel_type == "channel";
  const MaybeJson channel = view.event.Find("channel");
  const MaybeJson is_private = FindIn(channel, "is_private");
  return is_private && is_private->AsBool() == false && !IsTrueIn(channel, "is_mpim");
}

ScopedChannelNews ChannelNewsOf(const EventView& view, const slack::ChannelId& channel) {
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

// A conversion proves that the channel was public, before or after it, even if no row says so: its
// older messages may be kept.
void ReadConversion(Visibility visibility, ScopedChannelNews* scoped) {
  scoped->news.visibility = visibility;
  scoped->news.was_public = true;
  scoped->news.implies_public = false;
  if (scoped->scope != Scope::kPrivate) scoped->scope = Scope::kPublic;
}

// Reads the new value into the news. False when the event lacks it.
bool ReadChangedValue(const EventView& view, std::string_view change, ScopedChannelNews* scoped) {
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
  if (scoped.scope == Scope::kPublic) scoped.news.visibility = Visibility::kPublic;
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
    const auto* const change = std::find(kChannelChanges.begin(), kChannelChanges.end(),
                                         type_or_subtype.substr(prefix.size()));
    if (change != kChannelChanges.end()) return *change;
  }
  return std::nullopt;
}

News ReadChannelChange(const EventView& view, std::string_view change) {
  const auto channel = ParseChannelId(view.callback.event.channel);
  if (!channel) return Incomplete("a channel event without a valid channel");
  ScopedChannelNews scoped = ChannelNewsOf(view, *channel);
  if (!ReadChangedValue(view, change, &scoped))
    return Incomplete("a channel event without its value");
  return scoped;
}

News ReadChannelEvent(const EventView& view) {
  const std::string& type = view.callback.event.type;
  if (const auto change = ChannelChangeOf(type)) return ReadChannelChange(view, *change);
  const auto channel = ParseChannelId(view.callback.event.channel);
  if (!channel) return Incomplete("a channel event without a valid channel");
  ScopedChannelNews scoped = ChannelNewsOf(view, *channel);
  if (type == "channel_created") return ReadCreated(view, std::move(scoped));
  if (type.ends_with("_rename")) return ReadRename(view, std::move(scoped));
  scoped.news.deleted = true;
  return scoped;
}

// Stored for any channel: the event only says that two ids are one channel. A row without a
// visibility does not make the channel public, so no message is kept because of it.
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

// A channel that is not public is kept only if the table says that it was public.
std::optional<ScopedChannelNews> NewsOf(const slack::Conversation& conversation,
                                        const slack::Timestamp& at) {
  const auto channel = ParseChannelId(conversation.id);
  if (!channel) return std::nullopt;
  ScopedChannelNews scoped{
      .news = {.channel = *channel,
               .event_ts = at,
               .visibility = conversation.is_public ? Visibility::kPublic : Visibility::kPrivate,
               .archived = conversation.is_archived,
               .topic = conversation.topic,
               .purpose = conversation.purpose,
               .is_listing = true},
      .scope = conversation.is_public ? Scope::kPublic : Scope::kAsk};
  if (!conversation.name.empty()) scoped.news.name = conversation.name;
  return scoped;
}

}  // namespace tidemark::archive
