// POST /slack/events from the socket to the disk and back, with real sockets and files and a
// pretend Slack that is stricter than the original.
#include <future>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/front_door/front_door.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SlackEventsTest : public ::testing::Test {
 protected:
  // In every test, all calls to Slack must be well-formed.
  void TearDown() override { EXPECT_THAT(door_->slack().faults(), IsEmpty()); }

  void Restart(const FrontDoor::Adjust& adjust) {
    door_.reset();
    door_ = std::make_unique<FrontDoor>(adjust);
  }
  uint64_t SlackCalls() {
    uint64_t calls = 0;
    for (const char* method : {"team.info", "users.info", "conversations.info"}) {
      calls += door_->slack().calls(method);
    }
    return calls;
  }

  std::unique_ptr<FrontDoor> door_ = std::make_unique<FrontDoor>();
  const FrontDoor::Ids ids_ = door_->real_ids();
};

TEST_F(SlackEventsTest, StoresAnEventBeforeItAcknowledgesIt) {
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  EXPECT_EQ(door_->InboxSize(), 1u);
  EXPECT_EQ(door_->CounterOf("tidemark_events_total{result=\"accepted\"}"), 1);
}

// When our answer is late, Slack delivers the event again, with a new timestamp.
TEST_F(SlackEventsTest, AcknowledgesADuplicateAndStoresNothing) {
  const std::string body = FrontDoor::Message("Ev1", ids_);
  EXPECT_EQ(door_->Send(body, {.offset = -1}).status, 200);
  EXPECT_EQ(door_
                ->Send(body, {.more = {{"X-Slack-Retry-Num", "1"},
                                       {"X-Slack-Retry-Reason", "http_timeout"}}})
                .status,
            200);
  EXPECT_EQ(door_->InboxSize(), 1u);
  EXPECT_EQ(door_->CounterOf("tidemark_events_total{result=\"duplicate\"}"), 1);
  EXPECT_EQ(door_->CounterOf("tidemark_events_retries_total{reason=\"http_timeout\"}"), 1);
  EXPECT_THAT(door_->log(), HasSubstr("retry=1 reason=http_timeout"));
}

// Spec: 000-37
TEST_F(SlackEventsTest, RefusesRequestsThatSlackDidNotSignWithinTheWindow) {
  const std::string body = FrontDoor::Message("Ev1", ids_);
  std::vector<http::Response> refusals = {
      door_->Send(body, {.secret = "another secret"}),
      door_->Send(body, {.offset = -302}),
      // Far ahead, because a slow machine may need seconds to handle it. The exact limit of 300 s
      // is tested in signature_test.cc, with a clock that stands still.
      door_->Send(body, {.offset = 3600}),
      door_->Send(body, {.without_timestamp = true}),
      door_->Send(body, {.without_signature = true}),
      door_->Send(body, {.without_timestamp = true, .without_signature = true}),
      door_->Send("not even JSON", {.secret = "another secret"}),
  };
  for (const http::Response& response : refusals) {
    EXPECT_EQ(response.status, 401);
    EXPECT_EQ(response.body, refusals.front().body);
  }
  EXPECT_EQ(SlackCalls(), 0u);
  EXPECT_EQ(door_->InboxSize(), 0u);
  EXPECT_EQ(door_->QuarantineSize(), 0u);
  for (const std::string& table :
       {std::string(dedup::kDefaultTable), std::string("tidemark-events")}) {
    EXPECT_THAT(door_->tables().Scan({.table = table}).value().items, IsEmpty()) << table;
  }
  EXPECT_THAT(door_->log(), Not(HasSubstr("hello")));
}

// Somebody who recorded a request must not be able to send it again within the five minutes.
TEST_F(SlackEventsTest, RefusesAReplayOfTheSameBytes) {
  const std::string body = R"({"type":"url_verification","challenge":"c"})";
  const FrontDoor::Signing same_second = {.timestamp = SystemClock().NowSeconds() - 100};
  EXPECT_EQ(door_->Send(body, same_second).status, 200);
  EXPECT_EQ(door_->Send(body, same_second).status, 401);
}

