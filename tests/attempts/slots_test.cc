// Slots: how they are taken, given back and booked, and what happens to abandoned ones. Lanes, the
// ceiling, and clocks that differ.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts/stage.h"
#include "tests/support/offset_clock.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr EpochSeconds kSlotsStart = 1'700'000'000;

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

// The open attempts may all succeed, so they set no lock.
TEST(SlotsTest, RefusesWithoutALockWhenAllSlotsAreTaken) {
  Stage stage;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(stage.Reserve(SlotOf(stage, std::to_string(i))).verdict, Verdict::kPermitted);
  }
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "seventh")).verdict, Verdict::kBusy);
  EXPECT_TRUE(stage.Locks().empty());
  stage.Settle(OutcomeOf(stage, "0", true));
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "eighth")).verdict, Verdict::kPermitted);
}

TEST(SlotsTest, GivesASlotBackAfterASuccessOnly) {
  Stage stage;
  for (int i = 0; i < 20; ++i) stage.Try(kPassword, true);
  EXPECT_EQ(stage.CountOf(kPassword), 0u);
  EXPECT_EQ(stage.Fail(kPassword, 2).remaining, 4u);
}

TEST(SlotsTest, TakesOneSlotWhenAReserveIsRepeated) {
  Stage stage;
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "a")).remaining, 5u);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "a")).remaining, 5u);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "a")).verdict, Verdict::kPermitted);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "b")).remaining, 4u);
}

// A reply may be lost on a busy account too.
// Review: T16
TEST(SlotsTest, RemembersHowAnAttemptEndedAfterManyOthers) {
  Stage stage;
  stage.Reserve(SlotOf(stage, "mine"));
  stage.Settle(OutcomeOf(stage, "mine", true));
  for (int i = 0; i < 100; ++i) stage.Try(kPassword, true);
  const auto again = SettleNow(stage.attempts, OutcomeOf(stage, "mine", true));
  EXPECT_TRUE(again->known);
  EXPECT_TRUE(again->right);
  // But the head row of somebody who signs in every day stays small.
  stage.Pass(86'400);
  stage.Try(kPassword, true);
  EXPECT_EQ(stage.Stored("!")->Find("settled")->As<item::List>()->size(), 1u);
}

// A slot is for one verification.
TEST(SlotsTest, GivesNoSlotToASettledId) {
  Stage stage;
  for (const bool right : {true, false}) {
    const std::string id = right ? "right" : "wrong";
    stage.Reserve(SlotOf(stage, id));
    stage.Settle(OutcomeOf(stage, id, right));
    EXPECT_EQ(stage.Reserve(SlotOf(stage, id)).verdict, Verdict::kBusy);
  }
}

// The same id for the password and then for the code is two attempts.
TEST(SlotsTest, AllowsTheSameIdInTwoCounts) {
  Stage stage;
  stage.Reserve(SlotOf(stage, "a"));
  EXPECT_EQ(stage.Reserve({.subject = stage.person, .name = kMfaCode, .attempt_id = "a"}).remaining,
            5u);
  stage.Settle(OutcomeOf(stage, "a", true));
  stage.Settle({.subject = stage.person, .name = kMfaCode, .attempt_id = "a"});
  EXPECT_EQ(stage.CountOf(kMfaCode), 1u);
  EXPECT_EQ(stage.CountOf(kPassword), 0u);
}

TEST(SlotsTest, GivesTheSameAnswerWhenASettleIsRepeated) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.Reserve(SlotOf(stage, "a"));
  const auto first = *SettleNow(stage.attempts, OutcomeOf(stage, "a", false));
  // Neither can it be turned into a success.
  const auto again = *SettleNow(stage.attempts, OutcomeOf(stage, "a", true));
  for (const SettleReply& reply : {first, again}) {
    EXPECT_TRUE(reply.known);
    EXPECT_FALSE(reply.right);
    EXPECT_EQ(reply.decision.verdict, Verdict::kTemporarilyLocked);
    EXPECT_TRUE(reply.decision.just_reached);
  }
  EXPECT_EQ(stage.Locks().size(), 1u);
}

TEST(SlotsTest, ChangesNothingForAnUnknownId) {
  Stage stage;
  stage.Fail(kPassword, 2);
  for (const bool right : {true, false}) {
    const auto reply = *SettleNow(stage.attempts, OutcomeOf(stage, "nobody's", right));
    EXPECT_FALSE(reply.known);
    EXPECT_FALSE(reply.right);
    EXPECT_EQ(reply.decision.count, 2u);
  }
  EXPECT_EQ(stage.CountOf(kPassword), 2u);
}

