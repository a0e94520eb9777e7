// POST /slack/events from the socket to the disk and back, with real sockets and files and a
// pretend Slack that is stricter than the original.
#include <future>
#include <vector>

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
  // Whatever else a test shows, no call to Slack was out of shape.
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

// Slack delivers an event again when its answer was late, with a new timestamp.
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
TEST_F(SlackEventsTest, RefusesWhatSlackDidNotSignJustNowWithoutLookingAtIt) {
  const std::string body = FrontDoor::Message("Ev1", ids_);
  std::vector<http::Response> refusals = {
      door_->Send(body, {.secret = "another secret"}),
      door_->Send(body, {.offset = -302}),
      door_->Send(body, {.offset = 302}),
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
  const auto claims = door_->tables().Scan({.table = std::string(dedup::kDefaultTable)});
  EXPECT_THAT(claims.value().items, IsEmpty());
  EXPECT_THAT(door_->log(), Not(HasSubstr("hello")));
}

// Whoever records a request must not be able to play it again within the five minutes.
TEST_F(SlackEventsTest, RefusesTheSameBytesASecondTime) {
  const std::string body = R"({"type":"url_verification","challenge":"c"})";
  EXPECT_EQ(door_->Send(body, {.offset = -100}).status, 200);
  // Another second may have begun between the two, and with it another signature.
  int last = 0;
  for (int i = 0; i < 3 && last != 401; ++i) {
    door_->Send(body);
    last = door_->Send(body).status;
  }
  EXPECT_EQ(last, 401);
}

// Spec: 000-38
TEST_F(SlackEventsTest, EchoesTheChallengeAndChecksNothing) {
  const http::Response response =
      door_->Send(R"({"token":"t","challenge":"3eZbrw1aB","type":"url_verification"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "3eZbrw1aB");
  EXPECT_EQ(SlackCalls(), 0u);
}

TEST_F(SlackEventsTest, CountsTheMinutesThatSlackDidNotSend) {
  const http::Response response =
      door_->Send(R"({"token":"t","type":"app_rate_limited","team_id":"T123",)"
                  R"("minute_rate_limited":1518467820,"api_app_id":"A123"})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(door_->CounterOf("tidemark_events_lost_minutes_total"), 1);
  EXPECT_THAT(door_->log(), HasSubstr("minute=1518467820"));
}

TEST_F(SlackEventsTest, AcknowledgesKindsThatAreNotKnown) {
  EXPECT_EQ(door_->Send(R"({"type":"something_new","team_id":"T123"})").status, 200);
  EXPECT_EQ(door_->InboxSize(), 0u);
}

// It will be no better the next time.
TEST_F(SlackEventsTest, TellsSlackNotToSendAgainWhatIsNoEvent) {
  const http::Response response = door_->Send("{");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.headers.Find("X-Slack-No-Retry"), "1");
}

// Spec: 000-27
TEST_F(SlackEventsTest, RefusesIdsThatDoNotExistAlikeAndSaysWhyOnlyInTheLog) {
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
TEST_F(SlackEventsTest, RefusesATeamWithoutATokenUnlessToldToLetItPass) {
  Restart([](api::ServiceOptions* options) { options->bot_token.reset(); });
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
TEST_F(SlackEventsTest, AnswersInTimeWhileSlacksWebApiHangs) {
  Restart([](api::ServiceOptions* options) {
    options->existence.deadline = std::chrono::milliseconds(200);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kHang}, 100);
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 403);
  EXPECT_THAT(door_->log(), HasSubstr("reason=timeout"));
  EXPECT_EQ(door_->slack().calls("users.info"), 1u);
  EXPECT_EQ(door_->QuarantineSize(), 1u);
}

// Nothing that Slack signed is lost: what could not be checked is checked again.
TEST_F(SlackEventsTest, PromotesFromQuarantineOnceSlackAnswersAgain) {
  Restart([](api::ServiceOptions* options) {
    options->unknown = gate::UnknownPolicy::kQuarantine;
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

// Each check may take seconds, and a day's events may be due when the program is told to end.
TEST_F(SlackEventsTest, ChecksNothingAgainOnceItStops) {
  Restart([](api::ServiceOptions* options) {
    options->quarantine.first_recheck = std::chrono::seconds(0);
  });
  door_->slack().Fail("users.info", {.kind = demo::FailureKind::kServerError}, 1);
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev1", ids_)).status, 403);
  const uint64_t calls = SlackCalls();
  door_->service().Stop(std::chrono::milliseconds(0));
  ASSERT_TRUE(door_->service().WorkOnce());
  EXPECT_EQ(SlackCalls(), calls);
  EXPECT_EQ(door_->QuarantineSize(), 1u);
}

// A 200 to the retry would lose the event should the first delivery fail.
TEST_F(SlackEventsTest, DoesNotAcknowledgeARetryWhileTheFirstDeliveryIsUnderWay) {
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

// Trust that was cached ends with the event that ends it, not five minutes later.
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

// Also when all that it names was verified a moment ago.
TEST_F(SlackEventsTest, AnEventThatEndsSomethingTakesTheLongWay) {
  const std::string archived = R"(,"subtype":"channel_archive")";
  for (const char* number : {"1", "2"}) {
    EXPECT_EQ(door_->Send(FrontDoor::Message(std::string("EvM") + number, ids_)).status, 200);
    EXPECT_EQ(door_->Send(FrontDoor::Message(std::string("EvA") + number, ids_, archived)).status,
              200);
  }
  EXPECT_EQ(door_->Send(FrontDoor::Message("EvM3", ids_)).status, 200);
  // Once at first, and once after each time that it was said to be archived.
  EXPECT_EQ(door_->slack().calls("conversations.info"), 3U);
}

// Slack's next delivery comes at once: it must not wait for the end of a lease.
TEST_F(SlackEventsTest, AFailedDeliveryLeavesNoClaimBehind) {
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
  EXPECT_EQ(door_->Send(FrontDoor::Message("Ev3", ids_)).status, 403);
}

// Whoever reads the log must not be able to pass for Slack, for the bot, or for a caller.
TEST_F(SlackEventsTest, WritesNoSecretAndNoMessageIntoItsLog) {
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
