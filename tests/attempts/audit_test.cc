// The audit log: at every level, with who and why, and without addresses.
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts/stage.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Author kDesk{.actor = "desk", .request_id = "r-7", .reason = "ticket 7"};

// Review: T8
TEST(AuditTest, SaysWhoMadeEachChangeAndWhy) {
  Stage stage;
  stage.Fail(kPassword, 6);
  const auto last_line = [&] {
    const std::string log = stage.Logged();
    return log.substr(log.rfind('\n', log.size() - 2) + 1);
  };
  const auto expect = [&](const std::string& event) {
    EXPECT_THAT(last_line(),
                AllOf(HasSubstr("audit attempts audit event=\"" + event + "\""),
                      HasSubstr("reason=\"ticket 7\""), HasSubstr("actor=desk request_id=r-7")));
  };
  ASSERT_TRUE(stage.attempts.Unlock(stage.person, kPasswordLock, kDesk));
  expect("lock lifted");
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kBlocked, "ticket 7", kDesk));
  expect("state set");
  ASSERT_TRUE(stage.attempts.ClearState(stage.person, AccountState::kBlocked, kDesk));
  expect("state cleared");
  ASSERT_TRUE(stage.attempts.LiftCeiling(stage.person, kDesk));
  expect("ceiling lifted");
  stage.Fail(kPassword);
  ASSERT_TRUE(stage.attempts.ResetAll(stage.person, kDesk));
  expect("count cleared");
}

// A lock that a wrong password sets names the page's token and its request.
// Review: T8
TEST(AuditTest, SaysWhoseRequestSetALock) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.Reserve({.subject = stage.person, .name = kPassword, .attempt_id = "a"});
  stage.Settle({.subject = stage.person,
                .name = kPassword,
                .attempt_id = "a",
                .by = {.actor = "page", .request_id = "r-1"}});
  EXPECT_THAT(stage.Logged(), AllOf(HasSubstr("event=\"lock set\""),
                                    HasSubstr("limit=6 actor=page request_id=r-1")));
}

// Review: T8
TEST(AuditTest, NeitherLogsNorStoresAddressesInReasons) {
  Stage stage;
  const std::string reason = "mail of <ann@example.com>, asks again";
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kBlocked, reason));
  ASSERT_TRUE(
      stage.attempts.SetLock(stage.person, {.name = kPasswordLock, .reason = reason}, 900s));
  ASSERT_TRUE(stage.attempts.Unlock(stage.person, kPasswordLock, {.reason = reason}));
  EXPECT_THAT(stage.Logged(),
              AllOf(HasSubstr("mail of <{address}>, asks again"), Not(HasSubstr("ann@"))));
  EXPECT_EQ(stage.attempts.GetStanding(stage.person)->states.at(0).reason,
            "mail of <{address}>, asks again");
}

TEST(StandingTest, HasReasonsDevicesAndFailuresInARow) {
  Stage stage;
  stage.Reserve(
      {.subject = stage.person, .name = kPassword, .attempt_id = "a", .device = "laptop"});
  stage.Settle({.subject = stage.person,
                .name = kPassword,
                .attempt_id = "a",
                .device = "laptop",
                .right = true});
  stage.Fail(kMfaCode, 2);
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kSuspended, "ticket 7"));
  const Standing standing = *stage.attempts.GetStanding(stage.person);
  ASSERT_EQ(standing.states.size(), 1u);
  EXPECT_EQ(standing.states[0].reason, "ticket 7");
  EXPECT_EQ(standing.states[0].since, stage.clock.NowSeconds());
  ASSERT_EQ(standing.devices.size(), 1u);
  EXPECT_EQ(standing.devices[0].succeeded_at, std::set<std::string>{"PASSWORD_ENTRY"});
  ASSERT_EQ(standing.failures.size(), 1u);
  EXPECT_EQ(standing.failures[0].classifier, "MFA_CODE_ENTRY");
  EXPECT_EQ(standing.failures[0].failures, 2u);
  EXPECT_EQ(standing.counts.size(), 1u);
}

}  // namespace
}  // namespace tidemark::attempts