// Spec: 000-38
TEST_F(SlackEventsTest, EchoesTheChallengeWithoutAnExistenceCheck) {
  const http::Response response =
      door_->Send(R"({"token":"t","challenge":"3eZbrw1aB","type":"url_verification"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "3eZbrw1aB");
  EXPECT_EQ(SlackCalls(), 0u);
}

TEST_F(SlackEventsTest, CountsTheMinutesThatSlackDidNotDeliver) {
  const http::Response response =
      door_->Send(R"({"token":"t","type":"app_rate_limited","team_id":"T123",)"
                  R"("minute_rate_limited":1518467820,"api_app_id":"A123"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(door_->CounterOf("tidemark_events_lost_minutes_total"), 1);
  EXPECT_THAT(door_->log(), HasSubstr("minute=1518467820"));
}

TEST_F(SlackEventsTest, AcknowledgesUnknownTypes) {
  EXPECT_EQ(door_->Send(R"({"type":"something_new","team_id":"T123"})").status, 200);
  EXPECT_EQ(door_->InboxSize(), 0u);
}

// The same request would be malformed again.
TEST_F(SlackEventsTest, TellsSlackNotToRetryAMalformedRequest) {
  const http::Response response = door_->Send("{");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.headers.Find("X-Slack-No-Retry"), "1");
}

// Spec: 000-27
TEST_F(SlackEventsTest, RefusesUnknownIdsWithTheSameAnswerAndLogsTheReason) {
  std::vector<http::Response> refusals;
  for (const FrontDoor::Ids& fake : {FrontDoor::Ids{"T0FAKE00", ids_.user, ids_.channel},
                                     FrontDoor::Ids{ids_.team, "U0FAKE00", ids_.channel},
                                     FrontDoor::Ids{ids_.team, ids_.user, "C0FAKE00"}}) {
    refusals.push_back(
        door_->Send(FrontDoor::Message("Ev" + std::to_string(refusals.size()), fake)));
    EXPECT_THAT(door_->log(), HasSubstr(fake.team));
    EXPECT_THAT(door_->log(), HasSubstr(fake.user));
    EXPECT_THAT(door_->log(), HasSubstr(fake.channel));
    EXPECT_EQ(door_->CounterOf("tidemark_gate_existence_failures_total"),
              static_cast<double>(refusals.size()));
  }
  for (const http::Response& response : refusals) {
    EXPECT_EQ(response.status, 403);
    EXPECT_EQ(response.body, refusals.front().body);
    EXPECT_THAT(response.body, Not(HasSubstr("not_found")));
    EXPECT_EQ(response.headers.Find("X-Slack-No-Retry"), "1");
  }
  EXPECT_EQ(door_->InboxSize(), 0u);
}

// Spec: 000-39
TEST_F(SlackEventsTest, RefusesATeamWithoutATokenUnlessTheSettingAllowsIt) {
  Restart([](api::ServiceOptions* options) {
    options->bot_token.reset();
    options->unknown = gate::UnknownPolicy::kRefuse;
  });
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 403);
  EXPECT_EQ(door_->InboxSize(), 0u);
  Restart([](api::ServiceOptions* options) {
    options->bot_token.reset();
    options->existence.missing_token = gate::MissingToken::kAllow;
  });
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  EXPECT_EQ(door_->InboxSize(), 1u);
  EXPECT_THAT(door_->log(), HasSubstr("skipped"));
}

// Spec: 000-29
TEST_F(SlackEventsTest, AnswersByTheDeadlineWhileSlacksWebApiHangs) {
  // On a slow machine the deadline may pass before the call reaches Slack. Then nothing has hung
  // yet, and the test is repeated with a longer deadline.
  std::chrono::milliseconds deadline(200);
  do {
    Restart([&](api::ServiceOptions* options) {
      options->unknown = gate::UnknownPolicy::kRefuse;
      options->existence.deadline = deadline;
      options->web_api.call_timeout = deadline;
    });
    door_->slack().Fail("users.info", {.kind = demo::FailureKind::kHang}, 100);
    EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 403);
    EXPECT_THAT(door_->log(), HasSubstr("reason=timeout"));
    EXPECT_EQ(door_->QuarantineSize(), 1u);
    deadline *= 4;
  } while (door_->slack().calls("users.info") == 0 && deadline < std::chrono::minutes(1));
  EXPECT_EQ(door_->slack().calls("users.info"), 1u);
}

