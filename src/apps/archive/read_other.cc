#include <utility>

#include "apps/archive/event_view.h"
#include "slack/ids.h"

namespace tidemark::archive {

namespace {

// The name of a reaction or an emoji is part of a key, and keys have a limit.
constexpr size_t kMaxNameBytes = 255;

bool IsUserId(std::string_view text) { return slack::UserId::Parse(text).has_value(); }
bool IsName(std::string_view text) { return !text.empty() && text.size() <= kMaxNameBytes; }

// The installation that Slack sends the event for. Its user_id is the bot.
MaybeJson Authorization(const EventView& view) {
  const MaybeJson authorizations = view.root.Find("authorizations");
  if (!authorizations) return std::nullopt;
  for (const Json authorization : authorizations->Elements()) return authorization;
  return std::nullopt;
}

bool IsAboutTheBot(const EventView& view) {
  const MaybeJson authorization = Authorization(view);
  const std::string bot = TextIn(authorization, "user_id");
  return IsTrueIn(authorization, "is_bot") && !bot.empty() && bot == view.callback.event.user;
}

void AddEmoji(std::string_view name, std::string_view value, bool removed, EmojiNews* news) {
  if (!IsName(name)) return;
  news->changes.push_back(
      {.name = std::string(name), .value = std::string(value), .removed = removed});
}

}  // namespace

News ReadReaction(const EventView& view) {
  const MaybeJson item = view.event.Find("item");
  if (FindTextIn(item, "type").value_or("message") != "message") return NotKept();
  const auto channel = ParseChannelId(TextIn(item, "channel"));
  const auto ts = TimestampIn(item, "ts");
  std::string reaction = TextIn(view.event, "reaction");
  std::string user = TextIn(view.event, "user");
  if (!channel || !ts || !IsName(reaction) || !IsUserId(user)) {
    return Incomplete("a reaction without a valid channel, ts, name or user");
  }
  return ReactionNews{.channel = *channel,
                      .ts = *ts,
                      .reaction = std::move(reaction),
                      .user = std::move(user),
                      .removed = view.callback.event.type == "reaction_removed",
                      .event_ts = view.event_ts};
}

News ReadPin(const EventView& view) {
  const MaybeJson item = view.event.Find("item");
  if (FindTextIn(item, "type").value_or("message") != "message") return NotKept();
  const auto channel = ParseChannelId(view.callback.event.channel);
  const auto ts = TimestampIn(FindIn(item, "message"), "ts");
  if (!channel || !ts) return Incomplete("a pin without a valid channel or message");
  return PinNews{.channel = *channel,
                 .ts = *ts,
                 .user = TextIn(view.event, "user"),
                 .removed = view.callback.event.type == "pin_removed",
                 .event_ts = view.event_ts};
}

UserNews NewsOf(slack::Person person, const slack::Timestamp& at) {
  return {.user = std::move(person.id),
          .name = std::move(person.name),
          .real_name = std::move(person.real_name),
          .display_name = std::move(person.display_name),
          .avatar = std::move(person.avatar),
          .is_bot = person.is_bot,
          .deactivated = person.is_deactivated,
          .event_ts = at};
}

std::optional<UserNews> ReadUser(const Json& user, const slack::Timestamp& event_ts) {
  auto person = slack::ReadPerson(user);
  if (!person) return std::nullopt;
  return NewsOf(*std::move(person), event_ts);
}

News ReadUserEvent(const EventView& view) {
  const MaybeJson user = view.event.Find("user");
  auto news = user ? ReadUser(*user, view.event_ts) : std::nullopt;
  if (!news) return Incomplete("a user event without a valid user id");
  return *std::move(news);
}

News ReadTeamEvent(const EventView& view) {
  TeamNews news{.name = TextIn(view.event, "name"),
                .domain = TextIn(view.event, "domain"),
                .event_ts = view.event_ts};
  if (news.name.empty() && news.domain.empty()) return Incomplete("a team event without its value");
  return news;
}

News ReadEmoji(const EventView& view) {
  EmojiNews news{.changes = {}, .event_ts = view.event_ts};
  const std::string& subtype = view.callback.event.subtype;
  const std::string value = TextIn(view.event, "value");
  if (subtype == "add") AddEmoji(TextIn(view.event, "name"), value, false, &news);
  if (subtype == "rename") {
    AddEmoji(TextIn(view.event, "old_name"), "", true, &news);
    AddEmoji(TextIn(view.event, "new_name"), value, false, &news);
  }
  const MaybeJson names = view.event.Find("names");
  if (subtype == "remove" && names) {
    for (const Json name : names->Elements())
      AddEmoji(name.AsString().value_or(""), "", true, &news);
  }
  if (news.changes.empty()) return Incomplete("an emoji event without a name");
  return news;
}

// Slack sends a channel's events only while the bot is a member of it. So its own joining and
// leaving are where coverage of the channel begins and ends; other people's are left out.
News ReadMembership(const EventView& view) {
  const slack::Event& event = view.callback.event;
  const bool is_member_event = event.type.starts_with("member_");
  if (is_member_event && !IsAboutTheBot(view)) return NotKept();
  const auto channel = ParseChannelId(event.channel);
  if (!channel) return Incomplete("a membership event without a valid channel");
  const bool joined = event.type == "member_joined_channel";
  return CoverageNews{.channel = *channel,
                      .kind = joined ? CoverageKind::kBegan : CoverageKind::kEnded,
                      .from = view.event_ts,
                      .reason = joined ? "the bot joined" : "the bot left",
                      .scope = ScopeOf(*channel, event.channel_type)};
}

// Many messages up to `latest` were changed or deleted at once, and Slack does not say which: the
// events of that moment are missing.
News ReadHistoryChanged(const EventView& view) {
  const slack::Event& event = view.callback.event;
  const auto channel = ParseChannelId(event.channel);
  const std::string latest = TextIn(view.event, "latest");
  return CoverageNews{.channel = channel,
                      .kind = CoverageKind::kLost,
                      .from = view.event_ts,
                      .to = slack::Timestamp::FromSeconds(view.event_ts.seconds() + 1),
                      .reason = "Slack changed many messages at once" +
                                (latest.empty() ? std::string() : ", up to " + latest),
                      .scope = channel ? ScopeOf(*channel, event.channel_type) : Scope::kPublic};
}

// Events stop when the app is removed or the bot's token is revoked. tokens_revoked may list users'
// tokens only: those do not matter here.
News ReadRemoval(const EventView& view) {
  const MaybeJson tokens = view.event.Find("tokens");
  const MaybeJson of_bot = FindIn(tokens, "bot");
  if (tokens && (!of_bot || of_bot->Size() == 0)) return NotKept();
  return CoverageNews{.kind = CoverageKind::kEnded,
                      .from = view.event_ts,
                      .reason = view.callback.event.type == "app_uninstalled"
                                    ? "the app was removed"
                                    : "the bot's token was revoked"};
}

}  // namespace tidemark::archive
