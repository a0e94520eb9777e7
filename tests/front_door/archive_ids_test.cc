// A channel whose id changes: what is kept under the old id and under the new one is one history,
// whichever id is asked for.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/archive/coverage.h"
#include "item/json.h"
#include "tests/front_door/archive_api_fixture.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kOld[] = "/api/v1/teams/T1X/channels/C1X";
constexpr char kNew[] = "/api/v1/teams/T1X/channels/C2X";
constexpr char kFirstTs[] = "1700000000.000100";

// The id changes from C1X to C2X at 1700000010.
class ChangedIdTest : public ArchiveApiTest {
 protected:
  using ArchiveApiTest::ArchiveApiTest;

  void ChangeId() {
    Store(R"({"type":"channel_id_changed","old_channel_id":"C1X","new_channel_id":"C2X",)"
          R"("event_ts":"1700000010.000000"})");
  }
  // Under the new id.
  void Edit(const std::string& text) {
    Store(fmt::format(
        R"({{"type":"message","subtype":"message_changed","channel":"C2X",)"
        R"("channel_type":"channel","ts":"1700000020.000000","event_ts":"1700000020.000000",)"
        R"("message":{{"type":"message","user":"U1X","ts":"{0}","text":"{1}","edited":)"
        R"({{"user":"U1X","ts":"1700000020.000000"}}}},"previous_message":)"
        R"({{"type":"message","user":"U1X","ts":"{0}","text":"first"}}}})",
        kFirstTs, text));
  }
  void Delete() {
    Store(fmt::format(
        R"({{"type":"message","subtype":"message_deleted","channel":"C2X",)"
        R"("channel_type":"channel","ts":"1700000030.000000","event_ts":"1700000030.000000",)"
        R"("deleted_ts":"{}"}})",
        kFirstTs));
  }
  // Everything that the routes show of the channel under an id.
  std::string All(const std::string& channel) {
    return Get(channel + "/messages").body + Get(channel + "/messages/" + kFirstTs).body +
           Get(channel + "/threads/" + kFirstTs).body +
           Get("/archives/" + channel.substr(channel.rfind('/') + 1) + "/p1700000000000100").body;
  }
};

// Review: A4
TEST_F(ChangedIdTest, AnEditUnderTheNewIdIsOfTheOldMessage) {
  Post(kFirstTs, "first");
  ChangeId();
  Edit("second");
  for (const std::string channel : {kOld, kNew}) {
    EXPECT_EQ(Pages(channel + "/messages?limit=10"), "second ");
    const http::Response detail = Get(channel + "/messages/" + kFirstTs);
    EXPECT_THAT(In(detail, "versions"),
                HasSubstr(R"([{"version":"1700000000.000100","text":"first","raw_event":)"));
    EXPECT_THAT(In(detail, "versions"), HasSubstr(R"("text":"second")"));
    EXPECT_THAT(In(detail, "message"), HasSubstr(R"("user":"U1X","text":"second")"));
  }
}

// Review: A4
TEST_F(ChangedIdTest, BothIdsListTheWholeHistoryOnceAndInOrder) {
  const auto post = [&](int second, const std::string& channel) {
    Post(fmt::format("17000000{:02}.000100", second), std::to_string(second), "", channel);
  };
  for (const int second : {1, 3, 5}) post(second, "C1X");
  ChangeId();
  for (const int second : {12, 14, 16}) post(second, "C2X");
  post(4, "C2X");  // As an export that was made later has it.
  post(13, "C1X");
  post(3, "C2X");
  for (const std::string channel : {kOld, kNew}) {
    for (const int limit : {1, 2, 3, 100}) {
      const std::string path = fmt::format("{}/messages?limit={}", channel, limit);
      EXPECT_EQ(Pages(path), "1 3 4 5 12 13 14 16 ") << path;
      EXPECT_EQ(Pages(path + "&order=desc"), "16 14 13 12 5 4 3 1 ") << path;
      EXPECT_EQ(Pages(path + "&from=1700000003&to=1700000013"), "3 4 5 12 13 ") << path;
    }
  }
}