// No signed event is lost: an event that could not be checked is checked again.
TEST_F(SlackEventsTest, PromotesFromQuarantineOnceSlackAnswersAgain) {
  Restart([](api::ServiceOptions* options) {
    options->quarantine.first_recheck = std::chrono::seconds(0);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kServerError}, 1);
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  EXPECT_EQ(door_->InboxSize(), 0u);
  EXPECT_EQ(door_->QuarantineSize(), 1u);
  ASSERT_TRUE(door_->service().WorkOnce());
  EXPECT_EQ(door_->InboxSize(), 1u);
  EXPECT_EQ(door_->QuarantineSize(), 0u);
}

// A claim of an API caller says nothing about what the archive has stored.
// Review: F2
TEST_F(SlackEventsTest, StoresAnEventWhoseIdACallerHasClaimedOrMarked) {
  const std::string claim =
      door_->Call(http::Method::kPost, "/api/v1/claims", R"({"key":"Ev1"})").body;
  ASSERT_EQ(door_->Call(http::Method::kPost, "/api/v1/claims/complete", claim).status, 200);
  ASSERT_EQ(door_->Call(http::Method::kPost, "/api/v1/claims/mark", R"({"key":"Ev2"})").status,
            200);
  for (const char* id : {"Ev1", "Ev2"}) {
    EXPECT_EQ(door_->Send(FrontDoor::Message(id, ids_)).status, 200);
  }
  EXPECT_EQ(door_->InboxSize(), 2u);
}

// Review: F2
TEST_F(SlackEventsTest, LetsABotClaimAnEventThatIsStored) {
  ASSERT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  EXPECT_THAT(door_->Call(http::Method::kPost, "/api/v1/claims", R"({"key":"Ev1"})").body,
              HasSubstr(R"("outcome":"new")"));
}

// The row of its claim says that it failed permanently. The copy in quarantine is the only one.
TEST_F(SlackEventsTest, KeepsAnEventInQuarantineWhenItsClaimHasFailed) {
  Restart([](api::ServiceOptions* options) {
    options->quarantine.first_recheck = std::chrono::seconds(0);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kServerError}, 1);
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  ASSERT_TRUE(door_->tables().Put(
      {.table = "tidemark-events", .item = {{"event_key", "Ev1"}, {"status", "failed"}}}));
  ASSERT_TRUE(door_->service().WorkOnce());
  EXPECT_EQ(door_->InboxSize(), 0u);
  EXPECT_EQ(door_->QuarantineSize(), 1u);
}

// README: direct messages are never kept. A private channel that was never public is the same.
// Neither may lie in quarantine, in the inbox or in the table of marks.
// Review: F8
TEST_F(SlackEventsTest, WritesNothingOfAConversationThatWasNeverPublic) {
  Restart([](api::ServiceOptions* options) {
    FrontDoor::WithArchive(options);
    options->work_url = "http://127.0.0.1:1/work";
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kServerError}, 100);
  const std::vector<std::pair<std::string, std::string>> conversations = {
      {"D0DIRECT0", "im"}, {"D0DIRECT0", "app_home"}, {"D0DIRECT0", ""},    {"G0GROUP00", "mpim"},
      {"G0GROUP00", ""},   {"C0SECRET0", "group"},    {"C0SECRET0", "mpim"}};
  for (size_t i = 0; i < conversations.size(); ++i) {
    const auto& [channel, type] = conversations[i];
    const std::string typed = R"(,"channel_type":")" + type + '"';
    EXPECT_EQ(door_
                  ->Send(FrontDoor::Message("Ev" + std::to_string(i),
                                            {ids_.team, ids_.user, channel}, typed))
                  .status,
              200);
  }
  EXPECT_EQ(door_->InboxSize(), 0u);
  EXPECT_EQ(door_->QuarantineSize(), 0u);
  EXPECT_THAT(door_->tables().Scan({.table = "tidemark-events"}).value().items, IsEmpty());
  EXPECT_EQ(door_->CounterOf("tidemark_events_total{result=\"not_public\"}"),
            static_cast<double>(conversations.size()));
}

