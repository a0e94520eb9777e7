// A slot before every verification: how it is taken, given back, booked, and what it costs to let
// it lie. Lanes, the ceiling, and clocks that disagree.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts/stage.h"
#include "tests/support/offset_clock.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr EpochSeconds kStart = 1'700'000'000;

ReserveRequest SlotOf(const Stage& stage, const std::string& id, const std::string& device = "") {
  return {.subject = stage.person, .name = kPassword, .attempt_id = id, .device = device};
}
SettleRequest OutcomeOf(const Stage& stage, const std::string& id, bool right,
                        const std::string& device = "") {
  return {.subject = stage.person,
          .name = kPassword,
          .attempt_id = id,
          .device = device,
          .right = right};
}

// Those under way may all succeed: nobody is locked for them.
TEST(SlotsTest, WhenAllSlotsAreTakenTheNextIsTurnedAwayWithoutALock) {
  Stage stage;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(stage.Reserve(SlotOf(stage, std::to_string(i))).verdict, Verdict::kPermitted);
  }
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "seventh")).verdict, Verdict::kBusy);
  EXPECT_TRUE(stage.Locks().empty());
  stage.Settle(OutcomeOf(stage, "0", true));
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "eighth")).verdict, Verdict::kPermitted);
}

TEST(SlotsTest, AFailureKeepsItsSlotAndASuccessGivesItBack) {
  Stage stage;
  for (int i = 0; i < 20; ++i) stage.Try(kPassword, true);
  EXPECT_EQ(stage.CountOf(kPassword), 0u);
  EXPECT_EQ(stage.Fail(kPassword, 2).remaining, 4u);
}

TEST(SlotsTest, ReservingAgainUnderTheSameIdTakesNoSecondSlot) {
  Stage stage;
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "a")).remaining, 5u);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "a")).remaining, 5u);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "a")).verdict, Verdict::kPermitted);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "b")).remaining, 4u);
}

// A slot is good for one verification.
TEST(SlotsTest, AnIdThatIsOverGetsNoSlotAgain) {
  Stage stage;
  for (const bool right : {true, false}) {
    const std::string id = right ? "right" : "wrong";
    stage.Reserve(SlotOf(stage, id));
    stage.Settle(OutcomeOf(stage, id, right));
    EXPECT_EQ(stage.Reserve(SlotOf(stage, id)).verdict, Verdict::kBusy);
  }
}

// The same id for the password and then for the code is two attempts.
TEST(SlotsTest, AnIdIsOfOneCount) {
  Stage stage;
  stage.Reserve(SlotOf(stage, "a"));
  EXPECT_EQ(stage.Reserve({.subject = stage.person, .name = kMfaCode, .attempt_id = "a"}).remaining,
            5u);
  stage.Settle(OutcomeOf(stage, "a", true));
  stage.Settle({.subject = stage.person, .name = kMfaCode, .attempt_id = "a"});
  EXPECT_EQ(stage.CountOf(kMfaCode), 1u);
  EXPECT_EQ(stage.CountOf(kPassword), 0u);
}

TEST(SlotsTest, SettlingAgainChangesNothingAndSaysTheSame) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.Reserve(SlotOf(stage, "a"));
  const auto first = *stage.attempts.Settle(OutcomeOf(stage, "a", false));
  // Neither can it be turned into a success.
  const auto again = *stage.attempts.Settle(OutcomeOf(stage, "a", true));
  for (const SettleReply& reply : {first, again}) {
    EXPECT_TRUE(reply.known);
    EXPECT_FALSE(reply.right);
    EXPECT_EQ(reply.decision.verdict, Verdict::kTemporarilyLocked);
    EXPECT_TRUE(reply.decision.just_reached);
  }
  EXPECT_EQ(stage.Locks().size(), 1u);
}

TEST(SlotsTest, SettlingWhatWasNeverReservedChangesNothing) {
  Stage stage;
  stage.Fail(kPassword, 2);
  for (const bool right : {true, false}) {
    const auto reply = *stage.attempts.Settle(OutcomeOf(stage, "nobody's", right));
    EXPECT_FALSE(reply.known);
    EXPECT_FALSE(reply.right);
    EXPECT_EQ(reply.decision.count, 2u);
  }
  EXPECT_EQ(stage.CountOf(kPassword), 2u);
}

// Whoever crashed may have verified: it counts, and may so set the lock.
TEST(SlotsTest, AnAttemptThatIsNeverSettledIsBookedAsAFailure) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.Reserve(SlotOf(stage, "crashed"));
  stage.Pass(61);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "early")).verdict, Verdict::kBusy);
  stage.Pass(1);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
  EXPECT_TRUE(stage.Locks().empty());
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "next")).verdict, Verdict::kTemporarilyLocked);
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].until, kStart + 62 + 900);
}

