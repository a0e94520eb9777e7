#include "slack/entities.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/json_members.h"
#include "slack/ids.h"

namespace tidemark::slack {

namespace {

// The pictures of a person, the most useful size first.
constexpr std::array<std::string_view, 5> kAvatars = {"image_512", "image_192", "image_original",
                                                      "image_72", "image_48"};

std::string AvatarIn(const MaybeJson& profile) {
  for (const std::string_view name : kAvatars) {
    std::string url = TextIn(profile, name);
    if (!url.empty()) return url;
  }
  return "";
}

// Only an answer that says "not private" counts.
bool IsPublic(const Json& channel) {
  const auto is_private = channel.Find("is_private");
  return is_private && is_private->AsBool() == false && !IsTrueIn(channel, "is_im") &&
         !IsTrueIn(channel, "is_mpim");
}

}  // namespace

std::optional<Person> ReadPerson(const Json& user) {
  std::string id = TextIn(user, "id");
  if (!UserId::Parse(id)) return std::nullopt;
  const auto profile = user.Find("profile");
  std::string real_name = TextIn(user, "real_name");
  if (real_name.empty()) real_name = TextIn(profile, "real_name");
  return Person{.id = std::move(id),
                .name = TextIn(user, "name"),
                .real_name = std::move(real_name),
                .display_name = TextIn(profile, "display_name"),
                .avatar = AvatarIn(profile),
                .is_bot = IsTrueIn(user, "is_bot"),
                .is_deactivated = IsTrueIn(user, "deleted")};
}

std::optional<Conversation> ReadConversation(const Json& channel) {
  std::string id = TextIn(channel, "id");
  if (!ChannelId::Parse(id)) return std::nullopt;
  return Conversation{.id = std::move(id),
                      .name = TextIn(channel, "name"),
                      .topic = TextIn(channel.Find("topic"), "value"),
                      .purpose = TextIn(channel.Find("purpose"), "value"),
                      .is_public = IsPublic(channel),
                      .is_archived = IsTrueIn(channel, "is_archived")};
}

}  // namespace tidemark::slack
