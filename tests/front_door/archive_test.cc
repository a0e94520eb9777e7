// From a signed request to the rows of the archive: the answer to Slack, and what is stored by
// then.
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/archive/channel_index.h"
#include "apps/dedup/claims.h"
#include "base/base64.h"
#include "item/attributes.h"
#include "tests/front_door/front_door.h"
#include "tests/support/print_items.h"
#include "tests/support/test_runtime.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ArchiveTest : public ::testing::Test {
 protected:
  int Post(std::string_view body) { return door_.Send(body).status; }
  std::string Edit(const std::string& event_id, const std::string& second,
                   const std::string& text) {
    return door_.Callback(
        event_id, ids_,
        fmt::format(R"({{"type":"message","subtype":"message_changed","hidden":true,)"
                    R"("channel":"{0}","channel_type":"channel","ts":"{2}.000900",)"
                    R"("event_ts":"{2}.000900","message":{{"type":"message","user":"{1}",)"
                    R"("ts":"1700000000.000100","text":"{3}","edited":{{"user":"{1}",)"
                    R"("ts":"{2}.000000"}}}}}})",
                    ids_.channel, ids_.user, second, text));
  }
  std::vector<item::Item> RowsOfType(const std::string& type) {
    std::vector<item::Item> rows = door_.Archived();
    std::erase_if(rows, [&](const item::Item& row) { return item::TextIn(row, "type") != type; });
    return rows;
  }
  std::string NewMessage(const std::string& event_id) {
    return FrontDoor::Message(event_id, ids_, R"(,"channel_type":"channel")");
  }

  explicit ArchiveTest(const FrontDoor::Adjust& adjust = FrontDoor::WithArchive) : door_(adjust) {}

  FrontDoor door_;
  const FrontDoor::Ids ids_ = door_.real_ids();
};

class UnlistedArchiveTest : public ArchiveTest {
 protected:
  UnlistedArchiveTest()
      : ArchiveTest([](api::ServiceOptions* options) {
          FrontDoor::WithArchive(options);
          options->lists = false;
        }) {}
};

// Spec: 001-01
TEST_F(ArchiveTest, StoresAnEventAsOneRowBeforeItAcknowledgesIt) {
  EXPECT_EQ(Post(NewMessage("Ev1")), 200);
  ASSERT_THAT(door_.Archived(), SizeIs(1));
  EXPECT_EQ(item::TextIn(door_.Archived()[0], "itemId"),
            fmt::format("message#{}#{}", ids_.team, ids_.channel));
  EXPECT_EQ(item::TextIn(door_.Archived()[0], "text"), "hello");
  // The second event takes the fast path, because the gate knows the ids now.
  EXPECT_EQ(Post(door_.Callback("Ev2", ids_,
                                fmt::format(R"({{"type":"message","channel":"{}","user":"{}",)"
                                            R"("channel_type":"channel","text":"again",)"
                                            R"("ts":"1700000001.000100",)"
                                            R"("event_ts":"1700000001.000100"}})",
                                            ids_.channel, ids_.user))),
            200);
  EXPECT_THAT(door_.Archived(), SizeIs(2));
  EXPECT_EQ(door_.CounterOf("tidemark_archive_events_total{result=\"stored\"}"), 2);
}

