// What an operator does with a move: advancing waits until it is safe, going back loses nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts_migration/move_stage.h"

namespace tidemark::moving {
namespace {

using attempts::kPassword;
using attempts::NumberIn;
using attempts::Verdict;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const int64_t kLongest = LongestLife(attempts::Policy::Default()).count();

Move Advance(MoveStage* stage) { return *stage->process.migration.Advance(); }
// A lock as another program sets it.
item::Item LockFor(MoveStage* stage, int64_t seconds) {
  return {{"sk", kLockKey},
          {"block_type", "STANDARD"},
          {"ttl", attempts::Int(stage->clock.NowSeconds() + seconds)}};
}
Move Back(MoveStage* stage) { return *stage->process.migration.Back(Force::kNo); }

// Through all phases, with a person who has a permanent lock and makes no attempt in the meantime.
TEST(AdvanceTest, GoesThroughAllPhasesAndCopiesPermanentRows) {
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

TEST(AdvanceTest, IsRefusedWhileTheStoresDiffer) {
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

// A program that was not changed still counts and locks in the old store, for people that the
// server gets no requests about.
// Review: T1
TEST(AdvanceTest, IsHeldByAProgramThatStillWritesTheOldStore) {
  for (const Phase phase :
       {Phase::kDualOldDecides, Phase::kDualNewDecides, Phase::kNewOldReadable}) {
    MoveStage stage(phase);
    stage.Pass(kLongest);
    for (int round = 0; round < 2; ++round) {
      const auto quiet = attempts::SubjectOf("quiet-" + std::to_string(round));
      stage.old_store.Store(quiet, LockFor(&stage, 9'000));
      EXPECT_THAT(Advance(&stage).held_by, HasSubstr("1 of")) << ToString(phase);
      EXPECT_THAT(Advance(&stage).held_by, HasSubstr("more seconds without a difference"));
      EXPECT_EQ(stage.process.migration.GetStatus()->drift.count, round + 1u);
      EXPECT_GT(stage.process.MetricOf("tidemark_attempts_drift_total"), 0);
      stage.Pass(kLongest);
    }
    EXPECT_EQ(Advance(&stage).held_by, "") << ToString(phase);
    EXPECT_EQ(stage.PhaseNow(), *NextOf(phase));
  }
}

// Review: T15
TEST(AdvanceTest, FromOldCopiesLocksIntoTheTable) {
  MoveStage stage(Phase::kOld);
  stage.Fail(6);
  EXPECT_FALSE(stage.InNew(kLockKey).has_value());
  EXPECT_EQ(Advance(&stage).held_by, "");
  EXPECT_TRUE(stage.InNew(kLockKey).has_value());
  EXPECT_EQ(stage.process.migration.GetStatus()->drift.count, 0u);
}

// The first copy takes as long as there are subjects. Servers meet subjects that it has not come
// to, and note each as a difference; that must not send it back to the beginning. Review: T14
TEST(AdvanceTest, FromOldGoesOnAlthoughServersSeeDifferences) {
  MoveStage stage(Phase::kOld);
  for (int i = 0; i < 500; ++i) {
    const auto subject = attempts::SubjectOf("subject-" + std::to_string(i));
    ASSERT_TRUE(stage.process.attempts.SetLock(subject, {.name = attempts::kPasswordLock}, 900s));
  }
  constexpr auto kNoTime = std::chrono::milliseconds(0);
  Move move = *stage.process.migration.Advance(kNoTime);
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualOldDecides);
  ASSERT_TRUE(move.is_more);
  int steps = 0;
  for (; move.is_more && steps < 1'000; ++steps) {
    stage.process.stores.NoteDifference(stage.person, move.status.record);
    const uint64_t visited = move.status.visited;
    move = *stage.process.migration.Advance(kNoTime);
    EXPECT_GE(move.status.visited, visited);
  }
  EXPECT_FALSE(move.is_more);
  EXPECT_EQ(move.held_by, "");
  EXPECT_EQ(move.status.visited, 500u);
  EXPECT_GT(steps, 1);
  EXPECT_EQ(stage.process.migration.Verify(Copying::kNo)->differing, 0u);
}

// Servers write all the time. A write that is under way is no difference.
// Review: T14
TEST(AdvanceTest, IsNotHeldByWritesUnderWay) {
  MoveStage stage(Phase::kDualNewDecides);
  stage.Fail(1);
  stage.Pass(kLongest);
  const auto busy = stage.Another();
  int writes = 0;
  bool is_inside = false;
  stage.old_store.decide = [&](MemoryStore::Call call) -> std::optional<Error> {
    if (is_inside || call != MemoryStore::Call::kRead || writes == 5) return std::nullopt;
    is_inside = true;
    ++writes;
    stage.Fail(busy.get(), attempts::kMfaCode, 1);
    is_inside = false;
    return std::nullopt;
  };
  EXPECT_EQ(Advance(&stage).held_by, "");
  EXPECT_EQ(writes, 5);
}

// Review: T14
TEST(AdvanceTest, GoesOnWhereTheLastCallEnded) {
  MoveStage stage(Phase::kDualNewDecides);
  for (int i = 0; i < 500; ++i) {
    const auto subject = attempts::SubjectOf("subject-" + std::to_string(i));
    ASSERT_TRUE(stage.process.attempts.SetLock(subject, {.name = attempts::kPasswordLock}, 900s));
  }
  stage.Pass(kLongest);
  // Each call visits one subject.
  constexpr auto kNoTime = std::chrono::milliseconds(0);
  uint64_t visited = 0;
  int calls = 0;
  stage.old_store.calls = 0;
  for (;;) {
    const Move move = *stage.process.migration.Advance(kNoTime);
    EXPECT_GE(move.status.visited, visited);
    visited = move.status.visited;
    if (++calls == 2) {
      // A store that fails in between ends nothing.
      stage.OldIsAway(true);
      EXPECT_FALSE(stage.process.migration.Advance(kNoTime).has_value());
      stage.OldIsAway(false);
    }
    if (!move.is_more) {
      EXPECT_EQ(move.held_by, "");
      break;
    }
  }
  EXPECT_GE(calls, 500);
  EXPECT_EQ(visited, 500u);
  EXPECT_EQ(stage.PhaseNow(), Phase::kNewOldReadable);
}

// Review: T14
TEST(AdvanceTest, HoldsADifferenceThatAnEarlierCallFound) {
  MoveStage stage(Phase::kDualNewDecides);
  stage.Fail(1);
  stage.Pass(kLongest);
  stage.old_store.Store(attempts::SubjectOf("quiet"), LockFor(&stage, 9'000));
  Move move = *stage.process.migration.Advance(std::chrono::milliseconds(0));
  ASSERT_TRUE(move.is_more);
  while (move.is_more) move = *stage.process.migration.Advance(std::chrono::milliseconds(0));
  EXPECT_THAT(move.held_by, HasSubstr("1 of 2 subjects differed, for example quiet"));
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualNewDecides);
}

// The call that goes on after an error visits the subject whose visit has failed. Here each of the
// first reads fails once.
TEST(AdvanceTest, VisitsASubjectAgainAfterItsVisitFailed) {
  for (int failing = 1; failing <= 8; ++failing) {
    MoveStage stage(Phase::kDualOldDecides);
    stage.Fail(1);
    stage.Pass(kLongest);
    stage.old_store.Store(attempts::SubjectOf("quiet"), LockFor(&stage, 9'000));
    stage.old_store.decide = [failing, reads = 0](MemoryStore::Call call) mutable {
      const bool fails = call == MemoryStore::Call::kRead && ++reads == failing;
      return fails ? std::optional(Away()) : std::nullopt;
    };
    std::optional<Comparison> found;
    while (!found) {
      if (auto step = stage.process.migration.Verify(Copying::kYes, 0ms)) found = *std::move(step);
    }
    EXPECT_EQ(found->subjects, 2u) << failing;
    stage.person = attempts::SubjectOf("quiet");
    EXPECT_TRUE(stage.InNew(kLockKey).has_value()) << failing;
  }
}

// A store that cannot be read cannot be compared.
TEST(AdvanceTest, FailsWhenAStoreCannotBeRead) {
  MoveStage stage(Phase::kDualNewDecides);
  stage.Fail(1);
  stage.Pass(kLongest);
  stage.OldIsAway(true);
  EXPECT_FALSE(stage.process.migration.Advance().has_value());
  stage.OldIsAway(false);
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualNewDecides);
}

// Two operators at once: one changes the phase, the other is refused.
TEST(AdvanceTest, SucceedsForOneOfTwoOperators) {
  MoveStage stage(Phase::kOld);
  const auto another = stage.Another();
  ASSERT_EQ(another->stores.CurrentPhase()->phase, Phase::kOld);
  EXPECT_EQ(Advance(&stage).held_by, "");
  const PhaseRecord stale{.phase = Phase::kOld, .epoch = 1};
  EXPECT_FALSE(*another->stores.ChangePhase(stale, Phase::kDualOldDecides));
  EXPECT_EQ(stage.process.stores.CurrentPhase()->epoch, 2u);
}

// The process of the operator dies between the writes to the two stores. The next process finishes
// the change.
TEST(AdvanceTest, FinishesAChangeThatAnotherProcessBegan) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(5);
  const auto another = stage.Another();
  ASSERT_EQ(another->stores.CurrentPhase()->phase, Phase::kDualOldDecides);
  // The old store has the new phase, the table does not.
  stage.NewIsAway(true);
  const PhaseRecord record = *stage.process.stores.CurrentPhase();
  EXPECT_FALSE(stage.process.stores.ChangePhase(record, Phase::kDualNewDecides).has_value());
  // No store can decide: the old one refuses the old epoch, and the new one is not available.
  EXPECT_FALSE(another->attempts.Decide({.subject = stage.person, .name = kPassword}).has_value());
  stage.NewIsAway(false);
  EXPECT_EQ(stage.Fail(another.get(), kPassword, 1).verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(another->stores.CurrentPhase()->phase, Phase::kDualNewDecides);
  EXPECT_EQ(another->table_store.GetPhase()->epoch, 2u);
}

// Otherwise this process would go on deciding by the old store.
TEST(AdvanceTest, KeepsAProcessOfTheOldPhaseFromDeciding) {
  MoveStage stage(Phase::kDualOldDecides);
  const auto another = stage.Another();
  EXPECT_EQ(stage.VerdictOf(another.get()), Verdict::kPermitted);
  stage.GoTo(Phase::kDualNewDecides);
  stage.NewIsAway(true);
  EXPECT_FALSE(another->attempts.Decide({.subject = stage.person, .name = kPassword}).has_value());
}

// Counts in each phase on the way back.
// Spec: 003-58
TEST(BackTest, LosesNoCount) {
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
  // Only the old store is read now, and it has all of them.
  stage.NewIsAway(true);
  EXPECT_EQ(stage.Fail(1).verdict, Verdict::kTemporarilyLocked);
}

// The old store missed a failure in each phase in which it did not decide.
// Spec: 003-58
TEST(BackTest, CopiesRowsThatTheOldStoreMissed) {
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

// A row that was cleared in the phase `new` is still in the old store.
// Spec: 003-55, 003-58
TEST(BackTest, FromNewEmptiesTheOldStore) {
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

// Generations from before the phase `new` are still in the table after it.
// Spec: 003-58
TEST(BackTest, FromNewKeepsRowsWithoutAGeneration) {
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

// A process may still believe in the phase `new` and write only the table.
TEST(BackTest, WaitsUntilEveryProcessKnowsThePhase) {
  MoveStage stage(Phase::kNew);
  ASSERT_EQ(Back(&stage).held_by, "");
  EXPECT_THAT(Back(&stage).held_by, HasSubstr("every process knows"));
  stage.Pass(15);
  EXPECT_EQ(Back(&stage).held_by, "");
}

TEST(BackTest, WorksByForceWhenAStoreIsLost) {
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

TEST(VerifyTest, FindsAMissingRowUntilItIsCopied) {
  MoveStage stage(Phase::kOld);
  ASSERT_TRUE(
      stage.process.attempts.SetState(stage.person, attempts::AccountState::kBlocked, "fraud")
          .has_value());
  EXPECT_FALSE(stage.process.migration.Verify(Copying::kNo).has_value());
  stage.GoTo(Phase::kDualOldDecides);
  stage.Pass(20);
  Comparison comparison = *stage.process.migration.Verify(Copying::kNo);
  EXPECT_EQ(comparison.subjects, 1u);
  EXPECT_EQ(comparison.permanent, 1u);
  EXPECT_EQ(comparison.differing, 1u);
  EXPECT_EQ(comparison.example, "subject-a");
  EXPECT_FALSE(stage.InNew(kBlockedKey).has_value());
  EXPECT_EQ(stage.process.migration.Verify(Copying::kYes)->differing, 1u);
  comparison = *stage.process.migration.Verify(Copying::kNo);
  EXPECT_EQ(comparison.differing, 0u);
  EXPECT_TRUE(stage.InNew(kBlockedKey).has_value());
}

// Otherwise the copy would hide that a program still writes to the old store alone.
// Review: T1
TEST(VerifyTest, NotesTheDifferencesThatItFinds) {
  MoveStage stage(Phase::kNewOldReadable);
  stage.old_store.Store(attempts::SubjectOf("quiet"), LockFor(&stage, 900));
  stage.Pass(10);
  EXPECT_EQ(stage.process.migration.Verify(Copying::kYes)->differing, 1u);
  const MigrationStatus status = *stage.process.migration.GetStatus();
  EXPECT_EQ(status.drift.count, 1u);
  EXPECT_EQ(status.drift.last_at, stage.clock.NowSeconds());
  EXPECT_EQ(status.visited, 1u);
}

// A server that is told to stop does not first copy millions of subjects.
TEST(StopTest, EndsARunningCopyAndKeepsThePhase) {
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
  EXPECT_THAT(moved.error().message, HasSubstr("is stopping"));
  EXPECT_LT(calls, 20) << "one subject is finished, and no other begun";
  EXPECT_EQ(stage.PhaseNow(), Phase::kDualOldDecides);
  EXPECT_FALSE(stage.process.migration.Verify(Copying::kNo).has_value());
  EXPECT_TRUE(stage.process.migration.GetStatus().has_value());
}

// The stored phase counts; the setting is only the phase in which a move begins.
TEST(StartTest, ContinuesInTheStoredPhase) {
  MoveStage stage(Phase::kOld);
  ASSERT_EQ(Advance(&stage).held_by, "");
  const auto another = stage.Another();
  ASSERT_TRUE(another->stores.Start(Phase::kOld).has_value());
  EXPECT_EQ(another->stores.CurrentPhase()->phase, Phase::kDualOldDecides);
}

// The setting may name a phase that uses both stores at once.
// Review: T15
TEST(StartTest, CopiesBeforeTheTableDecides) {
  MoveStage stage(Phase::kOld);
  MemoryStore old_store;
  old_store.Store(stage.person, LockFor(&stage, 900));
  model::ModelTables tables{stage.clock};
  Process process(&old_store, &tables, &stage.clock, &stage.random);
  ASSERT_TRUE(process.table.Create().has_value());
  ASSERT_TRUE(process.migration.Start(Phase::kDualNewDecides).has_value());
  old_store.decide = [](MemoryStore::Call) { return Away(); };
  EXPECT_EQ(stage.VerdictOf(&process), Verdict::kTemporarilyLocked);
}

// Between two rounds it waits, so that it does not lose each of them to the same writer.
TEST(BackTest, WaitsBetweenItsRoundsWhenAnotherProgramWrites) {
  MoveStage stage(Phase::kNew);
  stage.old_store.Store(stage.person, LockFor(&stage, 900));
  stage.old_store.decide = [&](MemoryStore::Call call) -> std::optional<Error> {
    if (call == MemoryStore::Call::kWrite) stage.old_store.Store(stage.person, {{"sk", "x"}});
    return std::nullopt;
  };
  const auto moved = stage.process.migration.Back(Force::kNo);
  ASSERT_FALSE(moved.has_value());
  EXPECT_THAT(moved.error().message, HasSubstr("another program keeps writing to the old store"));
  EXPECT_THAT(stage.process.own.slept(), Not(::testing::IsEmpty()));
}

}  // namespace
}  // namespace tidemark::moving
