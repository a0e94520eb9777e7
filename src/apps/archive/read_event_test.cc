#include "apps/archive/read_event.h"

#include <gtest/gtest.h>

namespace tidemark::archive {
namespace {

JsonDocument Parse(std::string_view text) { return JsonDocument::Parse(text).value(); }

// An export shows messages as they stand, without an event.
TEST(ReadMessageTest, OfAnExportHasTheTimeOfItsBody) {
  const JsonDocument plain = Parse(R"({"ts":"1620000000.000200","text":"a"})");
  const auto observation = ReadMessage(plain.root(), std::nullopt, {.raw_events = true});
  ASSERT_TRUE(observation.has_value());
  EXPECT_EQ(observation->body.version, observation->ts);
  EXPECT_EQ(observation->body.event_ts, observation->ts);
  EXPECT_EQ(observation->body.raw_event, R"({"ts":"1620000000.000200","text":"a"})");
  const JsonDocument edited = Parse(
      R"({"ts":"1620000000.000200","text":"a","edited":{"user":"U1X","ts":"1620000009.000000"}})");
  const auto later = ReadMessage(edited.root(), std::nullopt, {.raw_events = false});
  EXPECT_EQ(later->body.version.text(), "1620000009.000000");
  EXPECT_EQ(later->body.event_ts, later->body.version);
  EXPECT_EQ(later->body.edited_by, "U1X");
  EXPECT_EQ(later->body.raw_event, "");
}

TEST(ReadMessageTest, OfOldExportsHasASingleFile) {
  const JsonDocument json = Parse(R"({"ts":"1620000000.000200","file":{"id":"F1","name":"a"}})");
  const auto observation = ReadMessage(json.root(), std::nullopt, {});
  ASSERT_EQ(observation->traits.files.size(), 1U);
  EXPECT_EQ(observation->traits.files[0].name, "a");
}

// The first has no id, and the second has no body.
TEST(ReadMessageTest, NeedsATimeAndRefusesTombstones) {
  for (const char* text :
       {R"({})", R"({"ts":1620000000.0002})", R"({"ts":"1620000000"})", R"("text")",
        R"({"ts":"1620000000.000200","subtype":"tombstone","text":"This message was deleted."})"}) {
    EXPECT_FALSE(ReadMessage(Parse(text).root(), std::nullopt, {}).has_value()) << text;
  }
}

// Fields of another kind than expected count as missing.
TEST(ReadMessageTest, IgnoresFieldsOfAnotherType) {
  const JsonDocument json =
      Parse(R"({"ts":"1620000000.000200","text":5,"user":{},"thread_ts":"soon","files":{"id":1},)"
            R"("edited":[],"bot_id":null})");
  const auto observation = ReadMessage(json.root(), std::nullopt, {});
  ASSERT_TRUE(observation.has_value());
  EXPECT_EQ(observation->traits, Traits());
  EXPECT_EQ(observation->body.text, std::nullopt);
}

// Fields that the user lacks are taken from the profile, with any of its pictures.
TEST(ReadUserTest, FindsNamesAndPictureInTheProfile) {
  const slack::Timestamp at = slack::Timestamp::FromSeconds(1'620'000'000);
  const JsonDocument json = Parse(
      R"({"id":"W1X","deleted":true,"profile":{"real_name":"Ann","fields":[],"image_48":"u48"}})");
  const auto user = ReadUser(json.root(), at);
  ASSERT_TRUE(user.has_value());
  EXPECT_EQ(user->real_name, "Ann");
  EXPECT_EQ(user->avatar, "u48");
  EXPECT_TRUE(user->deactivated);
  EXPECT_FALSE(ReadUser(Parse(R"({"id":"ann"})").root(), at).has_value());
}

TEST(IsKeptAsMessageTest, LeavesOutOnlyJoinsAndLeaves) {
  for (const char* subtype : {"channel_join", "channel_leave", "group_join", "group_leave"}) {
    EXPECT_FALSE(IsKeptAsMessage(subtype)) << subtype;
  }
  for (const char* subtype :
       {"", "bot_message", "channel_posting_permissions", "new", "channel_topic", "group_purpose",
        "channel_convert_to_private", "channel_name"}) {
    EXPECT_TRUE(IsKeptAsMessage(subtype)) << subtype;
  }
}

}  // namespace
}  // namespace tidemark::archive
