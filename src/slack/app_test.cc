#include "slack/app.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"

namespace tidemark::slack {
namespace {

std::set<std::string> TextsIn(Json array) {
  std::set<std::string> texts;
  for (Json element : array.Elements()) texts.emplace(element.AsString().value());
  return texts;
}

TEST(SlackAppTest, ManifestAsksForExactlyTheScopesThatAreUsed) {
  const auto document = JsonDocument::Parse(AppManifest("https://tide.example.com"));
  ASSERT_TRUE(document) << document.error().message;
  const Json bot = *document->root().Find("oauth_config")->Find("scopes")->Find("bot");
  std::set<std::string> required;
  for (const Scope& scope : RequiredScopes()) required.emplace(scope.name);
  EXPECT_EQ(TextsIn(bot), required);
  EXPECT_EQ(bot.Size(), required.size());
}

TEST(SlackAppTest, ManifestSubscribesToTheEventsAtTheServersUrl) {
  const auto document = JsonDocument::Parse(AppManifest("https://tide.example.com"));
  ASSERT_TRUE(document);
  const Json events = *document->root().Find("settings")->Find("event_subscriptions");
  EXPECT_EQ(events.Find("request_url")->AsString(), "https://tide.example.com/slack/events");
  const Json names = *events.Find("bot_events");
  EXPECT_EQ(TextsIn(names).size(), names.Size()) << "an event is there twice";
}

// The gate asks three methods and withdraws trust on events; the app must be allowed all of it.
TEST(SlackAppTest, CoversWhatTheGateNeeds) {
  const auto document = JsonDocument::Parse(AppManifest("https://tide.example.com"));
  ASSERT_TRUE(document);
  const Json subscriptions = *document->root().Find("settings")->Find("event_subscriptions");
  const std::set<std::string> events = TextsIn(*subscriptions.Find("bot_events"));
  for (const char* event : {"tokens_revoked", "app_uninstalled", "user_change", "channel_deleted",
                            "channel_archive", "channel_id_changed", "message.channels"}) {
    EXPECT_TRUE(events.contains(event)) << event;
  }
  const auto has_scope = [](std::string_view name) {
    return std::ranges::find(RequiredScopes(), name, &Scope::name) != RequiredScopes().end();
  };
  for (const char* scope : {"team:read", "users:read", "channels:read", "groups:read"}) {
    EXPECT_TRUE(has_scope(scope)) << scope;
  }
}

// Reactions, pins, emoji, names and the bot's own memberships are kept; direct messages are not.
// Review: A15
TEST(SlackAppTest, CoversWhatTheArchiveKeepsAndNothingElse) {
  const std::string manifest = AppManifest("https://tide.example.com");
  for (const char* name : {"reaction_added", "reaction_removed", "pin_added", "pin_removed",
                           "emoji_changed", "team_rename", "member_joined_channel",
                           "member_left_channel", "reactions:read", "pins:read", "emoji:read"}) {
    EXPECT_NE(manifest.find('"' + std::string(name) + '"'), std::string::npos) << name;
  }
  for (const char* name : {"im:", "mpim:", "message.im", "message.mpim"}) {
    EXPECT_EQ(manifest.find(name), std::string::npos) << name;
  }
}

// A URL with a quote in it must not break out of its string.
TEST(SlackAppTest, QuotesTheUrl) { EXPECT_TRUE(JsonDocument::Parse(AppManifest("https://x\"y"))); }

}  // namespace
}  // namespace tidemark::slack