// Events of a private channel that do not say so: its id does not tell it either.
class UntypedEventsTest : public SlackEventsTest {
 protected:
  UntypedEventsTest() {
    Restart([](api::ServiceOptions* options) {
      FrontDoor::WithArchive(options);
      options->work_url = "http://127.0.0.1:1/work";
    });
    door_->slack().Apply({.channels = {{.id = channel_,
                                        .name = "secret",
                                        .kind = demo::ChannelKind::kPrivate,
                                        .creator = ids_.user}}});
  }
  std::vector<std::string> Events(const std::string& prefix) const {
    const std::string ids = fmt::format(R"("user":"{}","channel":"{}")", ids_.user, channel_);
    const std::string item =
        fmt::format(R"("item":{{"type":"message","channel":"{}","ts":"1700000000.000100",)"
                    R"("message":{{"ts":"1700000000.000100","text":"secret"}}}})",
                    channel_);
    const std::string at = R"("event_ts":"1700000000.000100","ts":"1700000000.000100")";
    std::vector<std::string> events;
    for (const std::string& event :
         {fmt::format(R"({{"type":"message",{},{},"text":"secret"}})", ids, at),
          fmt::format(R"({{"type":"app_mention",{},{},"text":"secret"}})", ids, at),
          fmt::format(R"({{"type":"reaction_added","user":"{}","reaction":"tada",{},{}}})",
                      ids_.user, item, at),
          fmt::format(R"({{"type":"pin_added","user":"{}","channel_id":"{}",{},{}}})", ids_.user,
                      channel_, item, at),
          fmt::format(R"({{"type":"member_joined_channel",{},{},"channel_type":"C"}})", ids, at),
          fmt::format(R"({{"type":"channel_unarchive",{},{}}})", ids, at),
          fmt::format(R"({{"type":"channel_rename","channel":{{"id":"{}","name":"secret"}},{}}})",
                      channel_, at)}) {
      events.push_back(
          FrontDoor::Callback(fmt::format("{}{}", prefix, events.size()), ids_, event));
    }
    return events;
  }
  void ExpectNoTrace() {
    EXPECT_EQ(door_->InboxSize(), 0u);
    EXPECT_EQ(door_->QuarantineSize(), 0u);
    EXPECT_THAT(door_->Archived(), IsEmpty());
    EXPECT_THAT(door_->tables().Scan({.table = "tidemark-events"}).value().items, IsEmpty());
  }
  // Nothing but the mark that the whole team lacks a minute.
  void ExpectAGapWithoutATrace() {
    EXPECT_EQ(door_->InboxSize(), 0u);
    EXPECT_EQ(door_->QuarantineSize(), 0u);
    EXPECT_THAT(door_->tables().Scan({.table = "tidemark-events"}).value().items, IsEmpty());
    EXPECT_EQ(door_->Archived().size(), 1u);
    const std::string coverage =
        door_->Call(http::Method::kGet, "/api/v1/teams/" + ids_.team + "/coverage").body;
    EXPECT_THAT(coverage, HasSubstr("could not be verified"));
    EXPECT_THAT(coverage, Not(HasSubstr(channel_)));
  }

  const std::string channel_ = "C0SECRET0";
};

// Review: F8
TEST_F(UntypedEventsTest, LeaveNoTraceWhenTheirChannelIsPrivate) {
  for (const std::string& event : Events("EvA")) EXPECT_EQ(door_->Send(event).status, 200) << event;
  ExpectNoTrace();
  // From the gate's table.
  for (const std::string& event : Events("EvB")) EXPECT_EQ(door_->Send(event).status, 200) << event;
  ExpectNoTrace();
  EXPECT_EQ(door_->CounterOf("tidemark_events_total{result=\"not_public\"}"), 14);
}