// A process that crashed may have verified the secret. So its attempt counts, and can set the lock.
TEST(SlotsTest, BooksAnAbandonedAttemptAsAFailure) {
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
  EXPECT_EQ(stage.Locks()[0].until, kSlotsStart + 62 + 900);
}

// They belong to the window in which they were made, and so does the lock that they set.
// Review: T3
TEST(SlotsTest, ForgivesAbandonedAttemptsWithTheirWindow) {
  for (const int64_t wait : {962, 7 * 86'400}) {
    Stage stage;
    for (int i = 0; i < 6; ++i) stage.Reserve(SlotOf(stage, std::to_string(i)));
    stage.Pass(wait);
    EXPECT_EQ(stage.Reserve(SlotOf(stage, "owner")).verdict, Verdict::kPermitted);
    EXPECT_EQ(stage.CountOf(kPassword), 0u);
  }
}

// Review: T3
TEST(SlotsTest, TellsOfALockThatAbandonedAttemptsSet) {
  Stage stage;
  for (int i = 0; i < 6; ++i) stage.Reserve(SlotOf(stage, std::to_string(i)));
  stage.Pass(200);
  const Decision first = stage.Reserve(SlotOf(stage, "owner"));
  EXPECT_EQ(first.verdict, Verdict::kTemporarilyLocked);
  EXPECT_TRUE(first.just_reached);
  EXPECT_EQ(first.remaining_seconds, 62 + 900 - 200);
  EXPECT_FALSE(stage.Reserve(SlotOf(stage, "again")).just_reached);
}

// Also when there was no other reservation since.
// Review: T13
TEST(SlotsTest, RefusesALateSuccessWithoutAnotherReserve) {
  Stage stage;
  stage.Reserve(SlotOf(stage, "slow"));
  stage.Pass(62);
  const auto reply = *SettleNow(stage.attempts, OutcomeOf(stage, "slow", true));
  EXPECT_TRUE(reply.known);
  EXPECT_FALSE(reply.right);
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
}

// Other attempts have taken its slot by then.
TEST(SlotsTest, RefusesASuccessAfterTheDeadline) {
  Stage stage;
  stage.Reserve(SlotOf(stage, "slow"));
  stage.Pass(62);
  stage.Reserve(SlotOf(stage, "next"));
  const auto reply = *SettleNow(stage.attempts, OutcomeOf(stage, "slow", true, "laptop"));
  EXPECT_TRUE(reply.known);
  EXPECT_FALSE(reply.right);
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
  // The device does not become known either.
  EXPECT_FALSE(stage.attempts.GetAll(stage.person)->empty());
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "more", "laptop")).count, 1u);
}

// Every abandoned attempt is booked by its own rule.
TEST(SlotsTest, BooksAnAbandonedAttemptInItsOwnCount) {
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

// A guess that begins at the end of a window and fails in the next one counts in the next one.
// Otherwise it would be free.
TEST(SlotsTest, CountsAnAttemptThatOutlivesItsWindow) {
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

// Even with a limit of 999999 the head row must stay small.
TEST(SlotsTest, AllowsSixtyFourOpenAttempts) {
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

// Each attempt sets its own lock. Together they change more rows than one transaction may have.
TEST(SlotsTest, BooksManyAbandonedAttemptsInSeveralWrites) {
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

// Locks end. A guesser who waits for each end is stopped by the ceiling.
TEST(CeilingTest, LocksAfterAHundredFailuresInARowUntilItIsLifted) {
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
  EXPECT_EQ(stage.attempts.GetStanding(stage.person)->at_ceiling,
            std::set<std::string>{"PASSWORD_ENTRY"});
  ASSERT_TRUE(stage.attempts.LiftCeiling(stage.person));
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
  EXPECT_TRUE(stage.attempts.GetStanding(stage.person)->at_ceiling.empty());
}

constexpr std::string_view kLowCeiling = R"({
"journeys": ["SIGN_IN"], "counts": ["ERROR_COUNT"],
"classifiers": ["PASSWORD_ENTRY", "MFA_CODE_ENTRY"], "ceiling": 8,
"rules": [{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY",
           "space": 1000000},
          {"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "MFA_CODE_ENTRY",
           "space": 1000000}]})";

TEST(CeilingTest, ResetsTheFailuresInARowAfterASuccess) {
  Stage stage(*Policy::Parse(kLowCeiling));
  for (int i = 0; i < 5; ++i) {
    stage.Fail(kPassword, 5);
    stage.Try(kPassword, true);
    stage.Pass(900);
  }
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
}

// Otherwise somebody who has the password could guess codes without a bound.
TEST(CeilingTest, KeepsWrongCodesAfterARightPassword) {
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
TEST(CeilingTest, CountsOpenAttempts) {
  Stage stage(*Policy::Parse(kLowCeiling));
  stage.Fail(kPassword, 5);
  stage.Pass(900);
  stage.Fail(kPassword, 2);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "a")).verdict, Verdict::kPermitted);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "b")).verdict, Verdict::kBusy);
  stage.Settle(OutcomeOf(stage, "a", false));
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kIndefinitelyLocked);
}

