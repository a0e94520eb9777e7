// What each phase reads, writes and decides, and what happens when a store fails in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts_migration/move_stage.h"

namespace tidemark::moving {
namespace {

using attempts::kPassword;
using attempts::kPasswordLock;
using attempts::NumberIn;
using attempts::Verdict;
using ::testing::HasSubstr;

// The table exists from the start, and has no subjects.
// Spec: 003-50
TEST(PhaseOldTest, CountsInTheOldStoreOnly) {
  MoveStage stage(Phase::kOld);
  stage.NewIsAway(true);
  EXPECT_EQ(stage.Fail(6).verdict, Verdict::kTemporarilyLocked);
  stage.NewIsAway(false);
  EXPECT_TRUE(stage.InOld(kLockKey).has_value());
  EXPECT_TRUE(stage.model.DescribeTable(attempts::kDefaultTable).has_value());
  EXPECT_FALSE(stage.InNew(kLockKey).has_value());
  EXPECT_FALSE(stage.InNew("!").has_value());
}

// Spec: 003-51
TEST(PhaseDualOldDecidesTest, WritesBothAndTheOldOneDecides) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(3);
  EXPECT_EQ(NumberIn(*stage.InOld(kCountKey), "count"), 3);
  EXPECT_EQ(NumberIn(*stage.InNew(kCountKey), "count"), 3);
  stage.Fail(3);
  EXPECT_EQ(NumberIn(*stage.InOld(kLockKey), "ttl"), NumberIn(*stage.InNew(kLockKey), "ttl"));
  EXPECT_FALSE(stage.InNew(kCountKey).has_value());
  // It decides without the new store, and cannot decide without the old one.
  stage.NewIsAway(true);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  stage.NewIsAway(false);
  stage.OldIsAway(true);
  EXPECT_EQ(
      stage.process.attempts.Decide({.subject = stage.person, .name = kPassword}).error().code,
      ErrorCode::kUnavailable);
}

// A lock that only the old store has.
// Spec: 003-52
TEST(PhaseDualNewDecidesTest, ReadsTheOldStoreToo) {
  MoveStage stage(Phase::kOld);
  stage.Fail(6);
  stage.GoTo(Phase::kDualNewDecides);
  EXPECT_FALSE(stage.InNew("!").has_value());
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
}

// Spec: 003-52
TEST(PhaseDualNewDecidesTest, UsesTheStricterOfTwoLocks) {
  MoveStage stage(Phase::kDualNewDecides);
  const auto lock = [&](int64_t until) {
    return item::Item{{"sk", kLockKey},
                      {"block_type", "STANDARD"},
                      {"ttl", attempts::Int(stage.clock.NowSeconds() + until)}};
  };
  item::Item in_new = lock(100);
  in_new.Set("subject_id", stage.person.text());
  CHECK(stage.model.Put({.table = attempts::kDefaultTable, .item = in_new}).has_value());
  stage.old_store.Store(stage.person, lock(200));
  stage.Pass(150);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  stage.Pass(50);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

// A count that is split over both stores is one count (flaws 15 and 17 of the spec).
// Spec: 003-52
TEST(PhaseDualNewDecidesTest, SplitCountsAreJoined) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(2);
  stage.NewIsAway(true);
  stage.Fail(2);
  stage.NewIsAway(false);
  stage.GoTo(Phase::kDualNewDecides);
  EXPECT_EQ(stage.CountOf(), 4u);
  stage.OldIsAway(true);
  EXPECT_EQ(stage.CountOf(), 2u);
  stage.Fail(1);
  stage.OldIsAway(false);
  // Two are in both, two in the old one only, one in the new one only.
  EXPECT_EQ(stage.CountOf(), 5u);
  EXPECT_EQ(stage.Fail(1).verdict, Verdict::kTemporarilyLocked);
}

// Spec: 003-53
TEST(PhaseNewOldReadableTest, WritesTheNewStoreAndReadsOldLocks) {
  MoveStage stage(Phase::kOld);
  stage.Fail(6);
  stage.GoTo(Phase::kNewOldReadable);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  stage.old_store.decide = [](MemoryStore::Call call) {
    EXPECT_EQ(call, MemoryStore::Call::kRead);
    return std::nullopt;
  };
  stage.Fail(&stage.process, attempts::kMfaCode, 1);
  EXPECT_EQ(NumberIn(*stage.InNew("SIGN_IN#ERROR_COUNT#MFA_CODE_ENTRY"), "count"), 1);
  EXPECT_FALSE(stage.InOld("SIGN_IN#ERROR_COUNT#MFA_CODE_ENTRY").has_value());
  stage.Pass(899);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  stage.Pass(1);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

// Neither does a process that starts in this phase, or one that looks up the phase again.
// Spec: 003-54
TEST(PhaseNewTest, NeverTouchesTheOldStore) {
  MoveStage stage(Phase::kNewOldReadable);
  stage.GoTo(Phase::kNew);
  stage.old_store.calls = 0;
  EXPECT_EQ(stage.Fail(6).verdict, Verdict::kTemporarilyLocked);
  const auto another = stage.Another();
  ASSERT_TRUE(another->stores.Start(Phase::kNew).has_value());
  EXPECT_EQ(stage.VerdictOf(another.get()), Verdict::kTemporarilyLocked);
  stage.Pass(kPhaseAge.count() + 1);
  ASSERT_TRUE(another->attempts.Unlock(stage.person, kPasswordLock).has_value());
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
  EXPECT_EQ(stage.old_store.calls, 0);
}

class ClearTest : public ::testing::TestWithParam<Phase> {};

// A store that missed the clear must not bring the lock back.
// Spec: 003-55
TEST_P(ClearTest, IsNotUndoneByTheOtherStore) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(6);
  stage.GoTo(GetParam());
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  ASSERT_TRUE(stage.process.attempts.Unlock(stage.person, kPasswordLock).has_value());
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
  for (const Phase phase : {Phase::kDualOldDecides, Phase::kDualNewDecides, Phase::kNewOldReadable,
                            Phase::kDualNewDecides, Phase::kDualOldDecides}) {
    stage.GoTo(phase);
    EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted) << ToString(phase);
  }
  EXPECT_EQ(stage.CountOf(), 0u);
}

