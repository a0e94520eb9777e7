// What an operator does with the move: going on is held until it is safe, going back loses nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts_migration/move_stage.h"

namespace tidemark::moving {
namespace {

using attempts::kPassword;
using attempts::NumberIn;
using attempts::Verdict;
using ::testing::HasSubstr;
using ::testing::Not;

const int64_t kLongest = LongestLife(attempts::Policy::Default()).count();

Move Advance(MoveStage* stage) { return *stage->process.migration.Advance(); }
Move Back(MoveStage* stage) { return *stage->process.migration.Back(Force::kNo); }

// All the way, with somebody who is blocked for good and whom nobody touches on the way.
TEST(AdvanceTest, GoesThroughAllPhasesAndCarriesWhatHasNoEnd) {
  MoveStage stage(Phase::kOld);
  ASSERT_TRUE(
      stage.process.attempts.SetState(stage.person, attempts::AccountState::kBlocked, "fraud")
          .has_value());
  EXPECT_EQ(Advance(&stage).held_by, "");
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualOldDecides);
  for (const Phase next : {Phase::kDualNewDecides, Phase::kNewOldReadable, Phase::kNew}) {
    stage.Pass(kLongest - 1);
    EXPECT_THAT(Advance(&stage).held_by, HasSubstr("1 more seconds"));
    stage.Pass(1);
    EXPECT_EQ(Advance(&stage).held_by, "");
    EXPECT_EQ(stage.PhaseNow(), next);
  }
  EXPECT_TRUE(stage.InNew(kBlockedKey).has_value());
  EXPECT_EQ(stage.VerdictOf(), Verdict::kBlocked);
  EXPECT_THAT(Advance(&stage).held_by, HasSubstr("last phase"));
}

TEST(AdvanceTest, IsHeldWhileDriftIsSeen) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(1);
  stage.Pass(kLongest - 10);
  stage.NewIsAway(true);
  stage.Fail(1);
  stage.NewIsAway(false);
  stage.Pass(10);
  EXPECT_THAT(Advance(&stage).held_by, HasSubstr("more seconds without a difference"));
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualOldDecides);
  stage.Pass(kLongest - 10);
  EXPECT_EQ(Advance(&stage).held_by, "");
  EXPECT_EQ(stage.process.migration.GetStatus()->drift.count, 0u);
}

// What cannot be compared cannot be left behind.
TEST(AdvanceTest, FailsWhenAStoreCannotBeRead) {
  MoveStage stage(Phase::kDualNewDecides);
  stage.Fail(1);
  stage.Pass(kLongest);
  stage.OldIsAway(true);
  EXPECT_FALSE(stage.process.migration.Advance().has_value());
  stage.OldIsAway(false);
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualNewDecides);
}

// Two operators at once: one of them moves, the other is told.
TEST(AdvanceTest, OfTwoAtOnceOneMoves) {
  MoveStage stage(Phase::kOld);
  const auto another = stage.Another();
  ASSERT_EQ(another->stores.CurrentPhase()->phase, Phase::kOld);
  EXPECT_EQ(Advance(&stage).held_by, "");
  const PhaseRecord stale{.phase = Phase::kOld, .epoch = 1};
  EXPECT_FALSE(*another->stores.ChangePhase(stale, Phase::kDualOldDecides));
  EXPECT_EQ(stage.process.stores.CurrentPhase()->epoch, 2u);
}

// The operator's process ends between the two stores: whoever comes next finishes it.
TEST(AdvanceTest, AHalfDoneChangeIsFinishedByTheNext) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(5);
  const auto another = stage.Another();
  ASSERT_EQ(another->stores.CurrentPhase()->phase, Phase::kDualOldDecides);
  // The old store hears of it, the table does not.
  stage.NewIsAway(true);
  const PhaseRecord record = *stage.process.stores.CurrentPhase();
  EXPECT_FALSE(stage.process.stores.ChangePhase(record, Phase::kDualNewDecides).has_value());
  // Nobody decides meanwhile: the old one does not any more, the new one cannot be asked.
  EXPECT_FALSE(another->attempts.Decide({.subject = stage.person, .name = kPassword}).has_value());
  stage.NewIsAway(false);
  EXPECT_EQ(stage.Fail(another.get(), kPassword, 1).verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(another->stores.CurrentPhase()->phase, Phase::kDualNewDecides);
  EXPECT_EQ(another->table_store.GetPhase()->epoch, 2u);
}

