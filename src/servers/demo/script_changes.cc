// The scenes in which channels and people come, change and go.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "servers/demo/script.h"

namespace tidemark::demo {
namespace {

constexpr size_t kMostArchived = 20;
// How far the number of channels may differ from the number at the start.
constexpr size_t kChannelSlack = 8;
constexpr size_t kMostEmoji = 50;
constexpr uint64_t kDeactivatedPercent = 20;

}  // namespace

void Script::EmitNotice(const Channel& channel, std::string_view subtype, const User& user,
                        const std::string& text, const WriteFields& more, Changes changes) {
  const std::string ts = stage_.Tick();
  Emit(
      subtype,
      [&](JsonWriter* writer) {
        PutText(writer, "type", "message");
        PutText(writer, "subtype", subtype);
        PutText(writer, "ts", ts);
        PutText(writer, "user", user.id);
        PutText(writer, "text", text);
        if (more) more(writer);
        PutText(writer, "channel", channel.id);
        PutText(writer, "event_ts", ts);
        PutText(writer, "channel_type", ToString(channel.kind));
      },
      std::move(changes));
}

void Script::EmitMembership(std::string_view type, const Channel& channel, std::string_view user) {
  const std::string ts = stage_.Tick();
  Emit(type, [&](JsonWriter* writer) {
    PutText(writer, "type", type);
    PutText(writer, "user", user);
    PutText(writer, "channel", channel.id);
    PutText(writer, "channel_type", channel.id.substr(0, 1));
    PutText(writer, "team", team_.id);
    PutText(writer, "event_ts", ts);
  });
}

void Script::Join() {
  const Channel& channel = stage_.PickPublicChannel();
  const User& user = stage_.PickActivePerson();
  const std::string inviter = stage_.Chance(4) ? stage_.PickActivePerson().id : "";
  EmitNotice(channel, "channel_join", user, fmt::format("<@{}> has joined the channel", user.id),
             [&](JsonWriter* writer) {
               if (!inviter.empty()) PutText(writer, "inviter", inviter);
             });
  EmitMembership("member_joined_channel", channel, user.id);
}

void Script::Leave() {
  const Channel& channel = stage_.PickPublicChannel();
  const User& user = stage_.PickActivePerson();
  EmitNotice(channel, "channel_leave", user, fmt::format("<@{}> has left the channel", user.id),
             nullptr);
  EmitMembership("member_left_channel", channel, user.id);
}

void Script::SetTopic() {
  Channel& channel = stage_.PickPublicChannel();
  const User& user = stage_.PickActivePerson();
  channel.topic = PickTopic(stage_.random());
  EmitNotice(channel, "channel_topic", user,
             fmt::format("<@{}> set the channel topic: {}", user.id, channel.topic),
             [&](JsonWriter* writer) { PutText(writer, "topic", channel.topic); },
             {.channels = {channel}});
}

void Script::SetPurpose() {
  Channel& channel = stage_.PickPublicChannel();
  const User& user = stage_.PickActivePerson();
  channel.purpose = TextOf(ComposeSentence(stage_.random()));
  EmitNotice(channel, "channel_purpose", user,
             fmt::format("<@{}> set the channel purpose: {}", user.id, channel.purpose),
             [&](JsonWriter* writer) { PutText(writer, "purpose", channel.purpose); },
             {.channels = {channel}});
}

void Script::Rename() {
  Channel* channel =
      stage_.PickQuietChannel([](const Channel& c) { return c.kind == ChannelKind::kPublic; });
  if (channel == nullptr) return Post();
  const User& user = stage_.PickActivePerson();
  const std::string old_name = channel->name;
  channel->name = fmt::format("{}-{}", old_name.substr(0, old_name.rfind('-')), ++created_ + 500);
  const std::string ts = stage_.Tick();
  Emit("channel_rename",
       [&](JsonWriter* writer) {
         PutText(writer, "type", "channel_rename");
         writer->Key("channel");
         writer->BeginObject();
         PutText(writer, "id", channel->id);
         PutBool(writer, "is_channel", true);
         PutBool(writer, "is_mpim", false);
         PutText(writer, "name", channel->name);
         PutText(writer, "name_normalized", channel->name);
         PutInt(writer, "created", channel->created);
         writer->EndObject();
         PutText(writer, "event_ts", ts);
       },
       {.channels = {*channel}});
  EmitNotice(*channel, "channel_name", user,
             fmt::format("<@{}> has renamed the channel from \"{}\" to \"{}\"", user.id, old_name,
                         channel->name),
             [&](JsonWriter* writer) {
               PutText(writer, "old_name", old_name);
               PutText(writer, "name", channel->name);
             });
}

void Script::Create() {
  if (stage_.active_channels() > target_channels_ + kChannelSlack) return Archive();
  const std::string ts = stage_.Tick();
  const Channel& channel = stage_.AddChannel({.id = MakeId('C', stage_.random()),
                                              .name = fmt::format("project-{}", ++created_ + 500),
                                              .creator = stage_.PickActivePerson().id,
                                              .created = stage_.now()});
  EmitCreated(channel, ts);
  // The bot joins. Otherwise it would get no events of the channel.
  EmitMembership("member_joined_channel", channel, bot_user_);
}

void Script::EmitCreated(const Channel& channel, const std::string& ts) {
  announced_.insert(channel.id);
  Emit("channel_created",
       [&](JsonWriter* writer) {
         PutText(writer, "type", "channel_created");
         writer->Key("channel");
         WriteChannel(writer, channel, surroundings_);
         PutText(writer, "event_ts", ts);
       },
       {.channels = {channel}});
}

void Script::Archive() {
  if (stage_.active_channels() + kChannelSlack < target_channels_) return Create();
  if (stage_.archived_channels() >= kMostArchived) return Remove();
  Channel* channel = stage_.PickQuietChannel([](const Channel&) { return true; });
  if (channel == nullptr) return Post();
  const bool is_public = channel->kind == ChannelKind::kPublic;
  const User& user = stage_.PickActivePerson();
  stage_.Archive(channel);
  EmitNotice(*channel, is_public ? "channel_archive" : "group_archive", user,
             fmt::format("<@{}> archived the channel", user.id), nullptr, {.channels = {*channel}});
  EmitOfChannel(is_public ? "channel_archive" : "group_archive", *channel, user);
}

void Script::EmitOfChannel(std::string_view type, const Channel& channel, const User& user) {
  const std::string ts = stage_.Tick();
  Emit(type, [&](JsonWriter* writer) {
    PutText(writer, "type", type);
    PutText(writer, "channel", channel.id);
    PutText(writer, "user", user.id);
    if (type.ends_with("_archive")) PutInt(writer, "is_moved", 0);
    PutText(writer, "event_ts", ts);
  });
}

void Script::Unarchive() {
  if (stage_.active_channels() > target_channels_ + kChannelSlack) return Archive();
  const Channel* channel = stage_.Unarchive();
  if (channel == nullptr) return Archive();
  const User& user = stage_.PickActivePerson();
  const std::string type =
      channel->kind == ChannelKind::kPublic ? "channel_unarchive" : "group_unarchive";
  EmitNotice(*channel, type, user, fmt::format("<@{}> un-archived the channel", user.id), nullptr,
             {.channels = {*channel}});
  EmitOfChannel(type, *channel, user);
}

void Script::Remove() {
  const std::optional<Channel> gone = stage_.RemoveArchived();
  if (!gone) return Archive();
  const std::string type = gone->kind == ChannelKind::kPublic ? "channel_deleted" : "group_deleted";
  const User& user = stage_.PickActivePerson();
  stage_.Tick();
  // Slack gives no event_ts with it: receivers fall back to event_time.
  Emit(type,
       [&](JsonWriter* writer) {
         PutText(writer, "type", type);
         PutText(writer, "channel", gone->id);
         PutText(writer, "actor_id", user.id);
       },
       {.removed_channels = {gone->id}});
}

void Script::ChangeId() {
  // Slack does so when a private channel is shared. Tests do it to public ones too, which have more
  // that is kept.
  const bool is_any = options_.mix == Mix::kEventful;
  Channel* channel = stage_.PickQuietChannel(
      [&](const Channel& c) { return is_any || c.kind == ChannelKind::kPrivate; });
  if (channel == nullptr) return Post();
  const std::string old_id = channel->id;
  stage_.ChangeId(channel, MakeId('C', stage_.random()));
  const std::string ts = stage_.Tick();
  Emit("channel_id_changed",
       [&](JsonWriter* writer) {
         PutText(writer, "type", "channel_id_changed");
         PutText(writer, "old_channel_id", old_id);
         PutText(writer, "new_channel_id", channel->id);
         PutText(writer, "event_ts", ts);
       },
       {.channels = {*channel}, .removed_channels = {old_id}});
}

// Slack has no separate event for this. The channel keeps its id.
void Script::ConvertToPrivate() {
  Channel* channel =
      stage_.PickQuietChannel([](const Channel& c) { return c.kind == ChannelKind::kPublic; });
  if (channel == nullptr) return Post();
  const User& user = stage_.PickActivePerson();
  channel->kind = ChannelKind::kPrivate;
  EmitNotice(*channel, "channel_convert_to_private", user, "made this channel *private*", nullptr,
             {.channels = {*channel}});
}

void Script::ConvertToPublic() {
  Channel* channel =
      stage_.PickQuietChannel([](const Channel& c) { return c.kind == ChannelKind::kPrivate; });
  if (channel == nullptr) return Post();
  const User& user = stage_.PickActivePerson();
  channel->kind = ChannelKind::kPublic;
  EmitNotice(*channel, "channel_convert_to_public", user, "made this channel *public*", nullptr,
             {.channels = {*channel}});
}

// Somebody takes the bot out of a channel, and then back in.
void Script::RemoveBot() {
  const Channel* channel =
      stage_.PickQuietChannel([](const Channel& c) { return c.kind == ChannelKind::kPublic; });
  if (channel == nullptr) return Post();
  EmitMembership("member_left_channel", *channel, bot_user_);
  EmitMembership("member_joined_channel", *channel, bot_user_);
}

// Somebody removes the app, and installs it again at once.
void Script::Uninstall() {
  constexpr uint64_t kSeldom = 20;
  if (!stage_.Chance(kSeldom)) return Post();
  const std::string ts = stage_.Tick();
  Emit("app_uninstalled", [&](JsonWriter* writer) {
    PutText(writer, "type", "app_uninstalled");
    PutText(writer, "event_ts", ts);
  });
}

void Script::EmitUser(const User& user) {
  const std::string ts = stage_.Tick();
  Emit("user_change",
       [&](JsonWriter* writer) {
         PutText(writer, "type", "user_change");
         writer->Key("user");
         WriteUser(writer, user, surroundings_);
         PutInt(writer, "cache_ts", stage_.now());
         PutText(writer, "event_ts", ts);
       },
       {.users = {user}});
}

void Script::ChangeStatus() {
  User& user = stage_.PickActivePerson();
  const StatusLine status = PickStatus(stage_.random());
  user.status_emoji = status.emoji;
  user.status_text = status.text;
  user.updated = stage_.now();
  EmitUser(user);
}

// People leave. When many have left, some come back, so that there are always active people.
void Script::Deactivate() {
  const bool comes_back = stage_.deactivated_percent() >= kDeactivatedPercent;
  User& user = comes_back ? *stage_.PickDeactivatedPerson() : stage_.PickSomebodyToLeave();
  user.deactivated = !comes_back;
  user.updated = stage_.now();
  EmitUser(user);
}

void Script::ChangeEmoji() {
  const uint64_t draw = emoji_.size() >= kMostEmoji ? 1 : stage_.random().Below(4);
  const std::string ts = stage_.Tick();
  const std::string fresh = fmt::format("tide_{}", events_);
  Emit("emoji_changed", [&](JsonWriter* writer) {
    PutText(writer, "type", "emoji_changed");
    if (draw == 1 && !emoji_.empty()) {
      PutText(writer, "subtype", "remove");
      writer->Key("names");
      writer->BeginArray();
      writer->String(emoji_.front());
      writer->EndArray();
      emoji_.erase(emoji_.begin());
    } else if (draw == 2 && !emoji_.empty()) {
      PutText(writer, "subtype", "rename");
      PutText(writer, "old_name", std::exchange(emoji_.back(), fresh));
      PutText(writer, "new_name", fresh);
      PutText(writer, "value", "https://emoji.harbour.example/renamed.png");
    } else {
      PutText(writer, "subtype", "add");
      PutText(writer, "name", fresh);
      PutText(writer, "value", fmt::format("https://emoji.harbour.example/{}.png", fresh));
      emoji_.push_back(fresh);
    }
    PutText(writer, "event_ts", ts);
  });
}

}  // namespace tidemark::demo