// Their names begin with channel_, as if the channel were public. It must not count as public for
// them: then the messages of its members would be kept from now on.
TEST_F(UntypedEventsTest, OfAPrivateChannelDoNotMakeItPublic) {
  const std::string at = R"("event_ts":"1700000000.000100")";
  int number = 0;
  for (const char* type :
       {"channel_archive", "channel_unarchive", "channel_deleted", "channel_left", "channel_topic",
        "channel_shared", "channel_history_changed"}) {
    const std::string event =
        fmt::format(R"({{"type":"{}","channel":"{}","topic":"secret",{}}})", type, channel_, at);
    EXPECT_EQ(door_->Send(FrontDoor::Callback(fmt::format("EvN{}", ++number), ids_, event)).status,
              200);
  }
  for (const char* type : {"channel_rename", "channel_created"}) {
    const std::string event = fmt::format(
        R"({{"type":"{}","channel":{{"id":"{}","name":"secret"}},{}}})", type, channel_, at);
    EXPECT_EQ(door_->Send(FrontDoor::Callback(fmt::format("EvN{}", ++number), ids_, event)).status,
              200);
  }
  EXPECT_EQ(door_
                ->Send(FrontDoor::Message("EvMessage", {ids_.team, ids_.user, channel_},
                                          R"(,"channel_type":"group")"))
                .status,
            200);
  ExpectNoTrace();
}

// Nobody can say whether the channel is public, so Slack has to send the event again.
// Review: F8
TEST_F(UntypedEventsTest, LeaveNoTraceWhenSlackCannotBeAsked) {
  door_->slack().Fail("conversations.info", {.kind = demo::FailureKind::kServerError}, 100);
  for (const std::string& event : Events("EvA")) EXPECT_EQ(door_->Send(event).status, 500) << event;
  ExpectNoTrace();
}

// After that Slack would not send them again. The gap names no channel, which may be private.
TEST_F(UntypedEventsTest, BecomeAGapOfTheTeamOnTheirLastDelivery) {
  door_->slack().Fail("conversations.info", {.kind = demo::FailureKind::kServerError}, 100);
  for (const char* retry : {"1", "2"}) {
    EXPECT_EQ(door_->Send(Events("EvA")[1], {.more = {{"X-Slack-Retry-Num", retry}}}).status, 500);
  }
  ExpectNoTrace();
  for (const std::string& event : Events("EvA")) {
    EXPECT_EQ(door_->Send(event, {.more = {{"X-Slack-Retry-Num", "3"}}}).status, 200) << event;
  }
  ExpectAGapWithoutATrace();
  EXPECT_THAT(door_->log(), HasSubstr("reason=api_error event=EvA0"));
  EXPECT_EQ(door_->CounterOf("tidemark_events_total{result=\"lost\"}"), 7);
}

// A retry would not find a token either.
TEST_F(UntypedEventsTest, BecomeAGapOfTheTeamAtOnceWithoutAToken) {
  Restart([](api::ServiceOptions* options) {
    FrontDoor::WithArchive(options);
    options->work_url = "http://127.0.0.1:1/work";
    options->bot_token.reset();
  });
  for (const std::string& event : Events("EvA")) EXPECT_EQ(door_->Send(event).status, 200) << event;
  ExpectAGapWithoutATrace();
  EXPECT_THAT(door_->log(), HasSubstr("reason=no_token event=EvA0"));
}

// It is checked again there, like a refused event that names the type of its channel.
TEST_F(UntypedEventsTest, OfAPublicChannelGoToQuarantineWhenTheyAreRefused) {
  const FrontDoor::Ids ids = {ids_.team, "U0NOBODY", ids_.channel};
  const std::string mention =
      fmt::format(R"({{"type":"app_mention","user":"{}","channel":"{}","text":"hello",)"
                  R"("ts":"1700000000.000100","event_ts":"1700000000.000100"}})",
                  ids.user, ids.channel);
  EXPECT_EQ(door_->Send(FrontDoor::Callback("Ev1", ids, mention)).status, 403);
  EXPECT_EQ(door_->QuarantineSize(), 1u);
}