// By then others have taken its place: it must be refused.
TEST(SlotsTest, ASuccessThatComesTooLateIsNone) {
  Stage stage;
  stage.Reserve(SlotOf(stage, "slow"));
  stage.Pass(62);
  stage.Reserve(SlotOf(stage, "next"));
  const auto reply = *stage.attempts.Settle(OutcomeOf(stage, "slow", true, "laptop"));
  EXPECT_TRUE(reply.known);
  EXPECT_FALSE(reply.right);
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
  // Nor is its device known by it.
  EXPECT_FALSE(stage.attempts.GetAll(stage.person)->empty());
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "more", "laptop")).count, 1u);
}

// All that lies about is booked, each by its own rule.
TEST(SlotsTest, WhatWasAbandonedInAnotherCountIsBookedThere) {
  Stage stage;
  const Name app = ErrorsOf("ACCOUNT_CREATION", "MFA_CODE_ENTRY");
  for (int i = 0; i < 7; ++i) {
    stage.Reserve({.subject = stage.person,
                   .name = app,
                   .attempt_id = stage.NextId(),
                   .method_type = "AUTH_APP"});
  }
  stage.Pass(62);
  stage.Reserve(SlotOf(stage, "a"));
  EXPECT_EQ(stage.CountOf(ErrorsOf("ACCOUNT_CREATION", "MFA_CODE_ENTRY", "AUTH_APP")), 7u);
  EXPECT_TRUE(stage.Locks().empty());
}

// A guess that is begun at the end of a window and fails in the next counts there: it would
// otherwise be free.
TEST(SlotsTest, AnAttemptOutlivesTheWindowItBeganIn) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.Pass(899);
  stage.Reserve(SlotOf(stage, "edge"));
  stage.Pass(1);
  stage.model.Maintain();
  EXPECT_EQ(stage.attempts.Decide(SlotOf(stage, ""))->remaining, 5u);
  stage.Settle(OutcomeOf(stage, "edge", false));
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
}

// A limit of 999999 is no reason to keep as many slots in a row of the table.
TEST(SlotsTest, NoMoreThanSixtyFourAreUnderWay) {
  Stage stage;
  const Name app = ErrorsOf("ACCOUNT_CREATION", "MFA_CODE_ENTRY");
  const auto reserve = [&] {
    return stage
        .Reserve({.subject = stage.person,
                  .name = app,
                  .attempt_id = stage.NextId(),
                  .method_type = "AUTH_APP"})
        .verdict;
  };
  for (int i = 0; i < 64; ++i) EXPECT_EQ(reserve(), Verdict::kPermitted);
  EXPECT_EQ(reserve(), Verdict::kBusy);
}

constexpr std::string_view kOneTry = R"({
"journeys": ["SIGN_IN"], "counts": ["ERROR_COUNT"], "classifiers": ["MFA_CODE_ENTRY"],
"rules": [{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
           "limit": 1}]})";

// Each sets a lock of its own; together they are more than one transaction may change.
TEST(SlotsTest, VeryManyAbandonedAreBookedInTurns) {
  Stage stage(*Policy::Parse(kOneTry));
  const auto reserve = [&](int device) {
    return stage
        .Reserve({.subject = stage.person,
                  .name = ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", std::to_string(device)),
                  .attempt_id = stage.NextId()})
        .verdict;
  };
  for (int i = 0; i < 64; ++i) EXPECT_EQ(reserve(i), Verdict::kPermitted);
  stage.Pass(62);
  EXPECT_EQ(reserve(0), Verdict::kTemporarilyLocked);
  EXPECT_EQ(stage.Locks().size(), 32u);
  EXPECT_EQ(reserve(63), Verdict::kTemporarilyLocked);
  EXPECT_EQ(stage.Locks().size(), 64u);
}

// ---- The ceiling ----

// Locks end; who guesses on behind each is stopped for good.
TEST(CeilingTest, AHundredFailuresInARowLockUntilSomebodyLiftsIt) {
  Stage stage;
  for (int failures = 0; failures < 100; ++failures) {
    if (!stage.Locks().empty()) stage.Pass(900);
    stage.Fail(kPassword);
  }
  stage.Pass(100LL * 86'400);
  stage.model.Maintain();
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kIndefinitelyLocked);
  EXPECT_THAT(stage.Logged(), HasSubstr("locked indefinitely"));
  EXPECT_EQ(stage.VerdictOf(kMfaCode), Verdict::kPermitted);
  EXPECT_EQ(*stage.attempts.AtCeiling(stage.person), std::set<std::string>{"PASSWORD_ENTRY"});
  ASSERT_TRUE(stage.attempts.LiftCeiling(stage.person));
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
  EXPECT_TRUE(stage.attempts.AtCeiling(stage.person)->empty());
}

