#include "slack/app.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"

namespace tidemark::slack {

namespace {

constexpr Scope kScopes[] = {
    {"app_mentions:read", "the event app_mention"},
    {"channels:history", "messages in public channels the app is in"},
    {"channels:read", "conversations.list, conversations.info and the events of public channels"},
    {"emoji:read", "the event emoji_changed"},
    {"files:read", "files.info and the events of files"},
    {"groups:history", "messages in private channels the app is in"},
    {"groups:read", "conversations.list, conversations.info and the events of private channels"},
    {"pins:read", "the events of pins"},
    {"reactions:read", "the events of reactions"},
    {"team:read", "team.info and the name of the team"},
    {"users:read", "users.list, users.info, and users who are deactivated"},
};

constexpr std::string_view kEvents[] = {
    "app_mention",
    "app_uninstalled",
    "channel_archive",
    "channel_created",
    "channel_deleted",
    "channel_id_changed",
    "channel_left",
    "channel_rename",
    "channel_unarchive",
    "emoji_changed",
    "file_shared",
    "group_archive",
    "group_deleted",
    "group_left",
    "group_rename",
    "group_unarchive",
    "member_joined_channel",
    "member_left_channel",
    "message.channels",
    "message.groups",
    "pin_added",
    "pin_removed",
    "reaction_added",
    "reaction_removed",
    "team_domain_change",
    "team_join",
    "team_rename",
    "tokens_revoked",
    "user_change",
};

std::string Quoted(std::string_view text) {
  std::string quoted;
  JsonWriter(&quoted).String(text);
  return quoted;
}

template <typename Range, typename Name>
std::string Lines(const Range& range, Name name, std::string_view indent) {
  std::string lines;
  for (const auto& entry : range) {
    lines += fmt::format("{}{}{}", lines.empty() ? "" : ",\n", indent, Quoted(name(entry)));
  }
  return lines;
}

}  // namespace

std::span<const Scope> RequiredScopes() { return kScopes; }

std::string AppManifest(std::string_view url) {
  const std::string scopes = Lines(
      kScopes, [](const Scope& scope) { return scope.name; }, "        ");
  const std::string events = Lines(
      kEvents, [](std::string_view event) { return event; }, "        ");
  return fmt::format(R"({{
  "display_information": {{
    "name": "Tidemark",
    "description": "Keeps what was said, once."
  }},
  "features": {{
    "bot_user": {{ "display_name": "tidemark", "always_online": true }}
  }},
  "oauth_config": {{
    "scopes": {{
      "bot": [
{}
      ]
    }}
  }},
  "settings": {{
    "event_subscriptions": {{
      "request_url": {},
      "bot_events": [
{}
      ]
    }},
    "org_deploy_enabled": false,
    "socket_mode_enabled": false,
    "token_rotation_enabled": false
  }}
}}
)",
                     scopes, Quoted(fmt::format("{}/slack/events", url)), events);
}

}  // namespace tidemark::slack
