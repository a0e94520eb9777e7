// What is kept: public channels, channels that were public, and nothing else.
#include <string>

#include "tests/archive/archive_world.h"

namespace tidemark::archive {
namespace {

constexpr const char* kScopeTs = "1620000000.000200";

std::string In(std::string_view channel, std::string_view channel_type,
               std::string_view ts = kScopeTs) {
  const std::string type =
      channel_type.empty() ? "" : fmt::format(R"("channel_type":"{}",)", channel_type);
  return fmt::format(R"({{"type":"message","channel":"{}",{}"user":"U1X","ts":"{}","text":"x"}})",
                     channel, type, ts);
}
std::string ToPrivate(std::string_view event_ts) {
  return fmt::format(R"({{"type":"message","subtype":"channel_convert_to_private",)"
                     R"("channel":"C1X","channel_type":"group","ts":"{}","text":"x"}})",
                     event_ts);
}

// Spec: 001-08
TEST(ScopeTest, NothingIsKeptOfPrivateAndDirectConversations) {
  ArchiveWorld world;
  for (const auto& [channel, type] :
       {std::pair("G1X", "group"), std::pair("C1X", "group"), std::pair("D1X", "im"),
        std::pair("G2X", "mpim"), std::pair("C2X", "mpim"), std::pair("D1X", "app_home"),
        std::pair("C1X", ""), std::pair("D1X", ""), std::pair("D1X", "channel"),
        std::pair("C1X", "of_next_year")}) {
    EXPECT_EQ(world.Post(In(channel, type)), ArchiveOutcome::kNotPublic) << channel << " " << type;
  }
  EXPECT_TRUE(world.Rows().empty());
}

// Edits, deletions, reactions, pins and topics of a private channel are not kept either.
TEST(ScopeTest, NoEventOfAPrivateChannelIsKept) {
  ArchiveWorld world;
  for (const std::string event :
       {R"({"type":"message","subtype":"message_deleted","channel":"C1X","channel_type":"group",)"
        R"("ts":"1620000001.000200","deleted_ts":"1620000000.000200"})",
        R"({"type":"message","subtype":"channel_topic","channel":"C1X","channel_type":"group",)"
        R"("ts":"1620000001.000200","topic":"secret"})",
        R"({"type":"reaction_added","user":"U1X","reaction":"eyes","event_ts":"1620000001.000200",)"
        R"("item":{"type":"message","channel":"C1X","ts":"1620000000.000200"}})",
        R"({"type":"pin_added","user":"U1X","channel_id":"C1X","event_ts":"1620000001.000200",)"
        R"("item":{"type":"message","message":{"ts":"1620000000.000200"}}})",
        R"({"type":"group_rename","channel":{"id":"C1X","name":"secret"},)"
        R"("event_ts":"1620000001.000200"})",
        R"({"type":"group_archive","channel":"C1X","event_ts":"1620000001.000200"})",
        R"({"type":"channel_created","channel":{"id":"C1X","name":"secret","is_private":true},)"
        R"("event_ts":"1620000001.000200"})",
        R"({"type":"channel_rename","channel":{"id":"C1X","name":"secret","is_private":true},)"
        R"("event_ts":"1620000001.000200"})",
        R"({"type":"member_joined_channel","user":"UBOT","channel":"C1X","channel_type":"G",)"
        R"("event_ts":"1620000001.000200"})",
        R"({"type":"group_left","channel":"C1X","event_ts":"1620000001.000200"})"}) {
    EXPECT_EQ(world.Post(event), ArchiveOutcome::kNotPublic) << event;
  }
  EXPECT_TRUE(world.Rows().empty());
}

// The name of an event does not say that its channel is public: private channels too have ids that
// begin with C.
TEST(ScopeTest, NoNameOfAnEventMakesAChannelPublic) {
  ArchiveWorld world;
  const std::string at = R"("event_ts":"1620000001.000200")";
  for (const char* type : {"channel_archive", "channel_unarchive", "channel_deleted",
                           "channel_left", "channel_history_changed"}) {
    const std::string event = fmt::format(R"({{"type":"{}","channel":"C1X",{}}})", type, at);
    EXPECT_EQ(world.Post(event), ArchiveOutcome::kNotPublic) << event;
  }
  for (const char* type : {"channel_rename", "channel_created"}) {
    const std::string event =
        fmt::format(R"({{"type":"{}","channel":{{"id":"C1X","name":"secret"}},{}}})", type, at);
    EXPECT_EQ(world.Post(event), ArchiveOutcome::kNotPublic) << event;
  }
  for (const char* change : {"topic", "purpose", "name"}) {
    const std::string event =
        fmt::format(R"({{"type":"channel_{0}","channel":"C1X","{0}":"secret",{1}}})", change, at);
    EXPECT_EQ(world.Post(event), ArchiveOutcome::kNotPublic) << event;
  }
  const std::string joined = R"({"type":"member_joined_channel","user":"UBOT","channel":"C1X",)"
                             R"("channel_type":"C",)" +
                             at + "}";
  EXPECT_EQ(world.Post(joined), ArchiveOutcome::kNotPublic);
  EXPECT_TRUE(world.Rows().empty());
}

// A channel that is recorded as private, and has no messages, stays private.
TEST(ScopeTest, AnEventOfAChannelRecordedAsPrivateIsNotKept) {
  ArchiveWorld world;
  ASSERT_TRUE(world.tables().Put({.table = "SlackArchive",
                                  .item = {{"itemId", "channel#T1X#C1X"},
                                           {"timestamp", "1610000000.000000"},
                                           {"type", "channel"},
                                           {"visibility", "private"}}}));
  const auto rows = world.Rows();
  EXPECT_EQ(world.Post(R"({"type":"channel_archive","channel":"C1X",)"
                       R"("event_ts":"1620000001.000200"})"),
            ArchiveOutcome::kNotPublic);
  EXPECT_EQ(world.Post(In("C1X", "group")), ArchiveOutcome::kNotPublic);
  EXPECT_EQ(world.Rows(), rows);
}

// Spec: 001-09
TEST(ScopeTest, AChannelThatWasPublicIsStillKept) {
  ArchiveWorld world;
  world.Post(R"({"type":"channel_created","event_ts":"1620000000.000000",)"
             R"("channel":{"id":"C1X","name":"general","is_private":false}})");
  world.Post(ToPrivate("1620000001.000000"));
  EXPECT_EQ(world.Post(In("C1X", "group")), ArchiveOutcome::kStored);
  EXPECT_FALSE(world.MessageRow(kScopeTs).empty());
}

// The conversion may be the only event about the channel, and may arrive late.
TEST(ScopeTest, AConversionShowsThatTheChannelWasPublic) {
  ArchiveWorld world;
  world.Post(ToPrivate("1620000001.000000"));
  EXPECT_EQ(world.Post(In("C1X", "group")), ArchiveOutcome::kStored);
}

TEST(ScopeTest, AChannelWithMessagesWasPublic) {
  ArchiveWorld world;
  world.Post(In("C1X", "channel"));
  EXPECT_EQ(world.Post(In("C1X", "group", "1620000005.000100")), ArchiveOutcome::kStored);
  EXPECT_EQ(world.Post(R"({"type":"group_rename","channel":{"id":"C1X","name":"new"},)"
                       R"("event_ts":"1620000006.000000"})"),
            ArchiveOutcome::kStored);
  // No event has told the visibility, so the row has none.
  EXPECT_FALSE(world.ChannelState().visibility.value.has_value());
  EXPECT_EQ(world.Post(In("C1X", "group", "1620000007.000100")), ArchiveOutcome::kStored);
}

// Spec: 001-04
TEST(IncompleteTest, AnEventWithoutTeamOrChannelIsLoggedAndNotStored) {
  ArchiveWorld world;
  std::string body = EnvelopeOf(In("C1X", "channel"));
  for (size_t at; (at = body.find("T1X")) != std::string::npos;) body.replace(at, 3, "");
  EXPECT_EQ(world.PostBody(body), ArchiveOutcome::kIncomplete);
  EXPECT_NE(world.Log().find("no valid team"), std::string::npos) << world.Log();
  EXPECT_EQ(world.Post(R"({"type":"message","channel_type":"channel","ts":"1620000000.000200"})"),
            ArchiveOutcome::kIncomplete);
  EXPECT_NE(world.Log().find("valid channel"), std::string::npos) << world.Log();
  EXPECT_TRUE(world.Rows().empty());
}

// Ids become parts of keys, so an id with a separator is invalid.
TEST(IncompleteTest, EventsWithInvalidIdsOrTimesAreNotStored) {
  ArchiveWorld world;
  for (const std::string& event :
       {In("C1X#C2X", "channel"), In("c1x", "channel"), In("C1X", "channel", "1620000000"),
        In("C1X", "channel", ""),
        std::string(R"({"type":"channel_rename","channel":{"id":"C1X"},"event_ts":"1.2"})"),
        std::string(R"({"type":"channel_id_changed","old_channel_id":"C1X"})"),
        std::string(R"({"type":"user_change","user":{"id":"u#1"}})"),
        std::string(R"({"type":"message","subtype":"message_changed","channel":"C1X"})"),
        std::string(R"({"type":"message","subtype":"message_deleted","channel":"C1X"})"),
        std::string(R"({"type":"reaction_added","reaction":"","item":{"channel":"C1X"}})"),
        std::string(R"({"type":"emoji_changed","subtype":"add"})"),
        std::string(R"({"type":"team_rename"})"),
        std::string(R"({"type":"pin_added","item":{}})")}) {
    EXPECT_EQ(world.Post(event), ArchiveOutcome::kIncomplete) << event;
  }
  EXPECT_TRUE(world.Rows().empty());
}

// Spec: 001-05
TEST(IncompleteTest, AnUnknownTypeIsLogged) {
  ArchiveWorld world;
  EXPECT_EQ(world.Post(R"({"type":"of_next_year","event_ts":"1620000000.000200"})"),
            ArchiveOutcome::kUnknownType);
  EXPECT_NE(world.Log().find("of_next_year"), std::string::npos) << world.Log();
  EXPECT_TRUE(world.Rows().empty());
}

TEST(IncompleteTest, KnownTypesThatAreLeftOutAreNotLogged) {
  ArchiveWorld world;
  for (const char* type : {"app_mention", "file_shared", "im_history_changed"}) {
    EXPECT_EQ(world.Post(fmt::format(R"({{"type":"{}","channel":"C1X"}})", type)),
              ArchiveOutcome::kNotKept);
  }
  EXPECT_EQ(world.Log(), "");
}

TEST(CountTest, CountsEventsByOutcome) {
  ArchiveWorld world;
  world.Post(In("C1X", "channel"));
  world.Post(In("C1X", "channel"));
  world.Post(In("D1X", "im"));
  world.Post(R"({"type":"app_mention"})");
  world.Post(R"({"type":"of_next_year"})");
  world.Post(R"({"type":"team_rename"})");
  const std::string text = world.metrics().Expose();
  for (const char* result :
       {"stored", "unchanged", "not_public", "not_kept", "unknown_type", "incomplete"}) {
    EXPECT_NE(text.find(fmt::format(R"(tidemark_archive_events_total{{result="{}"}} 1)", result)),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace tidemark::archive