// What the check that ends the quarantine says of the channel counts, also when the gate's table
// does not have it: the only copy of the event would be deleted.
TEST_F(UntypedEventsTest, OfAPublicChannelArePromotedWithoutTheGatesTable) {
  Restart([](api::ServiceOptions* options) {
    FrontDoor::WithArchive(options);
    options->lists = false;
    options->existence.table.clear();
    options->quarantine.first_recheck = std::chrono::seconds(0);
  });
  const std::string mention =
      fmt::format(R"({{"type":"app_mention","user":"{}","channel":"{}","text":"hello",)"
                  R"("ts":"1700000000.000100","event_ts":"1700000000.000100"}})",
                  ids_.user, ids_.channel);
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kServerError}, 2);
  ASSERT_EQ(door_->Send(FrontDoor::Callback("Ev1", ids_, mention)).status, 200);
  ASSERT_EQ(door_->QuarantineSize(), 1u);
  ASSERT_TRUE(door_->service().WorkOnce());
  EXPECT_EQ(door_->QuarantineSize(), 0u);
  EXPECT_EQ(door_->CounterOf("tidemark_events_total{result=\"accepted\"}"), 1);
}

// Review: F8
TEST_F(UntypedEventsTest, AreKeptWhenTheirChannelWasPublic) {
  ASSERT_EQ(door_->Send(FrontDoor::Message("Ev1", {ids_.team, ids_.user, channel_})).status, 200);
  for (const std::string& event : Events("EvA")) EXPECT_EQ(door_->Send(event).status, 200) << event;
  EXPECT_EQ(door_->InboxSize(), 1u + Events("").size());
}

// Review: F8
TEST_F(SlackEventsTest, KeepsAPrivateChannelThatWasPublicBefore) {
  Restart(FrontDoor::WithArchive);
  ASSERT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_, R"(,"channel_type":"channel")")).status,
            200);
  const size_t rows = door_->Archived().size();
  const std::string event = R"({"type":"message","channel_type":"group","user":")" + ids_.user +
                            R"(","channel":")" + ids_.channel +
                            R"(","ts":"1700000001.000100","text":"later"})";
  EXPECT_EQ(door_->Send(FrontDoor::Callback("Ev2", ids_, event)).status, 200);
  EXPECT_GT(door_->Archived().size(), rows);
}

// The first part of an outage: nothing can be checked, and Slack must not turn the app off. The
// second part: the event could not be checked for a day. It is not dropped without a notice.
// Review: F3
TEST_F(SlackEventsTest, AnEventThatIsNeverVerifiedBecomesAKnownGap) {
  Restart([](api::ServiceOptions* options) {
    FrontDoor::WithArchive(options);
    options->lists = false;
    options->quarantine.first_recheck = std::chrono::seconds(0);
    options->quarantine.life = std::chrono::seconds(0);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kServerError}, 100);
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  ASSERT_TRUE(door_->service().WorkOnce());
  EXPECT_EQ(door_->CounterOf("tidemark_gate_given_up_total"), 1);
  EXPECT_THAT(door_->log(), HasSubstr("key=" + ids_.team + ":Ev1"));
  EXPECT_THAT(door_
                  ->Call(http::Method::kGet,
                         "/api/v1/teams/" + ids_.team + "/channels/" + ids_.channel + "/coverage")
                  .body,
              HasSubstr("could not be verified"));
  EXPECT_EQ(door_->QuarantineSize(), 1u) << "the bytes are gone";
  EXPECT_THAT(door_->Call(http::Method::kGet, "/api/v1/quarantine").body, HasSubstr("given_up_at"));
}

