#include "apps/archive/read_event.h"

#include <algorithm>

#include "apps/archive/event_view.h"

namespace tidemark::archive {

namespace {

News ReadNothing(const EventView& /*view*/) { return NotKept(); }

struct EventKind {
  std::string_view type;
  News (*read)(const EventView& view);
};

// How each type of event is read. The types at the end are known and left out: only a type that is
// not listed at all is logged as unknown.
constexpr EventKind kEventKinds[] = {
    {"message", ReadMessageEvent},
    {"reaction_added", ReadReaction},
    {"reaction_removed", ReadReaction},
    {"user_change", ReadUserEvent},
    {"user_profile_changed", ReadUserEvent},
    {"user_status_changed", ReadUserEvent},
    {"user_huddle_changed", ReadUserEvent},
    {"team_join", ReadUserEvent},
    {"channel_created", ReadChannelEvent},
    {"channel_rename", ReadChannelEvent},
    {"channel_deleted", ReadChannelEvent},
    {"channel_archive", ReadChannelEvent},
    {"channel_unarchive", ReadChannelEvent},
    {"channel_topic", ReadChannelEvent},
    {"channel_purpose", ReadChannelEvent},
    {"channel_name", ReadChannelEvent},
    {"channel_convert_to_private", ReadChannelEvent},
    {"channel_convert_to_public", ReadChannelEvent},
    {"group_rename", ReadChannelEvent},
    {"group_deleted", ReadChannelEvent},
    {"group_archive", ReadChannelEvent},
    {"group_unarchive", ReadChannelEvent},
    {"channel_id_changed", ReadChannelIdChanged},
    {"pin_added", ReadPin},
    {"pin_removed", ReadPin},
    {"emoji_changed", ReadEmoji},
    {"team_rename", ReadTeamEvent},
    {"team_domain_change", ReadTeamEvent},
    {"member_joined_channel", ReadMembership},
    {"member_left_channel", ReadMembership},
    {"channel_left", ReadMembership},
    {"group_left", ReadMembership},
    {"channel_history_changed", ReadHistoryChanged},
    {"group_history_changed", ReadHistoryChanged},
    {"tokens_revoked", ReadRemoval},
    {"app_uninstalled", ReadRemoval},
    {"app_mention", ReadNothing},
    {"app_home_opened", ReadNothing},
    {"app_requested", ReadNothing},
    {"assistant_thread_context_changed", ReadNothing},
    {"assistant_thread_started", ReadNothing},
    {"call_rejected", ReadNothing},
    {"channel_joined", ReadNothing},
    {"channel_shared", ReadNothing},
    {"channel_unshared", ReadNothing},
    {"dnd_updated", ReadNothing},
    {"dnd_updated_user", ReadNothing},
    {"email_domain_changed", ReadNothing},
    {"file_change", ReadNothing},
    {"file_comment_added", ReadNothing},
    {"file_comment_deleted", ReadNothing},
    {"file_comment_edited", ReadNothing},
    {"file_created", ReadNothing},
    {"file_deleted", ReadNothing},
    {"file_public", ReadNothing},
    {"file_shared", ReadNothing},
    {"file_unshared", ReadNothing},
    {"function_executed", ReadNothing},
    {"grid_migration_finished", ReadNothing},
    {"grid_migration_started", ReadNothing},
    {"group_close", ReadNothing},
    {"group_open", ReadNothing},
    {"im_close", ReadNothing},
    {"im_created", ReadNothing},
    {"im_history_changed", ReadNothing},
    {"im_open", ReadNothing},
    {"invite_requested", ReadNothing},
    {"link_shared", ReadNothing},
    {"message_metadata_deleted", ReadNothing},
    {"message_metadata_posted", ReadNothing},
    {"message_metadata_updated", ReadNothing},
    {"shared_channel_invite_accepted", ReadNothing},
    {"shared_channel_invite_approved", ReadNothing},
    {"shared_channel_invite_declined", ReadNothing},
    {"shared_channel_invite_received", ReadNothing},
    {"shared_channel_invite_requested", ReadNothing},
    {"star_added", ReadNothing},
    {"star_removed", ReadNothing},
    {"subteam_created", ReadNothing},
    {"subteam_members_changed", ReadNothing},
    {"subteam_self_added", ReadNothing},
    {"subteam_self_removed", ReadNothing},
    {"subteam_updated", ReadNothing},
    {"team_access_granted", ReadNothing},
    {"team_access_revoked", ReadNothing},
};

const EventKind* FindEventKind(std::string_view type) {
  const EventKind* const kind =
      std::find_if(std::begin(kEventKinds), std::end(kEventKinds),
                   [&](const EventKind& known) { return known.type == type; });
  return kind == std::end(kEventKinds) ? nullptr : kind;
}

// Some events lack event_ts: then their own ts counts, or the time in the envelope.
std::optional<slack::Timestamp> TimeOf(const slack::EventCallback& callback) {
  if (auto event_ts = ParseTimestamp(callback.event.event_ts)) return event_ts;
  if (auto ts = ParseTimestamp(callback.event.ts)) return ts;
  if (callback.event_time <= 0) return std::nullopt;
  return slack::Timestamp::FromSeconds(callback.event_time);
}

}  // namespace

std::string_view ToString(CoverageKind kind) {
  switch (kind) {
    case CoverageKind::kBegan:
      return "began";
    case CoverageKind::kEnded:
      return "ended";
    case CoverageKind::kLost:
      return "lost";
    case CoverageKind::kImported:
      return "imported";
  }
  return "lost";
}

// The first letter of an id says nothing about a channel (a private one may begin with C), except
// that D is always a direct conversation.
Scope ScopeOf(const slack::ChannelId& channel, std::string_view channel_type) {
  if (channel.text().starts_with('D')) return Scope::kPrivate;
  if (channel_type == "channel") return Scope::kPublic;
  const bool is_direct =
      channel_type == "im" || channel_type == "mpim" || channel_type == "app_home";
  return is_direct ? Scope::kPrivate : Scope::kAsk;
}

News ReadEvent(const slack::EventCallback& callback, const ReadOptions& options) {
  const EventKind* const kind = FindEventKind(callback.event.type);
  if (!kind) return NoNews{.why = NoNews::Why::kUnknownType, .detail = callback.event.type};
  if (kind->read == ReadNothing) return NotKept();
  auto event_ts = TimeOf(callback);
  if (!event_ts) return Incomplete("an event without a time");
  if (callback.document == nullptr) return Incomplete("an event without its body");
  const Json root = callback.document->root();
  const MaybeJson event = root.Find("event");
  if (!event) return Incomplete("a body without an event");
  return kind->read({.callback = callback,
                     .root = root,
                     .event = *event,
                     .event_ts = *std::move(event_ts),
                     .options = options});
}

}  // namespace tidemark::archive