// Review: A4
TEST_F(ChangedIdTest, RepliesReactionsAndPinsReachOlderMessages) {
  Post(kFirstTs, "root");
  Store(R"({"type":"reaction_added","user":"U2X","reaction":"tada","item":{"type":"message",)"
        R"("channel":"C1X","ts":"1700000000.000100"},"event_ts":"1700000006.000000"})");
  Store(R"({"type":"reaction_added","user":"U3X","reaction":"tada","item":{"type":"message",)"
        R"("channel":"C1X","ts":"1700000000.000100"},"event_ts":"1700000007.000000"})");
  ChangeId();
  Post("1700000012.000100", "reply", fmt::format(R"(,"thread_ts":"{}")", kFirstTs), "C2X");
  Store(R"({"type":"reaction_removed","user":"U2X","reaction":"tada","item":{"type":"message",)"
        R"("channel":"C2X","ts":"1700000000.000100"},"event_ts":"1700000016.000000"})");
  Store(R"({"type":"pin_added","user":"U2X","channel_id":"C2X","item":{"type":"message",)"
        R"("channel":"C2X","message":{"ts":"1700000000.000100"}},"event_ts":"1700000017.000000"})");
  for (const std::string channel : {kOld, kNew}) {
    EXPECT_EQ(Pages(fmt::format("{}/threads/{}?limit=1", channel, kFirstTs)), "root reply ");
    const http::Response detail = Get(channel + "/messages/" + kFirstTs);
    EXPECT_EQ(In(detail, "reactions"), R"([{"reaction":"tada","users":["U3X"],"count":1}])");
    EXPECT_EQ(In(detail, "pinned"), "true");
  }
}

// The state does not depend on the order in which Slack's events arrive.
// Review: A4
TEST_F(ChangedIdTest, AnEditMayArriveBeforeTheChangeOfTheId) {
  Post(kFirstTs, "first");
  Edit("second");
  ChangeId();
  for (const std::string channel : {kOld, kNew}) {
    EXPECT_EQ(Pages(channel + "/messages?limit=10"), "second ");
  }
}

TEST_F(ChangedIdTest, AChannelSaysWhichIdCameAfterIt) {
  Store(R"({"type":"channel_created","event_ts":"1700000000.000000",)"
        R"("channel":{"id":"C1X","name":"general","is_private":false}})");
  ChangeId();
  EXPECT_EQ(In(Get(kOld), "next_channel_id"), R"("C2X")");
  EXPECT_EQ(In(Get(kNew), "prev_channel_id"), R"("C1X")");
  EXPECT_EQ(In(Get(kNew), "name"), R"("general")");
}

TEST_F(ChangedIdTest, CoverageGoesOnUnderTheNewId) {
  archive::Ledger ledger("SlackArchive", &door_.tables());
  ASSERT_TRUE(ledger.Add(slack::TeamId::Parse("T1X").value(),
                         {.channel = slack::ChannelId::Parse("C1X").value(),
                          .kind = archive::CoverageKind::kBegan,
                          .from = slack::Timestamp::FromSeconds(1'700'000'000)}));
  ChangeId();
  for (const std::string channel : {kOld, kNew}) {
    EXPECT_EQ(In(Get(channel + "/coverage"), "intervals"),
              R"([{"from":"1700000000.000000","certainty":"complete"}])");
  }
}

class RedactedChangedIdTest : public ChangedIdTest {
 protected:
  RedactedChangedIdTest() : ChangedIdTest({.text = archive::DeletedText::kRedact}) {}
};

// Review: A4
TEST_F(RedactedChangedIdTest, ADeletionUnderTheNewIdHidesTheOldText) {
  PostFile(kFirstTs, "secret.txt", "text/plain", "bytes");
  Post("1700000001.000100", "reply", fmt::format(R"(,"thread_ts":"{}")", kFirstTs));
  ChangeId();
  Edit("secret words");
  for (const std::string channel : {kOld, kNew}) {
    EXPECT_THAT(All(channel), HasSubstr("secret"));
    EXPECT_EQ(Get(fmt::format("{}/messages/{}/files/F1X", channel, kFirstTs)).status, 200);
  }
  Delete();
  for (const std::string channel : {kOld, kNew}) {
    EXPECT_THAT(All(channel), Not(HasSubstr("secret")));
    EXPECT_THAT(All(channel), Not(HasSubstr("with a file")));
    EXPECT_THAT(All(channel), HasSubstr(R"("hidden":true)"));
    EXPECT_EQ(Get(fmt::format("{}/messages/{}/files/F1X", channel, kFirstTs)).status, 404);
  }
}

class PurgedChangedIdTest : public ChangedIdTest {
 protected:
  PurgedChangedIdTest()
      : ChangedIdTest(
            {.text = archive::DeletedText::kPurge, .purge_after = std::chrono::seconds(1)}) {}
};

// Review: A4
TEST_F(PurgedChangedIdTest, ADeletionUnderTheNewIdRemovesTheOldText) {
  PostFile(kFirstTs, "secret.txt", "text/plain", "bytes");
  ChangeId();
  Edit("secret words");
  Delete();
  ASSERT_TRUE(door_.service().WorkOnce().has_value());
  for (const item::Item& row : door_.Archived()) {
    EXPECT_THAT(item::ToJson(row), Not(HasSubstr("secret")));
  }
  const auto object = door_.objects().Head(fmt::format("slack/T1X/C1X/{}/F1X", kFirstTs));
  ASSERT_TRUE(object.has_value());
  EXPECT_FALSE(object->has_value());
  EXPECT_THAT(All(kOld), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace tidemark::testing