// 250 events of one unknown channel while Slack's Web API hangs: they share one set of calls, and
// none of them holds a worker. So a claim beside them is answered although there is only one.
// Review: F7
TEST_F(SlackEventsTest, EventsThatWaitForSlackHoldNoWorker) {
  Restart([](api::ServiceOptions* options) {
    options->workers = 1;
    options->existence.deadline = std::chrono::minutes(5);
    options->web_api.call_timeout = std::chrono::minutes(5);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kHang}, 1);
  constexpr int kEvents = 250;
  std::vector<std::future<int>> events;
  for (int i = 0; i < kEvents; ++i) {
    events.push_back(std::async(std::launch::async, [&, i] {
      return door_->Send(FrontDoor::Message("Ev" + std::to_string(i), ids_)).status;
    }));
  }
  door_->slack().AwaitHanging(1);
  auto claim = std::async(std::launch::async, [&] {
    return door_->Call(http::Method::kPost, "/api/v1/claims", R"({"key":"k"})").status;
  });
  if (claim.wait_for(FrontDoor::kLongEnough) != std::future_status::ready) {
    door_->slack().Release();
    FAIL() << "the events hold the only worker while they wait for Slack";
  }
  EXPECT_EQ(claim.get(), 200);
  // All of them are claimed, and none is answered: they wait, and the only worker is free.
  while (door_->tables().Scan({.table = "tidemark-events"}).value().items.size() < kEvents) {
    std::this_thread::yield();
  }
  EXPECT_EQ(door_->Call(http::Method::kPost, "/api/v1/claims", R"({"key":"l"})").status, 200);
  EXPECT_EQ(door_->InboxSize(), 0u);
  door_->slack().Release();
  for (std::future<int>& event : events) EXPECT_EQ(event.get(), 200);
  EXPECT_EQ(door_->slack().calls("users.info"), 1u);
  EXPECT_EQ(door_->InboxSize(), static_cast<size_t>(kEvents));
}

// Two callers who ask about a channel while Slack's Web API hangs hold none of the workers, of
// which there is one. Review: F7
TEST_F(SlackEventsTest, QuestionsAboutExistenceHoldNoWorkerWhileSlackHangs) {
  Restart([](api::ServiceOptions* options) {
    options->workers = 1;
    options->existence.deadline = std::chrono::minutes(5);
    options->web_api.call_timeout = std::chrono::minutes(5);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kHang}, 2);
  const std::string path = "/api/v1/existence?team=" + ids_.team + "&user=";
  std::vector<std::future<int>> questions;
  for (const std::string& user : {ids_.user, std::string("U0NOBODY0")}) {
    questions.push_back(std::async(std::launch::async, [&, user] {
      return door_->Call(http::Method::kGet, path + user).status;
    }));
  }
  door_->slack().AwaitHanging(1);
  auto claim = std::async(std::launch::async, [&] {
    return door_->Call(http::Method::kPost, "/api/v1/claims", R"({"key":"k"})").status;
  });
  EXPECT_EQ(claim.wait_for(FrontDoor::kLongEnough), std::future_status::ready)
      << "the questions hold the only worker while they wait for Slack";
  door_->slack().Release();
  EXPECT_EQ(claim.get(), 200);
  for (std::future<int>& question : questions) EXPECT_EQ(question.get(), 200);
}

// A check may take seconds, and the events of a whole day may be due when the program stops.
TEST_F(SlackEventsTest, RechecksNothingAfterStop) {
  Restart([](api::ServiceOptions* options) {
    options->quarantine.first_recheck = std::chrono::seconds(0);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kServerError}, 1);
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  const uint64_t calls = SlackCalls();
  door_->service().Stop(std::chrono::milliseconds(0));
  ASSERT_TRUE(door_->service().WorkOnce());
  EXPECT_EQ(SlackCalls(), calls);
  EXPECT_EQ(door_->QuarantineSize(), 1u);
}