// The caller must be told, as for any other lock, so that it can notify the owner.
// Review: T5
TEST(CeilingTest, IsReportedByTheCallThatReachesIt) {
  Stage stage(*Policy::Parse(kLowCeiling));
  stage.Fail(kPassword, 5);
  stage.Pass(900);
  EXPECT_FALSE(stage.Fail(kPassword, 2).just_reached);
  const Decision last = stage.Fail(kPassword);
  EXPECT_TRUE(last.just_reached);
  EXPECT_EQ(last.verdict, Verdict::kIndefinitelyLocked);
  ASSERT_TRUE(last.lock.has_value());
  EXPECT_EQ(last.lock->reason, "failures in a row");
}

// The rule has no lock that slows anybody down, so a stranger could reach a ceiling in seconds.
// Review: T5
TEST(CeilingTest, IsNotForARuleWithoutASlowingLock) {
  Stage stage;
  const Name code = ErrorsOf("ACCOUNT_CREATION", "EMAIL_CODE_ENTRY");
  stage.Fail(code, 120);
  EXPECT_EQ(stage.VerdictOf(code), Verdict::kPermitted);
  EXPECT_EQ(stage.VerdictOf(ErrorsOf("ACCOUNT_RECOVERY", "EMAIL_CODE_ENTRY")), Verdict::kPermitted);
}

// Review: T5
TEST(CeilingTest, IsLiftedByAFinishedRecovery) {
  Stage stage;
  for (int i = 0; i < 100; ++i) {
    stage.Fail(kPassword);
    if (i % 5 == 4) stage.Pass(900);
  }
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kIndefinitelyLocked);
  ASSERT_TRUE(stage.attempts.ClearJourney({stage.person}, "PASSWORD_RESET").has_value());
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
  EXPECT_THAT(stage.Logged(), HasSubstr("ceiling lifted"));
}

// Waiting for the end of the head row gains a guesser nothing: it lives for more than a year.
TEST(CeilingTest, SurvivesTheSweeper) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.Pass(390LL * 86'400);
  stage.model.Maintain();
  EXPECT_EQ(stage.attempts.GetStanding(stage.person)->failures.at(0).failures, 5u);
}

// ---- The head row ----

// Names that nobody has must not fill the table.
// Review: E6
TEST(HeadTest, EndsSoThatInventedNamesLeaveNoRows) {
  Stage stage;
  const auto invent = [&](const std::string& name, bool settles) {
    stage.person = SubjectOf(name);
    stage.Reserve(SlotOf(stage, "a"));
    if (settles) stage.Settle(OutcomeOf(stage, "a", false));
  };
  invent("abandoned", false);
  invent("wrong", true);
  stage.Pass(402LL * 86'400);
  // Whether the sweeper has been there or not, nothing of it counts any more.
  EXPECT_TRUE(stage.attempts.GetStanding(stage.person)->failures.empty());
  EXPECT_EQ(stage.attempts.Decide(SlotOf(stage, ""))->remaining, 6u);
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "b")).verdict, Verdict::kPermitted);
  stage.Pass(402LL * 86'400);
  stage.model.Maintain();
  EXPECT_TRUE(stage.model.Scan({.table = kDefaultTable})->items.empty());
}