// Spec: 001-02
TEST_F(ArchiveTest, EchoesAChallengeAndStoresNothing) {
  const http::Response response =
      door_.Send(R"({"type":"url_verification","challenge":"abc","token":"x"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "abc");
  EXPECT_THAT(door_.Archived(), IsEmpty());
}

// The index that the running service made is lost, and made again from the rows of the channels.
// Without Slack's lists, which give the channels other names at any time.
// Spec: 001-67
TEST_F(UnlistedArchiveTest, ARebuiltIndexEqualsTheOneThatTheServiceMade) {
  constexpr int kChannels = 12;
  int number = 0;
  for (const demo::Channel& channel : demo::MakeWorkspace({}).channels) {
    const bool is_public = channel.kind == demo::ChannelKind::kPublic && !channel.archived;
    if (!is_public || number == kChannels) continue;
    const std::string id = fmt::format("Ev{}", ++number);
    FrontDoor::Ids ids = ids_;
    ids.channel = channel.id;
    // Every third channel is known by a message only, and has no name.
    if (number % 3 == 0) {
      ASSERT_EQ(Post(FrontDoor::Message(id, ids)), 200);
      continue;
    }
    ASSERT_EQ(Post(FrontDoor::Callback(
                  id, ids,
                  fmt::format(R"({{"type":"channel_rename","channel":{{"id":"{}","name":)"
                              R"("renamed-{}","created":1600000000}},)"
                              R"("event_ts":"1700000000.{:06}"}})",
                              channel.id, number, number))),
              200);
  }
  ASSERT_TRUE(door_.service().WorkOnce());
  const std::string index_key = "channelindex#" + ids_.team;
  TestRuntime test;
  archive::ChannelIndex index({}, &door_.tables(), test.runtime());
  const slack::TeamId team = slack::TeamId::Parse(ids_.team).value();
  const auto former = index.All(team).value();
  ASSERT_EQ(former.size(), static_cast<size_t>(kChannels));
  for (const auto& [channel, name] : former) {
    EXPECT_TRUE(name.empty() || name.starts_with("renamed-")) << channel << " " << name;
  }
  for (const item::Item& row : door_.Archived()) {
    if (*row.Find("itemId") != item::Value(index_key)) continue;
    ASSERT_TRUE(door_.tables().Delete(
        {.table = "SlackArchive",
         .key = {{"itemId", index_key}, {"timestamp", *row.Find("timestamp")}}}));
  }
  ASSERT_THAT(index.All(team).value(), IsEmpty());
  ASSERT_TRUE(index.Rebuild(team, nullptr));
  EXPECT_EQ(index.All(team).value(), former);
}

// Spec: 001-03
TEST_F(ArchiveTest, RefusesUnsignedRequestsAndStoresNothing) {
  const std::string body = NewMessage("Ev1");
  EXPECT_EQ(door_.Send(body, {.without_timestamp = true}).status, 401);
  EXPECT_EQ(door_.Send(body, {.without_signature = true}).status, 401);
  EXPECT_EQ(door_.Send(body, {.secret = "another"}).status, 401);
  EXPECT_EQ(door_.Send(body, {.offset = -301}).status, 401);
  const http::Headers short_signature = {{"X-Slack-Signature", "v0=ab"}};
  EXPECT_EQ(door_.Send(body, {.without_signature = true, .more = short_signature}).status, 401);
  // Only the timestamp is wrong: the signature is the one of this timestamp.
  EXPECT_EQ(door_.Send(body, {.timestamp_text = "yesterday"}).status, 401);
  EXPECT_THAT(door_.Archived(), IsEmpty());
}

// The gate refuses an event without a team (decision 16). How the archive handles it is tested in
// tests/archive.
// Spec: 001-04
TEST_F(ArchiveTest, AcknowledgesAndLogsAnEventWithoutAChannel) {
  EXPECT_EQ(Post("{not JSON"), 400);
  EXPECT_EQ(Post(door_.Callback("Ev1", ids_,
                                fmt::format(R"({{"type":"message","user":"{}","text":"hello",)"
                                            R"("ts":"1700000000.000100"}})",
                                            ids_.user))),
            200);
  EXPECT_THAT(door_.log(), HasSubstr("Ev1"));
  EXPECT_THAT(door_.Archived(), IsEmpty());
}

// Spec: 001-05
TEST_F(ArchiveTest, AcknowledgesAndLogsAnUnknownEvent) {
  EXPECT_EQ(Post(door_.Callback("Ev1", ids_, R"({"type":"grown_tomorrow","event_ts":"1"})")), 200);
  EXPECT_THAT(door_.log(), HasSubstr("grown_tomorrow"));
  EXPECT_THAT(door_.Archived(), IsEmpty());
  EXPECT_EQ(door_.CounterOf("tidemark_archive_events_total{result=\"unknown_type\"}"), 1);
}

// Spec: 001-06
TEST_F(ArchiveTest, AnswersAStoreFailureWith500AndStoresTheRetry) {
  ASSERT_EQ(Post(NewMessage("Ev0")), 200);  // The gate knows the ids from now on.
  const std::string event = Edit("Ev1", "1700000005", "changed");
  door_.faults().decide = [](Operation operation) -> std::optional<Fault> {
    if (operation != Operation::kTransact) return std::nullopt;
    return Throttled();
  };
  EXPECT_EQ(Post(event), 500);
  door_.faults().decide = nullptr;
  EXPECT_EQ(item::TextIn(RowsOfType("message")[0], "text"), "hello");
  EXPECT_EQ(Post(event), 200);
  EXPECT_EQ(item::TextIn(RowsOfType("message")[0], "text"), "changed");
}

// An edit of a long message in Japanese: its text and its blocks, before and after, in escapes.
// Review: A9
TEST_F(ArchiveTest, TakesAnEventThatIsTooLargeForARow) {
  std::string text;
  for (int i = 0; i < 17'100; ++i) text += "\\u3042";
  const auto message = [&](const std::string& last) {
    return fmt::format(R"({{"type":"message","user":"{0}","ts":"1700000000.000100",)"
                       R"("text":"{1}{2}","blocks":[{{"type":"rich_text","text":"{1}{2}"}}])",
                       ids_.user, text, last);
  };
  const std::string body = door_.Callback(
      "Ev1", ids_,
      fmt::format(R"({{"type":"message","subtype":"message_changed","channel":"{0}",)"
                  R"("channel_type":"channel","ts":"1700000009.000900",)"
                  R"("event_ts":"1700000009.000900","message":{1},)"
                  R"("edited":{{"user":"{3}","ts":"1700000009.000000"}}}},)"
                  R"("previous_message":{2}}}}})",
                  ids_.channel, message("new"), message("old"), ids_.user));
  ASSERT_GT(body.size(), 400'000u);
  // Signed in the same second, so that the second request is the same.
  const FrontDoor::Signing signing{.timestamp = SystemClock().NowSeconds()};
  EXPECT_EQ(door_.Send(body, signing).status, 200);
  const std::vector<item::Item> rows = RowsOfType("message");
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_TRUE(item::TextIn(rows[0], "text").ends_with("new"));
  EXPECT_EQ(door_.Send(body, signing).status, 401) << "the same bytes are a replay";
}

// The raw event does not fit into the row. It is served all the same, and purged with the message.
// Review: A9
TEST_F(ArchiveTest, ARawEventThatIsTooLargeForItsRowIsAnObject) {
  const std::string block(300'000, 'x');
  const std::string event =
      fmt::format(R"({{"type":"message","channel":"{}","channel_type":"channel","user":"{}",)"
                  R"("text":"short","ts":"1700000000.000100","event_ts":"1700000000.000100",)"
                  R"("blocks":["{}","{}"]}})",
                  ids_.channel, ids_.user, block, block);
  EXPECT_EQ(Post(door_.Callback("Ev1", ids_, event)), 200);
  const std::vector<item::Item> rows = RowsOfType("message");
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_FALSE(rows[0].Contains("raw_event_dropped"));
  const std::string key = item::TextIn(rows[0], "raw_event_object");
  EXPECT_TRUE(
      key.starts_with(fmt::format("slack/{}/{}/1700000000.000100/", ids_.team, ids_.channel)))
      << key;
  const http::Response shown =
      door_.Call(http::Method::kGet, fmt::format("/api/v1/teams/{}/channels/{}/messages/{}",
                                                 ids_.team, ids_.channel, "1700000000.000100"));
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(shown.body, HasSubstr(block));
  // The same event again changes nothing.
  EXPECT_EQ(Post(door_.Callback("Ev2", ids_, event)), 200);
  EXPECT_EQ(RowsOfType("message"), rows);
}

// Slack cannot be asked, and quarantine has no room for the event: its time counts as lost.
// Review: A9
TEST_F(ArchiveTest, AnUnverifiedEventThatIsTooLargeForQuarantineCountsAsLost) {
  door_.slack().Fail("conversations.info", {.kind = demo::FailureKind::kServerError}, 10);
  const std::string event =
      fmt::format(R"({{"type":"message","channel":"{}","channel_type":"channel","user":"{}",)"
                  R"("text":"{}","ts":"1700000000.000100","event_ts":"1700000000.000100"}})",
                  ids_.channel, ids_.user, std::string(500'000, 'x'));
  EXPECT_EQ(Post(door_.Callback("Ev1", ids_, event)), 200);
  EXPECT_EQ(door_.QuarantineSize(), 0u);
  const http::Response coverage =
      door_.Call(http::Method::kGet,
                 fmt::format("/api/v1/teams/{}/channels/{}/coverage", ids_.team, ids_.channel));
  EXPECT_THAT(coverage.body, HasSubstr(R"("lost")"));
}

// A reaction or a pin says nothing about its channel. The gate has asked Slack about the channel,
// and that answer decides: also from the gate's table, and after quarantine.
// Review: A6
TEST_F(ArchiveTest, KeepsReactionsAndPinsBeforeTheFirstMessageOfAPublicChannel) {
  const auto reaction = [&](const std::string& event_id, const std::string& name) {
    return door_.Callback(
        event_id, ids_,
        fmt::format(R"({{"type":"reaction_added","user":"{1}","reaction":"{2}",)"
                    R"("item":{{"type":"message","channel":"{0}","ts":"1700000000.000100"}},)"
                    R"("event_ts":"1700000009.000100"}})",
                    ids_.channel, ids_.user, name));
  };
  EXPECT_EQ(Post(reaction("Ev1", "wave")), 200);
  EXPECT_EQ(Post(reaction("Ev2", "tada")), 200);  // From the gate's table.
  EXPECT_EQ(Post(door_.Callback(
                "Ev3", ids_,
                fmt::format(R"({{"type":"pin_added","user":"{1}","channel_id":"{0}",)"
                            R"("item":{{"type":"message","channel":"{0}","message":)"
                            R"({{"ts":"1700000000.000100"}}}},"event_ts":"1700000010.000100"}})",
                            ids_.channel, ids_.user))),
            200);
  EXPECT_THAT(RowsOfType("reaction"), SizeIs(2));
  EXPECT_THAT(RowsOfType("pin"), SizeIs(1));
  EXPECT_EQ(door_.CounterOf("tidemark_archive_events_total{result=\"not_public\"}"), 0);
}

// Spec: 001-07
TEST_F(ArchiveTest, ANewInstallationFetchesListsButNoHistory) {
  ASSERT_TRUE(door_.service().WorkOnce().has_value());
  // PretendSlack reports a call to any other method as a fault.
  for (const char* method :
       {"conversations.info", "files", "files.info", "team.info", "users.info"}) {
    EXPECT_EQ(door_.slack().calls(method), 0U) << method;
  }
  EXPECT_EQ(door_.slack().calls("users.list"), 1U);
  EXPECT_THAT(door_.slack().faults(), IsEmpty());
  EXPECT_THAT(RowsOfType("message"), IsEmpty());
  EXPECT_THAT(RowsOfType("channel"), IsEmpty()) << "of channels without events nothing is kept";
}

// Spec: 001-10
TEST_F(ArchiveTest, VerifiesABase64BodyOverItsDecodedBytes) {
  const std::string body = NewMessage("Ev1");
  const http::Headers encoded = {{"Content-Transfer-Encoding", "base64"}};
  // A signature over the encoded bytes is not valid.
  EXPECT_EQ(door_.Send(EncodeBase64(body), {.more = encoded}).status, 401);
  EXPECT_EQ(door_.Send("%%%", {.more = encoded}).status, 401);
  EXPECT_THAT(door_.Archived(), IsEmpty());
  EXPECT_EQ(door_.Send(EncodeBase64(body), {.more = encoded, .signed_body = body}).status, 200);
  EXPECT_THAT(door_.Archived(), SizeIs(1));
}

// The mark and the rows are one transaction. After a lost reply both are there, and the retry is a
// duplicate. The fast path loses all its replies, so that the claimed path finds the mark.
TEST_F(ArchiveTest, StoresAnEventOnceAfterALostReply) {
  ASSERT_EQ(Post(NewMessage("Ev0")), 200);
  const uint32_t kTries = 1 + dedup::ClaimsOptions().retry.max_retries;
  uint32_t writes = 0;
  door_.faults().decide = [&](Operation operation) -> std::optional<Fault> {
    if (operation != Operation::kTransact || ++writes > kTries) return std::nullopt;
    return LostReply();
  };
  const std::string event = Edit("Ev1", "1700000005", "changed");
  EXPECT_EQ(Post(event), 200);
  EXPECT_EQ(door_.Send(event, {.offset = 1}).status, 200);  // Signed again, like a retry of Slack.
  EXPECT_EQ(item::TextIn(RowsOfType("message")[0], "text"), "changed");
  EXPECT_THAT(RowsOfType("version"), SizeIs(1));
  EXPECT_EQ(door_.CounterOf("tidemark_events_total{result=\"duplicate\"}"), 1);
}

// Memory alone claims the events, as while the table of claims is unavailable.
class ClaimedInMemoryTest : public ArchiveTest {
 protected:
  ClaimedInMemoryTest()
      : ArchiveTest([](api::ServiceOptions* options) {
          FrontDoor::WithArchive(options);
          options->dedup.rollout_percent = 0;
        }) {}
};

// The transaction has no row of a claim. A store that is unavailable for a moment is asked again
// all the same.
TEST_F(ClaimedInMemoryTest, AnEventIsStoredWhenTheStoreIsAwayForAMoment) {
  ASSERT_EQ(Post(NewMessage("Ev0")), 200);
  int writes = 0;
  door_.faults().decide = [&](Operation operation) -> std::optional<Fault> {
    if (operation != Operation::kTransact) return std::nullopt;
    const int write = ++writes;
    if (write == 1) return Throttled();
    return write == 2 ? std::optional(LostReply()) : std::nullopt;
  };
  EXPECT_EQ(Post(Edit("Ev1", "1700000005", "changed")), 200);
  door_.faults().decide = nullptr;
  EXPECT_EQ(writes, 3) << "the third try is refused, and the next plan finds nothing to write";
  EXPECT_EQ(item::TextIn(RowsOfType("message")[0], "text"), "changed");
  EXPECT_THAT(RowsOfType("version"), SizeIs(1));
}

// Planning it again would give the same row.
TEST_F(ClaimedInMemoryTest, ARowThatTheStoreCallsInvalidIsNotPlannedAgain) {
  ASSERT_EQ(Post(NewMessage("Ev0")), 200);
  int plans = 0;
  door_.faults().cancel = [&] {
    ++plans;
    return tables::CancellationCode::kValidationError;
  };
  EXPECT_EQ(Post(Edit("Ev1", "1700000005", "changed")), 500);
  EXPECT_EQ(plans, 1);
  EXPECT_THAT(door_.log(), HasSubstr("writing its rows: cancelled, for the test"));
}

// All edits change the same row. Each is planned again until no other edit came between its read
// and its write. An edit that loses a round loses it to one that is stored, so it loses at most
// fifteen.
// Review: A11
TEST_F(ArchiveTest, KeepsAllEditsThatArriveAtTheSameTime) {
  ASSERT_EQ(Post(NewMessage("Ev0")), 200);
  constexpr int kEdits = 16;
  std::vector<std::thread> threads;
  for (int i = 1; i <= kEdits; ++i) {
    threads.emplace_back([this, i] {
      const std::string event = Edit(fmt::format("Ev{}", i), std::to_string(1'700'000'000 + i),
                                     fmt::format("edit {}", i));
      EXPECT_EQ(Post(event), 200);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(item::TextIn(RowsOfType("message")[0], "text"), fmt::format("edit {}", kEdits));
  EXPECT_THAT(RowsOfType("version"), SizeIs(kEdits));
}

// A bot edits its messages with chat.update. Slack then names the bot as who made the edit.
TEST_F(ArchiveTest, KeepsTheEditsOfBots) {
  ASSERT_EQ(Post(NewMessage("Ev0")), 200);
  const std::string event = door_.Callback(
      "Ev1", ids_,
      fmt::format(R"({{"type":"message","subtype":"message_changed","hidden":true,)"
                  R"("channel":"{}","channel_type":"channel","ts":"1700000009.000900",)"
                  R"("event_ts":"1700000009.000900","message":{{"type":"message",)"
                  R"("bot_id":"B0BOT0001","ts":"1700000000.000100","text":"deployed",)"
                  R"("edited":{{"user":"B0BOT0001","ts":"1700000009.000000"}}}}}})",
                  ids_.channel));
  EXPECT_EQ(Post(event), 200);
  EXPECT_EQ(item::TextIn(RowsOfType("message")[0], "text"), "deployed");
}

// The archive must show the minute that Slack did not deliver as a gap.
TEST_F(ArchiveTest, RecordsARateLimitedMinuteAsLost) {
  EXPECT_EQ(Post(fmt::format(R"({{"type":"app_rate_limited","team_id":"{}","api_app_id":"A1",)"
                             R"("minute_rate_limited":1700000040}})",
                             ids_.team)),
            200);
  ASSERT_THAT(RowsOfType("coverage"), SizeIs(1));
  EXPECT_EQ(item::TextIn(RowsOfType("coverage")[0], "from"), "1700000040.000000");
  EXPECT_EQ(item::TextIn(RowsOfType("coverage")[0], "to"), "1700000100.000000");
}

}  // namespace
}  // namespace tidemark::testing
