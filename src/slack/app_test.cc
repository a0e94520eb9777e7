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
  EXPECT_EQ(events.Find("bot_events")->Size(), SubscribedEvents().size());
}

// The gate asks three methods and withdraws trust on events; the app must be allowed all of it.
TEST(SlackAppTest, CoversWhatTheGateNeeds) {
  const auto has_event = [](std::string_view name) {
    return std::ranges::find(SubscribedEvents(), name) != SubscribedEvents().end();
  };
  for (const char* event : {"tokens_revoked", "app_uninstalled", "user_change", "channel_deleted",
                            "channel_archive", "channel_id_changed", "message.channels"}) {
    EXPECT_TRUE(has_event(event)) << event;
  }
  const auto has_scope = [](std::string_view name) {
    return std::ranges::find(RequiredScopes(), name, &Scope::name) != RequiredScopes().end();
  };
  for (const char* scope :
       {"team:read", "users:read", "channels:read", "groups:read", "im:read", "mpim:read"}) {
    EXPECT_TRUE(has_scope(scope)) << scope;
  }
}

// A URL with a quote in it must not break out of its string.
TEST(SlackAppTest, QuotesTheUrl) { EXPECT_TRUE(JsonDocument::Parse(AppManifest("https://x\"y"))); }

}  // namespace
}  // namespace tidemark::slack