// Whoever has not heard of the change would go on deciding by the old store.
TEST(AdvanceTest, AProcessThatHasNotHeardOfItDoesNotDecide) {
  MoveStage stage(Phase::kDualOldDecides);
  const auto another = stage.Another();
  EXPECT_EQ(stage.VerdictOf(another.get()), Verdict::kPermitted);
  stage.GoTo(Phase::kDualNewDecides);
  stage.NewIsAway(true);
  EXPECT_FALSE(another->attempts.Decide({.subject = stage.person, .name = kPassword}).has_value());
}

// Counted in each phase on the way back, with stores that missed something in between.
// Spec: 003-58
TEST(BackTest, NoCountIsLost) {
  MoveStage stage(Phase::kNew);
  uint64_t count = 0;
  for (;;) {
    EXPECT_EQ(stage.Fail(1).verdict, Verdict::kPermitted);
    EXPECT_EQ(stage.CountOf(), ++count) << ToString(stage.PhaseNow());
    if (stage.PhaseNow() == Phase::kOld) break;
    stage.Pass(30);
    ASSERT_EQ(Back(&stage).held_by, "");
    EXPECT_EQ(stage.CountOf(), count) << ToString(stage.PhaseNow());
  }
  EXPECT_EQ(count, 5u);
  // Only the old one is asked now, and it knows all of them.
  stage.NewIsAway(true);
  EXPECT_EQ(stage.Fail(1).verdict, Verdict::kTemporarilyLocked);
}

// The old store missed a failure in each phase in which it did not decide.
// Spec: 003-58
TEST(BackTest, CopiesWhatTheOldStoreHasMissed) {
  MoveStage stage(Phase::kDualNewDecides);
  stage.OldIsAway(true);
  stage.Fail(5);
  stage.OldIsAway(false);
  ASSERT_EQ(Back(&stage).held_by, "");
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualOldDecides);
  ASSERT_TRUE(stage.InOld(kCountKey).has_value());
  EXPECT_EQ(NumberIn(*stage.InOld(kCountKey), "count"), 5);
  stage.NewIsAway(true);
  EXPECT_EQ(stage.Fail(1).verdict, Verdict::kTemporarilyLocked);
}

// What was cleared in the phase `new`, without a word to the old store, is still there in that.
// Spec: 003-55, 003-58
TEST(BackTest, FromNewTheOldStoreBringsNothingBack) {
  MoveStage stage(Phase::kDualNewDecides);
  ASSERT_TRUE(
      stage.process.attempts.SetState(stage.person, attempts::AccountState::kBlocked, "fraud")
          .has_value());
  stage.GoTo(Phase::kNew);
  ASSERT_TRUE(stage.process.attempts.ClearState(stage.person, attempts::AccountState::kBlocked)
                  .has_value());
  ASSERT_TRUE(stage.InOld(kBlockedKey).has_value());
  ASSERT_EQ(Back(&stage).held_by, "");
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

// What the move remembers of a clear is still there when the table has long been on its own.
// Spec: 003-58
TEST(BackTest, FromNewNothingIsTakenForCleared) {
  MoveStage stage(Phase::kDualNewDecides);
  stage.Fail(5);
  ASSERT_TRUE(stage.process.attempts.Reset(stage.person, kPassword).has_value());
  stage.GoTo(Phase::kNew);
  stage.Fail(5);
  EXPECT_THAT(stage.log.str(), Not(HasSubstr("cannot be read")));
  while (stage.PhaseNow() != Phase::kOld) {
    stage.Pass(20);
    ASSERT_EQ(Back(&stage).held_by, "");
    EXPECT_EQ(stage.CountOf(), 5u) << ToString(stage.PhaseNow());
  }
  EXPECT_EQ(stage.Fail(1).verdict, Verdict::kTemporarilyLocked);
}

// A process may not have heard yet that the phase `new` is over, and write the new store alone.
TEST(BackTest, WaitsUntilEverybodyKnows) {
  MoveStage stage(Phase::kNew);
  ASSERT_EQ(Back(&stage).held_by, "");
  EXPECT_THAT(Back(&stage).held_by, HasSubstr("every process knows"));
  stage.Pass(15);
  EXPECT_EQ(Back(&stage).held_by, "");
}

TEST(BackTest, IsPossibleByForceWhenAStoreIsLost) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(3);
  stage.tables.decide = [](testing::Operation operation) {
    const bool is_phase =
        operation == testing::Operation::kGet || operation == testing::Operation::kPut;
    return is_phase ? std::nullopt : std::optional(testing::Throttled());
  };
  EXPECT_FALSE(stage.process.migration.Back(Force::kNo).has_value());
  ASSERT_TRUE(stage.process.migration.Back(Force::kYes).has_value());
  EXPECT_EQ(stage.PhaseNow(), Phase::kOld);
  EXPECT_EQ(stage.Fail(3).verdict, Verdict::kTemporarilyLocked);
}

