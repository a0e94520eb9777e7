// From a signed request to the archive's rows: what Slack is told, and what is stored by then.
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "item/attributes.h"
#include "tests/front_door/front_door.h"
#include "tests/support/print_items.h"

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

  FrontDoor door_{FrontDoor::WithArchive};
  const FrontDoor::Ids ids_ = door_.real_ids();
};

// Spec: 001-01
TEST_F(ArchiveTest, AKnownEventIsOneRowBeforeItIsAcknowledged) {
  EXPECT_EQ(Post(NewMessage("Ev1")), 200);
  ASSERT_THAT(door_.Archived(), SizeIs(1));
  EXPECT_EQ(item::TextIn(door_.Archived()[0], "itemId"),
            fmt::format("message#{}#{}", ids_.team, ids_.channel));
  EXPECT_EQ(item::TextIn(door_.Archived()[0], "text"), "hello");
  // The second time by the short way: the gate knows the ids by now.
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
TEST_F(ArchiveTest, AChallengeIsEchoedAndNothingStored) {
  const http::Response response =
      door_.Send(R"({"type":"url_verification","challenge":"abc","token":"x"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "abc");
  EXPECT_THAT(door_.Archived(), IsEmpty());
}

// Spec: 001-03
TEST_F(ArchiveTest, WhatIsNotSignedJustNowIsRefusedAndNothingStored) {
  const std::string body = NewMessage("Ev1");
  EXPECT_EQ(door_.Send(body, {.without_timestamp = true}).status, 401);
  EXPECT_EQ(door_.Send(body, {.without_signature = true}).status, 401);
  EXPECT_EQ(door_.Send(body, {.secret = "another"}).status, 401);
  EXPECT_EQ(door_.Send(body, {.offset = -301}).status, 401);
  const http::Headers short_signature = {{"X-Slack-Signature", "v0=ab"}};
  EXPECT_EQ(door_.Send(body, {.without_signature = true, .more = short_signature}).status, 401);
  const http::Headers no_number = {{"X-Slack-Request-Timestamp", "yesterday"}};
  EXPECT_EQ(door_.Send(body, {.without_timestamp = true, .more = no_number}).status, 401);
  EXPECT_THAT(door_.Archived(), IsEmpty());
}

// What names no team is the gate's to refuse (decision 16); the archive's own view of it is in
// tests/archive.
// Spec: 001-04
TEST_F(ArchiveTest, WhatLacksAChannelIsAcknowledgedLoggedAndNotStored) {
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
TEST_F(ArchiveTest, AnUnknownEventIsAcknowledgedAndLogged) {
  EXPECT_EQ(Post(door_.Callback("Ev1", ids_, R"({"type":"grown_tomorrow","event_ts":"1"})")), 200);
  EXPECT_THAT(door_.log(), HasSubstr("grown_tomorrow"));
  EXPECT_THAT(door_.Archived(), IsEmpty());
  EXPECT_EQ(door_.CounterOf("tidemark_archive_events_total{result=\"unknown_type\"}"), 1);
}

// Spec: 001-06
TEST_F(ArchiveTest, AStoreThatFailsIsAServerErrorAndTheRetryIsStored) {
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

// Spec: 001-07
TEST_F(ArchiveTest, AFreshInstallationAsksSlackForNothing) {
  ASSERT_TRUE(door_.service().WorkOnce().has_value());
  // Any other call than these would be a fault.
  for (const char* method :
       {"auth.test", "conversations.info", "files", "files.info", "team.info", "users.info"}) {
    EXPECT_EQ(door_.slack().calls(method), 0U) << method;
  }
  EXPECT_THAT(door_.slack().faults(), IsEmpty());
  EXPECT_THAT(door_.Archived(), IsEmpty());
}

// Spec: 001-10
TEST_F(ArchiveTest, ABase64BodyIsVerifiedOverItsDecodedBytes) {
  const std::string body = NewMessage("Ev1");
  const http::Headers encoded = {{"Content-Transfer-Encoding", "base64"}};
  // Signed as encoded, it is not Slack's.
  EXPECT_EQ(door_.Send(EncodeBase64(body), {.more = encoded}).status, 401);
  EXPECT_EQ(door_.Send("%%%", {.more = encoded}).status, 401);
  EXPECT_THAT(door_.Archived(), IsEmpty());
  EXPECT_EQ(door_.Send(EncodeBase64(body), {.more = encoded, .signed_body = body}).status, 200);
  EXPECT_THAT(door_.Archived(), SizeIs(1));
}

// The mark and the rows are one transaction: a reply that is lost leaves both, and the retry is a
// duplicate; one that is cut off before leaves neither.
TEST_F(ArchiveTest, ALostReplyStoresTheEventOnce) {
  ASSERT_EQ(Post(NewMessage("Ev0")), 200);
  int writes = 0;
  door_.faults().decide = [&](Operation operation) -> std::optional<Fault> {
    if (operation != Operation::kTransact || ++writes > 1) return std::nullopt;
    return LostReply();
  };
  const std::string event = Edit("Ev1", "1700000005", "changed");
  EXPECT_EQ(Post(event), 200);
  EXPECT_EQ(door_.Send(event, {.offset = 1}).status, 200);  // Signed anew, as retries are.
  EXPECT_EQ(item::TextIn(RowsOfType("message")[0], "text"), "changed");
  EXPECT_THAT(RowsOfType("version"), SizeIs(1));
  EXPECT_EQ(door_.CounterOf("tidemark_events_total{result=\"duplicate\"}"), 1);
}

// All change one row at once: each is planned anew until it finds the row as it read it.
TEST_F(ArchiveTest, EditsAtTheSameMomentAreAllKept) {
  ASSERT_EQ(Post(NewMessage("Ev0")), 200);
  constexpr int kEdits = 8;
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

// A minute that Slack did not send is a known loss, not a silence.
TEST_F(ArchiveTest, ARateLimitedMinuteIsNotedAsLost) {
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