// The store keeps items in the order of their ttl too. A ttl that changes costs two more rows.
// Review: E6
TEST(HeadTest, KeepsItsTtlWhileAKnownPersonSignsIn) {
  Stage stage;
  const auto sign_in = [&](const std::string& id) {
    stage.Reserve(SlotOf(stage, id, "laptop"));
    stage.Settle(OutcomeOf(stage, id, true, "laptop"));
    return NumberIn(*stage.Stored("!"), "ttl");
  };
  const int64_t first = sign_in("first");
  EXPECT_EQ(first % 86'400, 0);
  stage.Pass(60);
  int rows = 0;
  stage.tables.decide = [&](testing::Operation operation) {
    // A transaction would write more than the head.
    EXPECT_NE(operation, testing::Operation::kTransact);
    rows += operation == testing::Operation::kPut ? 1 : 0;
    return std::optional<testing::Fault>();
  };
  EXPECT_EQ(sign_in("second"), first);
  EXPECT_EQ(rows, 2);
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

TEST_F(LanesTest, DoesNotLockAKnownDeviceForFailuresElsewhere) {
  Know("laptop");
  for (int i = 0; i < 120; ++i) {
    Fail("");
    if (VerdictFor("") == Verdict::kTemporarilyLocked) stage.Pass(900);
  }
  EXPECT_EQ(VerdictFor(""), Verdict::kIndefinitelyLocked);
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kPermitted);
  EXPECT_EQ(stage.attempts.Decide(SlotOf(stage, "", "laptop"))->remaining, 6u);
}

TEST_F(LanesTest, GivesAKnownDeviceItsOwnCountsAndCeiling) {
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

// Otherwise an attacker with the password could guess codes with one new device after the other.
// Review: T6
TEST_F(LanesTest, GivesADeviceALaneOnlyForWhatItSucceededAt) {
  int permitted = 0;
  for (int i = 0; i < 4; ++i) {
    const std::string device = "device-" + std::to_string(i);
    Know(device);
    for (int guess = 0; guess < 6; ++guess) {
      const std::string id = stage.NextId();
      const ReserveRequest request{
          .subject = stage.person, .name = kMfaCode, .attempt_id = id, .device = device};
      if (stage.Reserve(request).verdict != Verdict::kPermitted) continue;
      ++permitted;
      stage.Settle({.subject = stage.person, .name = kMfaCode, .attempt_id = id, .device = device});
    }
  }
  EXPECT_EQ(permitted, 6);
}

// Otherwise somebody who invents devices would never reach a limit.
TEST_F(LanesTest, GivesAnUnknownDeviceNoLane) {
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

TEST_F(LanesTest, IgnoresALaneInTheRequest) {
  Name own = kPassword;
  own.lane = "0123456789abcdef";
  stage.Fail(own, 2);
  EXPECT_EQ(stage.CountOf(kPassword), 2u);
}

TEST_F(LanesTest, AppliesStatesToAllLanes) {
  Know("laptop");
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kBlocked, ""));
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kBlocked);
  EXPECT_EQ(VerdictFor(""), Verdict::kBlocked);
}

TEST_F(LanesTest, ForgetsADeviceAfterNinetyDays) {
  Know("laptop");
  for (int i = 0; i < 6; ++i) Fail("");
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kPermitted);
  stage.Pass(90LL * 86'400);
  for (int i = 0; i < 6; ++i) Fail("");
  EXPECT_EQ(VerdictFor("laptop"), Verdict::kTemporarilyLocked);
}

// The device becomes known while another attempt of it is open.
TEST_F(LanesTest, SettlesAnAttemptInTheLaneOfItsReservation) {
  stage.Reserve(SlotOf(stage, "first", "laptop"));
  stage.Reserve(SlotOf(stage, "second", "laptop"));
  stage.Settle(OutcomeOf(stage, "first", true, "laptop"));
  EXPECT_EQ(stage.Reserve(SlotOf(stage, "second", "laptop")).verdict, Verdict::kPermitted);
  stage.Settle(OutcomeOf(stage, "second", false, "laptop"));
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
  EXPECT_EQ(stage.attempts.GetAll(stage.person)->size(), 1u);
}