TEST(VerifyTest, FindsWhatOneStoreLacksAndCopyingMendsIt) {
  MoveStage stage(Phase::kOld);
  ASSERT_TRUE(
      stage.process.attempts.SetState(stage.person, attempts::AccountState::kBlocked, "fraud")
          .has_value());
  EXPECT_FALSE(stage.process.migration.Verify().has_value());
  stage.GoTo(Phase::kDualOldDecides);
  Comparison comparison = *stage.process.migration.Verify();
  EXPECT_EQ(comparison.subjects, 1u);
  EXPECT_EQ(comparison.permanent, 1u);
  EXPECT_EQ(comparison.differing, 1u);
  EXPECT_EQ(comparison.example, "subject-a");
  EXPECT_FALSE(stage.InNew(kBlockedKey).has_value());
  ASSERT_TRUE(stage.process.migration.CopyAll().has_value());
  comparison = *stage.process.migration.Verify();
  EXPECT_EQ(comparison.differing, 0u);
  EXPECT_TRUE(stage.InNew(kBlockedKey).has_value());
}

// A server that is told to stop does not first copy millions of subjects.
TEST(StopTest, EndsACopyUnderWayAndLeavesThePhase) {
  MoveStage stage(Phase::kDualOldDecides);
  for (int i = 0; i < 20; ++i) {
    const auto subject = attempts::SubjectOf("subject-" + std::to_string(i));
    ASSERT_TRUE(stage.process.attempts.SetState(subject, attempts::AccountState::kBlocked, "fraud")
                    .has_value());
  }
  stage.Pass(kLongest);
  int calls = 0;
  stage.old_store.decide = [&](MemoryStore::Call) -> std::optional<Error> {
    if (++calls == 10) stage.process.migration.Stop();
    return std::nullopt;
  };
  const auto moved = stage.process.migration.Advance();
  ASSERT_FALSE(moved.has_value());
  EXPECT_EQ(moved.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(moved.error().message, HasSubstr("stops"));
  EXPECT_LT(calls, 20) << "one subject is finished, and no other begun";
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualOldDecides);
  EXPECT_FALSE(stage.process.migration.Verify().has_value());
  EXPECT_TRUE(stage.process.migration.GetStatus().has_value());
}

// The record outlives the process; the setting is only where a move begins.
TEST(StartTest, GoesOnWhereItWas) {
  MoveStage stage(Phase::kOld);
  ASSERT_EQ(Advance(&stage).held_by, "");
  const auto another = stage.Another();
  ASSERT_TRUE(another->stores.Start(Phase::kOld).has_value());
  EXPECT_EQ(another->stores.CurrentPhase()->phase, Phase::kDualOldDecides);
}

}  // namespace
}  // namespace tidemark::moving