// Spec: 003-55
TEST_P(ClearTest, HoldsWhenTheOtherStoreMissesIt) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(6);
  stage.GoTo(GetParam());
  const bool is_old = DeciderOf(GetParam()) == Side::kOld;
  is_old ? stage.NewIsAway(true) : stage.OldIsAway(true);
  ASSERT_TRUE(stage.process.attempts.Unlock(stage.person, kPasswordLock).has_value());
  stage.OldIsAway(false);
  stage.NewIsAway(false);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
  // A new failure starts from zero, and is not joined with the cleared ones.
  stage.Fail(1);
  EXPECT_EQ(stage.CountOf(), 1u);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

// A success clears the count, and joining must not undo that.
// Spec: 003-55
TEST_P(ClearTest, HoldsForCountsThatSuccessClears) {
  MoveStage stage(Phase::kDualOldDecides);
  const attempts::Name& name = attempts::kMfaCode;
  stage.Fail(&stage.process, name, 3);
  stage.GoTo(GetParam());
  const bool is_old = DeciderOf(GetParam()) == Side::kOld;
  is_old ? stage.NewIsAway(true) : stage.OldIsAway(true);
  ASSERT_TRUE(ReserveNow(stage.process.attempts,
                         {.subject = stage.person, .name = name, .attempt_id = "right"})
                  .has_value());
  ASSERT_TRUE(
      SettleNow(stage.process.attempts,
                {.subject = stage.person, .name = name, .attempt_id = "right", .right = true})
          .has_value());
  stage.OldIsAway(false);
  stage.NewIsAway(false);
  EXPECT_EQ(*stage.process.attempts.Get(stage.person, name), 0u);
}

INSTANTIATE_TEST_SUITE_P(Dual, ClearTest,
                         ::testing::Values(Phase::kDualOldDecides, Phase::kDualNewDecides,
                                           Phase::kNewOldReadable),
                         [](const auto& phase) {
                           return "Phase" + std::to_string(static_cast<int>(phase.param) + 1);
                         });

struct Step {
  Phase from;
  Phase to;
};
class StepTest : public ::testing::TestWithParam<Step> {};

// Five tries before the change and the sixth after it, in a process that knows only the old phase.
// Spec: 003-56
TEST_P(StepTest, LocksAtTheSixthTryWhereverThePhaseChanges) {
  for (int before = 0; before <= 5; ++before) {
    MoveStage stage(GetParam().from);
    const auto another = stage.Another();
    if (before > 0) stage.Fail(another.get(), kPassword, before);
    EXPECT_EQ(stage.VerdictOf(another.get()), Verdict::kPermitted);
    stage.Pass(20);
    stage.GoTo(GetParam().to);
    EXPECT_EQ(stage.Fail(another.get(), kPassword, 6 - before).verdict,
              Verdict::kTemporarilyLocked);
    EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  }
}

// An open attempt keeps its slot.
// Spec: 003-56
TEST_P(StepTest, SettlesAnOpenAttemptInTheNextPhase) {
  MoveStage stage(GetParam().from);
  stage.Fail(5);
  ASSERT_EQ(ReserveNow(stage.process.attempts,
                       {.subject = stage.person, .name = kPassword, .attempt_id = "sixth"})
                ->verdict,
            Verdict::kPermitted);
  stage.GoTo(GetParam().to);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kBusy);
  const auto settled = SettleNow(
      stage.process.attempts,
      {.subject = stage.person, .name = kPassword, .attempt_id = "sixth", .right = false});
  ASSERT_TRUE(settled.has_value());
  EXPECT_TRUE(settled->known);
  EXPECT_EQ(settled->decision.verdict, Verdict::kTemporarilyLocked);
}