constexpr std::string_view kLowCeiling = R"({
"journeys": ["SIGN_IN"], "counts": ["ERROR_COUNT"],
"classifiers": ["PASSWORD_ENTRY", "MFA_CODE_ENTRY"], "ceiling": 8,
"rules": [{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY"},
          {"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY"}]})";

TEST(CeilingTest, ASuccessBeginsTheRowAnew) {
  Stage stage(*Policy::Parse(kLowCeiling));
  for (int i = 0; i < 5; ++i) {
    stage.Fail(kPassword, 5);
    stage.Try(kPassword, true);
    stage.Pass(900);
  }
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
}

// Who has the password must not pay for guessed codes with it.
TEST(CeilingTest, ARightPasswordForgivesNoWrongCodes) {
  Stage stage(*Policy::Parse(kLowCeiling));
  for (int i = 0; i < 2; ++i) {
    stage.Fail(kMfaCode, 4);
    stage.Try(kPassword, true);
    stage.Pass(900);
  }
  EXPECT_EQ(stage.VerdictOf(kMfaCode), Verdict::kIndefinitelyLocked);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
}

// Seven failures leave one attempt, not six at once.
TEST(CeilingTest, AttemptsUnderWayCountTowardsIt) {
  Stage stage(*Policy::Parse(kLowCeiling));
  stage.Fail(kPassword, 5);
  stage.Pass(900);
  stage.Fail(kPassword, 2);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "a")).verdict, Verdict::kPermitted);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "b")).verdict, Verdict::kBusy);
  stage.Settle(OutcomeOf(stage, "a", false));
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kIndefinitelyLocked);
}

// The head row stays for as long as it knows of failures.
TEST(CeilingTest, TheSweeperDoesNotForgetIt) {
  Stage stage;
  stage.Fail(kPassword);
  EXPECT_FALSE(stage.Stored("!")->Contains("ttl"));
  stage.Try(kPassword, true);
  ASSERT_TRUE(stage.attempts.ResetAll(stage.person));
  EXPECT_TRUE(stage.Stored("!")->Contains("ttl"));
  stage.Pass(2LL * 86'400);
  stage.model.Maintain();
  EXPECT_FALSE(stage.Stored("!").has_value());
}

// ---- Lanes ----

class LanesTest : public ::testing::Test {
 protected:
  void Know(const std::string& device) {
    const std::string id = stage.NextId();
    ASSERT_EQ(stage.Reserve(SlotOf(stage, id, device)).verdict, Verdict::kPermitted);
    stage.Settle(OutcomeOf(stage, id, true, device));
  }
  Decision Fail(const std::string& device) {
    const std::string id = stage.NextId();
    const Decision slot = stage.Reserve(SlotOf(stage, id, device));
    if (slot.verdict != Verdict::kPermitted) return slot;
    return stage.Settle(OutcomeOf(stage, id, false, device));
  }
  Verdict VerdictFor(const std::string& device) {
    return stage.attempts.Decide(SlotOf(stage, "", device))->verdict;
  }
  Stage stage;
};

TEST_F(LanesTest, AnOutsiderNeverLocksOutAKnownDevice) {
  Know("laptop");
  for (int i = 0; i < 120; ++i) {
    Fail("");
    if (VerdictFor("") == Verdict::kTemporarilyLocked) stage.Pass(900);
  }
  EXPECT_EQ(VerdictFor(""), Verdict::kIndefinitelyLocked);
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kPermitted);
  EXPECT_EQ(stage.attempts.Decide(SlotOf(stage, "", "laptop"))->remaining, 6u);
}

TEST_F(LanesTest, AKnownDeviceHasItsOwnBudgetAndCeiling) {
  Know("laptop");
  for (int i = 0; i < 6; ++i) Fail("laptop");
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kTemporarilyLocked);
  EXPECT_EQ(VerdictFor(""), Verdict::kPermitted);
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_FALSE(stage.Locks()[0].name.lane.empty());
  while (VerdictFor("laptop") != Verdict::kIndefinitelyLocked) {
    if (VerdictFor("laptop") == Verdict::kTemporarilyLocked) stage.Pass(900);
    Fail("laptop");
  }
  EXPECT_EQ(VerdictFor(""), Verdict::kPermitted);
  ASSERT_TRUE(stage.attempts.LiftCeiling(stage.person));
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kPermitted);
}