// The number of device rows is bounded.
TEST_F(LanesTest, DropsTheDeviceThatExpiresFirst) {
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

TEST(AttemptsMetricsTest, CountsDecisionsAndLocks) {
  Stage stage;
  OwnRuntime own(&stage.clock, &stage.random);
  Attempts counted(Policy::Default(), &stage.table, own.runtime());
  for (int i = 0; i < 7; ++i) {
    const std::string id = std::to_string(i);
    ASSERT_TRUE(ReserveNow(counted, SlotOf(stage, id)));
    ASSERT_TRUE(SettleNow(counted, OutcomeOf(stage, id, false)));
  }
  const std::string text = own.metrics.Expose();
  EXPECT_THAT(text, HasSubstr("tidemark_attempts_decisions_total{verdict=\"permitted\"} 6"));
  EXPECT_THAT(text,
              HasSubstr("tidemark_attempts_decisions_total{verdict=\"temporarily_locked\"} 1"));
  EXPECT_THAT(text, HasSubstr("tidemark_attempts_locks_total 1"));
  EXPECT_THAT(text, HasSubstr("tidemark_attempts_conflicts_total 0"));
}

// Review: T19
TEST(AttemptsMetricsTest, MeasuresChangesAndCountsThoseThatFail) {
  Stage stage;
  OwnRuntime own(&stage.clock, &stage.random);
  Attempts counted(Policy::Default(), &stage.table, own.runtime());
  ASSERT_TRUE(ReserveNow(counted, SlotOf(stage, "1")));
  // A wrong request is not an error of the store.
  ReserveRequest unknown = SlotOf(stage, "2");
  unknown.name.journey = "NO_SUCH_JOURNEY";
  ASSERT_FALSE(ReserveNow(counted, unknown));
  EXPECT_THAT(own.metrics.Expose(), AllOf(HasSubstr("tidemark_attempts_change_seconds_count 2"),
                                          HasSubstr("tidemark_attempts_errors_total 0")));
  stage.tables.decide = [](testing::Operation) -> std::optional<testing::Fault> {
    return testing::Denied();
  };
  ASSERT_FALSE(ReserveNow(counted, SlotOf(stage, "3")));
  EXPECT_THAT(own.metrics.Expose(), HasSubstr("tidemark_attempts_errors_total 1"));
}

// ---- Clocks ----

// A lock that is set by a clock that is behind would be over for all other processes.
TEST(ClockTest, KeepsTheLengthOfALockWhenAClockIsBehind) {
  Stage stage;
  const testing::OffsetClock behind(&stage.clock, -800s);
  OwnRuntime own(&behind, &stage.random);
  Attempts other(Policy::Default(), &stage.table, own.runtime());
  stage.Fail(kPassword, 5);
  ASSERT_TRUE(ReserveNow(other, SlotOf(stage, "a")));
  ASSERT_TRUE(SettleNow(other, OutcomeOf(stage, "a", false)));
  ASSERT_EQ(stage.Locks().size(), 1u);
  EXPECT_EQ(stage.Locks()[0].until, kSlotsStart + 900);
}

// One jump of one clock must not move every later lock of the subject.
// Review: T4
TEST(ClockTest, IgnoresATimeThatIsFarAhead) {
  Stage stage;
  stage.clock.SetNow(kSlotsStart + 365 * 86'400);
  stage.Fail(kPassword, 6);
  stage.Reserve({.subject = stage.person, .name = kMfaCode, .attempt_id = "open"});
  stage.clock.SetNow(kSlotsStart);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
  EXPECT_THAT(stage.Logged(), HasSubstr("a clock was far ahead"));
  // The repair of the help desk.
  ASSERT_TRUE(stage.attempts.Unlock(stage.person, kPasswordLock).has_value());
  EXPECT_EQ(stage.Fail(kPassword, 6).remaining_seconds, 900);
  EXPECT_EQ(stage.Locks()[0].until, kSlotsStart + 900);
  EXPECT_EQ(stage.VerdictOf(kMfaCode), Verdict::kPermitted);
  stage.Pass(900);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
}

TEST(ClockTest, ReopensNothingWhenTheClockStepsBack) {
  Stage stage;
  stage.Fail(kPassword, 5);
  stage.clock.SetNow(kSlotsStart - 5000);
  EXPECT_EQ(stage.CountOf(kPassword), 5u);
  EXPECT_EQ(stage.Fail(kPassword).verdict, Verdict::kTemporarilyLocked);
  stage.clock.SetNow(kSlotsStart - 4000);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
  stage.clock.SetNow(kSlotsStart + 899);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kTemporarilyLocked);
  stage.clock.SetNow(kSlotsStart + 900);
  EXPECT_EQ(stage.VerdictOf(kPassword), Verdict::kPermitted);
}

}  // namespace
}  // namespace tidemark::attempts