INSTANTIATE_TEST_SUITE_P(ForwardAndBack, StepTest,
                         ::testing::Values(Step{Phase::kOld, Phase::kDualOldDecides},
                                           Step{Phase::kDualOldDecides, Phase::kDualNewDecides},
                                           Step{Phase::kDualNewDecides, Phase::kNewOldReadable},
                                           Step{Phase::kNewOldReadable, Phase::kNew},
                                           Step{Phase::kNew, Phase::kNewOldReadable},
                                           Step{Phase::kNewOldReadable, Phase::kDualNewDecides},
                                           Step{Phase::kDualNewDecides, Phase::kDualOldDecides},
                                           Step{Phase::kDualOldDecides, Phase::kOld}),
                         [](const auto& step) {
                           return "Phase" + std::to_string(static_cast<int>(step.param.from) + 1) +
                                  "To" + std::to_string(static_cast<int>(step.param.to) + 1);
                         });

// Spec: 003-57
TEST(FailureTest, OfTheStoreThatDoesNotDecideIsLoggedAndCounted) {
  for (const Phase phase : {Phase::kDualOldDecides, Phase::kDualNewDecides}) {
    MoveStage stage(phase);
    stage.Fail(2);
    EXPECT_EQ(stage.process.MetricOf("tidemark_attempts_missed_total"), 0);
    DeciderOf(phase) == Side::kOld ? stage.NewIsAway(true) : stage.OldIsAway(true);
    EXPECT_EQ(stage.Fail(4).verdict, Verdict::kTemporarilyLocked);
    EXPECT_THAT(stage.log.str(), HasSubstr("the store that does not decide failed"));
    EXPECT_GT(stage.process.MetricOf("tidemark_attempts_missed_total"), 0);
    EXPECT_GT(stage.process.MetricOf("tidemark_attempts_drift_total"), 0);
  }
}

// The write to the other store fails, although the read before it succeeded.
// Spec: 003-57
TEST(FailureTest, OfTheSecondWriteIsLoggedAndCounted) {
  MoveStage stage(Phase::kDualNewDecides);
  stage.old_store.decide = [](MemoryStore::Call call) {
    return call == MemoryStore::Call::kWrite ? std::optional(Away()) : std::nullopt;
  };
  stage.Fail(1);
  EXPECT_EQ(stage.CountOf(), 1u);
  EXPECT_GT(stage.process.MetricOf("tidemark_attempts_missed_total"), 0);
  EXPECT_EQ(stage.process.stores.GetDrift()->count, 2u);
}

// The write was applied and its reply was lost: the attempt counts once.
TEST(FailureTest, ALostReplyCountsOnce) {
  for (const Phase phase : {Phase::kDualOldDecides, Phase::kDualNewDecides}) {
    MoveStage stage(phase);
    int lost = 3;
    stage.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
      if (operation != testing::Operation::kTransact || lost == 0) return std::nullopt;
      --lost;
      return testing::LostReply();
    };
    stage.Fail(5);
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(stage.CountOf(), 5u) << ToString(phase);
    EXPECT_EQ(NumberIn(*stage.InNew(kCountKey), "count"), 5);
    EXPECT_EQ(NumberIn(*stage.InOld(kCountKey), "count"), 5);
  }
}

TEST(FailureTest, OfTheStoreThatDecidesEndsTheCall) {
  for (const Phase phase : kAllPhases) {
    MoveStage stage(phase);
    DeciderOf(phase) == Side::kOld ? stage.OldIsAway(true) : stage.NewIsAway(true);
    const auto decision = ReserveNow(
        stage.process.attempts, {.subject = stage.person, .name = kPassword, .attempt_id = "a"});
    EXPECT_FALSE(decision.has_value()) << ToString(phase);
  }
}

// A read notices differences, except shortly after a write.
TEST(DriftTest, IsSeenByAReader) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(1);
  stage.VerdictOf();
  EXPECT_EQ(stage.process.stores.GetDrift()->count, 0u);
  const item::Item lock{{"sk", kLockKey},
                        {"block_type", "STANDARD"},
                        {"ttl", attempts::Int(stage.clock.NowSeconds() + 500)}};
  stage.old_store.Store(stage.person, lock);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  EXPECT_EQ(stage.process.stores.GetDrift()->count, 1u);
  EXPECT_THAT(stage.log.str(), HasSubstr("the old store and the new one differ"));
}

}  // namespace
}  // namespace tidemark::moving