// A budget for each new name would be none at all.
TEST_F(LanesTest, ADeviceThatNeverSucceededTriesLikeEverybody) {
  int evaluated = 0;
  for (int i = 0; i < 20; ++i) {
    const std::string device = "session-" + std::to_string(i);
    const std::string id = stage.NextId();
    if (stage.Reserve(SlotOf(stage, id, device)).verdict != Verdict::kPermitted) continue;
    ++evaluated;
    stage.Settle(OutcomeOf(stage, id, false, device));
  }
  EXPECT_EQ(evaluated, 6);
}

TEST_F(LanesTest, NobodyChoosesALane) {
  Name own = kPassword;
  own.lane = "0123456789abcdef";
  stage.Fail(own, 2);
  EXPECT_EQ(stage.CountOf(kPassword), 2u);
}

TEST_F(LanesTest, StatesAreForAllLanes) {
  Know("laptop");
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kBlocked, ""));
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kBlocked);
  EXPECT_EQ(VerdictFor(""), Verdict::kBlocked);
}

TEST_F(LanesTest, ADeviceIsForgottenAfterNinetyDays) {
  Know("laptop");
  for (int i = 0; i < 6; ++i) Fail("");
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kPermitted);
  stage.Pass(90LL * 86'400);
  for (int i = 0; i < 6; ++i) Fail("");
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kTemporarilyLocked);
}

// The device becomes known while another of its attempts is under way.
TEST_F(LanesTest, AnAttemptEndsInTheLaneInWhichItBegan) {
  stage.Reserve(SlotOf(stage, "first", "laptop"));
  stage.Reserve(SlotOf(stage, "second", "laptop"));
  stage.Settle(OutcomeOf(stage, "first", true, "laptop"));
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "second", "laptop")).verdict, Verdict::kPermitted);
  stage.Settle(OutcomeOf(stage, "second", false, "laptop"));
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
  EXPECT_EQ(stage.attempts.GetAll(stage.person)->size(), 1u);
}

// Rows of devices are bounded like everything.
TEST_F(LanesTest, TheDeviceThatEndsFirstGivesWay) {
  for (int i = 0; i < 33; ++i) {
    Know("device-" + std::to_string(i));
    stage.Pass(1);
  }
  for (int i = 0; i < 6; ++i) Fail("");
  EXPECT_EQ(VerdictFor("device-0"), Verdict::kTemporarilyLocked);
  EXPECT_EQ(VerdictFor("device-1"), Verdict::kPermitted);
  EXPECT_EQ(VerdictFor("device-32"), Verdict::kPermitted);
}

// ---- Metrics ----

TEST(AttemptsMetricsTest, DecisionsAndLocksAreCounted) {
  Stage stage;
  Metrics metrics;
  Attempts counted({}, Policy::Default(), &stage.tables, &stage.clock, &stage.random, nullptr,
                   &metrics);
  for (int i = 0; i < 7; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(counted.Reserve(SlotOf(stage, id)));
    ASSERT_TRUE(counted.Settle(OutcomeOf(stage, id, false)));
  }
  const std::string text = metrics.Expose();
  EXPECT_THAT(text, HasSubstr("tidemark_attempts_decisions_total{verdict=\"permitted\"} 6"));
  EXPECT_THAT(text,
              HasSubstr("tidemark_attempts_decisions_total{verdict=\"temporarily_locked\"} 1"));
  EXPECT_THAT(text, HasSubstr("tidemark_attempts_locks_total 1"));
  EXPECT_THAT(text, HasSubstr("tidemark_attempts_conflicts_total 0"));
}

// ---- Clocks ----

// A lock set by a clock that is behind would be over for all others.
TEST(ClockTest, AClockThatIsBehindShortensNoLock) {
  Stage stage;
  const testing::OffsetClock behind(&stage.clock, -800s);
  Attempts other({}, Policy::Default(), &stage.tables, &behind, &stage.random, nullptr, nullptr);
  stage.Fail(kPassword, 5);
  ASSERT_TRUE(other.Reserve(SlotOf(stage, "a")));
  ASSERT_TRUE(other.Settle(OutcomeOf(stage, "a", false)));
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].until, kStart + 900);
}

TEST(ClockTest, AStepBackReopensNothing) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.clock.SetNow(kStart - 5000);
  EXPECT_EQ(stage.CountOf(kPassword), 5u);
  EXPECT_EQ(stage.Fail(kPassword).verdict, Verdict::kTemporarilyLocked);
  stage.clock.SetNow(kStart - 4000);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
  stage.clock.SetNow(kStart + 899);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
  stage.clock.SetNow(kStart + 900);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
}

}  // namespace
}  // namespace tidemark::attempts
