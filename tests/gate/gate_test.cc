// The steps of the gate: who is authentic, what an event ends, and what is said about refusals.
#include <string>

#include <gtest/gtest.h>

#include "tests/gate/gate_stage.h"
#include "tests/support/threads.h"

namespace tidemark::gate {

using namespace testing;
using slack::LookupOutcome;

constexpr char kBody[] = R"({"type":"event_callback","text":"words of a user"})";

TEST(GateTest, ASignedRequestIsAuthentic) {
  GateStage stage;
  Authentication authentication = stage.Authenticate(stage.Sign(kBody));
  EXPECT_TRUE(authentication.authentic);
  EXPECT_EQ(authentication.secret_id, "current");
  EXPECT_TRUE(stage.Log().empty());
}

// The server makes the same 401 of all of them.
// Spec: 000-37
TEST(GateTest, WhatSlackDidNotSignJustNowIsRefusedBeforeAnythingElse) {
  GateStage stage;
  Delivery bad = stage.Sign(kBody);
  bad.signature.back() = bad.signature.back() == '0' ? '1' : '0';
  Delivery changed = stage.Sign(kBody);
  changed.body += " ";
  const Delivery good = stage.Sign(kBody);
  const std::vector<std::pair<std::string, slack::SignedRequest>> refused = {
      {"mismatch", bad.View()},
      {"mismatch", changed.View()},
      {"missing_header", {.timestamps = {good.timestamp}, .body = good.body}},
      {"missing_header", {.signatures = {good.signature}, .body = good.body}},
      {"missing_header", {.body = good.body}},
      {"repeated_header",
       {.timestamps = {good.timestamp, good.timestamp},
        .signatures = {good.signature},
        .body = good.body}}};
  for (const auto& [reason, request] : refused) {
    Authentication authentication = stage.gate->Authenticate(request, "request-1");
    EXPECT_FALSE(authentication.authentic);
    EXPECT_EQ(authentication.reason, reason);
  }
  EXPECT_EQ(stage.Authenticate(stage.Sign(kBody, -301)).reason, "stale");
  EXPECT_EQ(stage.Authenticate(stage.Sign(kBody, 301)).reason, "future");
  EXPECT_EQ(stage.Metric("tidemark_gate_signature_failures_total"), 8);
  EXPECT_EQ(stage.LogLines("gate refused decision=unauthenticated"), 8U);
  EXPECT_EQ(stage.reads + stage.writes + stage.slack.sets(), 0);

  EXPECT_TRUE(stage.Authenticate(stage.Sign(kBody, -300)).authentic);
  EXPECT_TRUE(stage.Authenticate(stage.Sign(kBody, 300)).authentic);
}

TEST(GateTest, ABodyThatIsTooLargeIsNotEvenHashed) {
  GateStage stage({}, {.max_body_bytes = 10});
  EXPECT_EQ(stage.Authenticate(stage.Sign("12345678901")).reason, "body_too_large");
  EXPECT_TRUE(stage.Authenticate(stage.Sign("1234567890")).authentic);
}

// Its challenge is the server's to echo; nothing else is to be done for it.
// Spec: 000-38
TEST(GateTest, AUrlVerificationNeedsNoExistenceCheck) {
  GateStage stage;
  Delivery delivery = stage.Sign(R"({"type":"url_verification","challenge":"abc123"})");
  EXPECT_TRUE(stage.Authenticate(delivery).authentic);
  slack::Envelope envelope = slack::ParseEnvelope(delivery.body).value();
  EXPECT_EQ(std::get<slack::UrlVerification>(envelope).challenge, "abc123");
  EXPECT_EQ(stage.reads + stage.writes + stage.slack.sets(), 0);
}

// Who overhears a request could send it again, as often as they like, for five minutes.
TEST(GateTest, TheSameBytesAreLetInOnce) {
  GateStage stage;
  const Delivery delivery = stage.Sign(kBody, 300);
  EXPECT_TRUE(stage.Authenticate(delivery).authentic);
  EXPECT_EQ(stage.Authenticate(delivery).reason, "replayed");
  stage.clock.Advance(std::chrono::seconds(600));  // The last second in which it is valid.
  EXPECT_EQ(stage.Authenticate(delivery).reason, "replayed");
  stage.clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(stage.Authenticate(delivery).reason, "stale");
  EXPECT_EQ(stage.Metric("tidemark_gate_replays_total"), 2);
}

// Slack sends an event again with a new timestamp, and so with a new signature.
TEST(GateTest, SlacksOwnRetryIsNoReplay) {
  GateStage stage;
  EXPECT_TRUE(stage.Authenticate(stage.Sign(kBody)).authentic);
  stage.clock.Advance(std::chrono::seconds(10));
  EXPECT_TRUE(stage.Authenticate(stage.Sign(kBody)).authentic);
}

TEST(GateTest, WhatWasNotAcknowledgedMayComeAgain) {
  GateStage stage;
  const Delivery delivery = stage.Sign(kBody);
  stage.gate->Forget(stage.Authenticate(delivery));
  EXPECT_TRUE(stage.Authenticate(delivery).authentic);
  // A refusal has nothing to be forgotten: else a replay would clear its own way.
  stage.gate->Forget(stage.Authenticate(delivery));
  EXPECT_EQ(stage.Authenticate(delivery).reason, "replayed");
}

TEST(GateTest, AFullMemoryOfReplaysRefuses) {
  GateStage stage({}, {.max_replay_entries = 2});
  const Delivery first = stage.Sign("1");
  EXPECT_TRUE(stage.Authenticate(first).authentic);
  EXPECT_TRUE(stage.Authenticate(stage.Sign("2")).authentic);
  const Delivery third = stage.Sign("3", 300);
  EXPECT_EQ(stage.Authenticate(third).reason, "replay_memory_full");
  EXPECT_EQ(stage.Authenticate(first).reason, "replayed");
  stage.clock.Advance(std::chrono::seconds(605));
  EXPECT_TRUE(stage.Authenticate(stage.Sign("4")).authentic);
}

TEST(GateTest, OfManyAtOnceWithTheSameBytesOneIsLetIn) {
  GateStage stage;
  const Delivery delivery = stage.Sign(kBody);
  std::atomic<int> let_in = 0;
  RunThreads(16, [&](int) { let_in += stage.Authenticate(delivery).authentic ? 1 : 0; });
  EXPECT_EQ(let_in, 1);
}

// Spec: 000-39
TEST(GateTest, WithoutATokenStrictRefusesAndLenientSkips) {
  GateStage strict;
  strict.tokens.Set(std::nullopt);
  EXPECT_EQ(strict.gate->CheckExistence(Message(), "request-1"), Refused(Reason::kNoToken));
  EXPECT_EQ(strict.LogLines("gate refused decision=deny reason=no_token"), 1U);

  GateStage lenient({.existence = {.missing_token = MissingToken::kAllow}});
  lenient.tokens.Set(std::nullopt);
  EXPECT_EQ(lenient.gate->CheckExistence(Message(), "request-1"), Allowed(Reason::kSkipped));
  EXPECT_EQ(lenient.LogLines("existence check skipped"), 1U);
  EXPECT_EQ(lenient.LogLines("gate refused"), 0U);

  for (GateStage* stage : {&strict, &lenient}) {
    EXPECT_EQ(stage->slack.sets(), 0);
    EXPECT_TRUE(stage->AllRows(std::string(kDefaultCacheTable)).empty());
  }
}

TEST(GateTest, AnUnknownVerdictIsAuditedAsSuch) {
  GateStage stage;
  stage.slack.Set(kUser, LookupOutcome::kTimeout, "no answer in time");
  EXPECT_EQ(stage.gate->CheckExistence(Message(), "request-1"), NotKnown(Reason::kTimeout));
  EXPECT_EQ(stage.LogLines("gate refused decision=unknown reason=timeout"), 1U);
  EXPECT_EQ(stage.Metric("tidemark_gate_verdicts_total{decision=\"unknown\"}"), 1);
}

// Whoever reads the log must learn neither what was said nor how to sign.
TEST(GateTest, TheAuditHasNeitherBodyNorTokenNorSignature) {
  GateStage stage;
  const Delivery delivery = stage.Sign(kBody);
  stage.Authenticate(delivery);
  stage.Authenticate(delivery);
  stage.slack.Set(kUser, LookupOutcome::kNotFound);
  stage.gate->CheckExistence(Message(), "request-1");
  EXPECT_EQ(stage.LogLines("gate refused"), 2U);
  for (const std::string secret : {"words of a user", "hello", "xoxb", "v0="}) {
    EXPECT_EQ(stage.Log().find(secret), std::string::npos) << secret;
  }
}

// ---- Events that end something ----

slack::EventCallback Ending(const std::string& type) {
  slack::EventCallback callback = Message();
  callback.event = {.type = type, .user = kUser, .channel = kChannel};
  return callback;
}

// What was verified before the event must not let anybody in after it.
TEST(GateTest, AnEventThatEndsSomethingTakesEffectAtOnce) {
  std::vector<slack::EventCallback> endings;
  for (const char* type : {"tokens_revoked", "app_uninstalled", "team_access_revoked",
                           "channel_deleted", "channel_archive", "channel_left",
                           "channel_id_changed", "group_deleted", "group_archive", "group_left"}) {
    endings.push_back(Ending(type));
  }
  endings.push_back(Ending("user_change"));
  endings.back().event.user_deleted = true;
  endings.push_back(Ending("message"));
  endings.back().event.subtype = "channel_archive";
  endings.push_back(Ending("channel_id_changed"));
  endings.back().event.old_channel = kChannel;
  endings.back().event.channel = "C09";
  for (const slack::EventCallback& ending : endings) {
    GateStage stage;
    stage.gate->CheckExistence(Message(), "1");
    ASSERT_TRUE(stage.gate->Notice(ending));
    EXPECT_EQ(stage.AnotherProcess()->Check(Triple()), Allowed(Reason::kVerified))
        << ending.event.type;
    EXPECT_EQ(stage.slack.sets(), 2) << ending.event.type;
  }
}

TEST(GateTest, OtherEventsEndNothing) {
  GateStage stage;
  for (const char* type : {"message", "channel_created", "user_change", "member_joined_channel"}) {
    ASSERT_TRUE(stage.gate->Notice(Ending(type)));
  }
  slack::EventCallback bad = Ending("channel_deleted");
  bad.event.channel = "C1#U1";
  ASSERT_TRUE(stage.gate->Notice(bad));
  EXPECT_EQ(stage.writes, 0);
}

// It must not be acknowledged then: Slack would not send it again.
TEST(GateTest, AnEndThatCouldNotBeStoredIsAnError) {
  GateStage stage;
  stage.fault = [](Operation) { return std::optional(Throttled()); };
  Status noticed = stage.gate->Notice(Ending("tokens_revoked"));
  ASSERT_FALSE(noticed);
  EXPECT_EQ(noticed.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(noticed.error().message.find(kTeam), std::string::npos);
}

// Genuine events about what is gone would fail the check, and Slack would stop sending.
TEST(GateTest, AnEventAboutWhatIsGoneIsLetIn) {
  for (const char* type :
       {"channel_deleted", "group_deleted", "channel_left", "group_left", "channel_id_changed"}) {
    GateStage stage({.existence = {.refuse_archived_channels = true}});
    stage.slack.Set(kChannel, LookupOutcome::kNotFound);
    EXPECT_EQ(stage.gate->CheckExistence(Ending(type), "1"), Allowed(Reason::kVerified)) << type;
  }
  for (const char* type : {"tokens_revoked", "app_uninstalled"}) {
    GateStage stage;
    stage.slack.SetAll(LookupOutcome::kApiError);
    EXPECT_EQ(stage.gate->CheckExistence(Ending(type), "1"), Allowed(Reason::kNothingToVerify));
    EXPECT_EQ(stage.slack.sets(), 0);
  }
  GateStage stage;
  slack::EventCallback deactivated = Ending("user_change");
  deactivated.event.user_deleted = true;
  stage.slack.Set(kUser, LookupOutcome::kInactive);
  EXPECT_EQ(stage.gate->CheckExistence(deactivated, "1"), Allowed(Reason::kVerified));
}

TEST(GateTest, UsersThatAreNobodyAreNotLookedUp) {
  for (const char* user : {"USLACKBOT", "UREVOKEDU", ""}) {
    GateStage stage;
    stage.slack.Set(user, LookupOutcome::kNotFound);
    slack::EventCallback callback = Message();
    callback.event.user = user;
    EXPECT_EQ(stage.gate->CheckExistence(callback, "1"), Allowed(Reason::kVerified)) << user;
    EXPECT_EQ(stage.slack.asked().size(), 2U) << user;
  }
}

}  // namespace tidemark::gate