// If the retry got a 200 and the first delivery failed, the event would be lost.
TEST_F(SlackEventsTest, DoesNotAcknowledgeARetryWhileTheFirstDeliveryIsUnderWay) {
  // Longer than the retry takes on any machine: the first delivery must not time out before it.
  Restart([](api::ServiceOptions* options) {
    options->existence.deadline = std::chrono::minutes(1);
    options->web_api.call_timeout = std::chrono::minutes(1);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kHang}, 1);
  const std::string body = FrontDoor::Message("Ev1", ids_);
  auto first =
      std::async(std::launch::async, [&] { return door_->Send(body, {.offset = -1}).status; });
  door_->slack().AwaitHanging(1);
  EXPECT_EQ(door_->Send(body).status, 503);
  door_->slack().Release();
  EXPECT_EQ(first.get(), 200);
  EXPECT_EQ(door_->InboxSize(), 1u);
}

// Cached rows are void at once when an event says so, not only after five minutes.
TEST_F(SlackEventsTest, RefusesADeactivatedUserAtOnce) {
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  door_->slack().Deactivate(ids_.user);
  EXPECT_EQ(door_
                ->Send(R"({"type":"event_callback","team_id":")" + ids_.team +
                       R"(","event_id":"Ev2","event":{"type":"user_change","user":{"id":")" +
                       ids_.user + R"(","deleted":true}}})")
                .status,
            200);
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev3", ids_)).status, 403);
}

// Even if all its ids were verified a moment ago.
TEST_F(SlackEventsTest, AnEventThatEndsSomethingTakesTheClaimedPath) {
  const std::string archived = R"(,"subtype":"channel_archive")";
  for (const char* number : {"1", "2"}) {
    EXPECT_EQ(door_->Send(FrontDoor::Message(std::string("EvM") + number, ids_)).status, 200);
    EXPECT_EQ(door_->Send(FrontDoor::Message(std::string("EvA") + number, ids_, archived)).status,
              200);
  }
  EXPECT_EQ(door_->Send(FrontDoor::Message("EvM3", ids_)).status, 200);
  // Once at first, and once after each of the two archive events.
  EXPECT_EQ(door_->slack().calls("conversations.info"), 3U);
}

// Slack's next delivery comes at once. It must not be refused until a lease ends.
TEST_F(SlackEventsTest, AFailedDeliveryReleasesItsClaim) {
  const std::string body = FrontDoor::Message("Ev1", ids_);
  door_->faults().decide = [](Operation operation) -> std::optional<Fault> {
    if (operation != Operation::kTransact) return std::nullopt;
    return Throttled();
  };
  EXPECT_EQ(door_->Send(body).status, 500);
  door_->faults().decide = nullptr;
  EXPECT_EQ(door_->Send(body, {.offset = 1}).status, 200);
  EXPECT_EQ(door_->InboxSize(), 1U);
}

TEST_F(SlackEventsTest, AcceptsTheEventThatRevokesItsOwnToken) {
  door_->slack().RevokeToken();
  EXPECT_EQ(door_
                ->Send(R"({"type":"event_callback","team_id":")" + ids_.team +
                       R"(","event_id":"Ev2","event":{"type":"tokens_revoked",)"
                       R"("tokens":{"bot":["U1"]}}})")
                .status,
            200);
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev3", ids_)).status, 200);
  EXPECT_EQ(door_->QuarantineSize(), 1u) << "without a token nothing can be checked";
}

// Somebody who reads the log must not learn the secrets of Slack, of the bot or of an API caller.
TEST_F(SlackEventsTest, LogsNeitherSecretsNorMessages) {
  door_->Send(FrontDoor::Message("Ev1", ids_));
  door_->Send(FrontDoor::Message("Ev2", {ids_.team, "U0FAKE00", ids_.channel}));
  door_->Send(FrontDoor::Message("Ev3", ids_), {.secret = "another secret"});
  door_->Call(http::Method::kGet, "/api/v1/existence?team=" + ids_.team);
  const std::string log = door_->log();
  ASSERT_THAT(log, HasSubstr("gate refused"));
  for (const std::string& secret :
       {std::string(FrontDoor::kSigningSecret), std::string(FrontDoor::kBotToken), door_->token(),
        std::string("v0="), std::string("hello")}) {
    EXPECT_THAT(log, Not(HasSubstr(secret)));
  }
}

}  // namespace
}  // namespace tidemark::testing
