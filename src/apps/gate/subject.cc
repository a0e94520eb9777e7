#include "apps/gate/subject.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "apps/gate/question.h"

namespace tidemark::gate {

using slack::EntityKind;

namespace {

constexpr std::array<std::string_view, 3> kEndOfTeam = {"tokens_revoked", "app_uninstalled",
                                                        "team_access_revoked"};
constexpr std::array<std::string_view, 7> kEndOfChannel = {
    "channel_deleted", "channel_archive", "channel_left", "channel_id_changed",
    "group_deleted",   "group_archive",   "group_left"};
// Slackbot, and the placeholder for authors whose accounts were removed. users.info does not find
// them.
constexpr std::array<std::string_view, 2> kNoRealUser = {"USLACKBOT", "UREVOKEDU"};

template <size_t n>
bool Contains(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Slack reports some changes twice: channel_archive is an event and also the subtype of a message.
std::string_view KindOf(const slack::Event& event) {
  return event.type == "message" && !event.subtype.empty() ? event.subtype : event.type;
}

// Slack does not show us the people of another organisation that shares a channel with us. In such
// a channel a person is looked up only if the event says that they are of our team; anybody else
// counts as existing when the channel does.
bool MayBeOfAnotherOrganisation(const slack::EventCallback& callback) {
  return callback.is_ext_shared_channel && callback.event.user_team != callback.team_id;
}

// Slack names the bot, and not its user, as who made an edit with chat.update. users.info does not
// find bots.
bool IsBot(const std::string& id) { return id.starts_with('B'); }

bool NamesUser(const slack::EventCallback& callback) {
  const slack::Event& event = callback.event;
  return !event.user.empty() && !event.user_deleted && !Contains(kNoRealUser, event.user) &&
         !MayBeOfAnotherOrganisation(callback);
}

bool NamesChannel(const slack::Event& event) {
  return !event.channel.empty() && !Contains(kEndOfChannel, KindOf(event));
}

Result<Subject> ParseSubject(const slack::EventCallback& callback) {
  const slack::Event& event = callback.event;
  Subject subject{.team = TRY(slack::TeamId::Parse(callback.team_id))};
  // The format is checked also for ids that are not looked up.
  if (!event.user.empty() && !IsBot(event.user)) {
    slack::UserId user = TRY(slack::UserId::Parse(event.user));
    if (NamesUser(callback)) subject.user = std::move(user);
  }
  if (!event.channel.empty()) {
    slack::ChannelId channel = TRY(slack::ChannelId::Parse(event.channel));
    if (NamesChannel(event)) subject.channel = std::move(channel);
  }
  return subject;
}

}  // namespace

std::variant<Subject, Verdict> SubjectOf(const slack::EventCallback& callback) {
  if (callback.team_id.empty()) return Deny(Reason::kNoIds, "the event names no team");
  Result<Subject> subject = ParseSubject(callback);
  if (!subject) return Deny(Reason::kBadId, subject.error().message);
  // The token is revoked already, so Slack cannot be asked. The signature must be enough.
  if (Contains(kEndOfTeam, callback.event.type)) {
    return Verdict{Decision::kAllow, Reason::kNothingToVerify};
  }
  return *std::move(subject);
}

std::vector<slack::Lookup> EndedBy(const slack::EventCallback& callback) {
  const slack::Event& event = callback.event;
  std::vector<slack::Lookup> ended;
  if (Contains(kEndOfTeam, event.type)) ended.push_back({EntityKind::kTeam, callback.team_id});
  if (event.user_deleted) ended.push_back({EntityKind::kUser, event.user});
  if (Contains(kEndOfChannel, KindOf(event))) {
    ended.push_back({EntityKind::kChannel, event.channel});
    ended.push_back({EntityKind::kChannel, event.old_channel});
  }
  std::erase_if(ended, [](const slack::Lookup& one) { return !VerifyId(one); });
  return ended;
}

}  // namespace tidemark::gate
