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
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Optional;

template <typename T>
std::optional<Error> ErrorOf(const Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

// The table is there from the start, and stays empty of people.
// Spec: 003-50
TEST(PhaseOldTest, CountsInTheOldStoreAlone) {
  MoveStage stage(Phase::kOld);
  stage.NewIsAway(true);
  EXPECT_EQ(stage.Fail(6).verdict, Verdict::kTemporarilyLocked);
  stage.NewIsAway(false);
  EXPECT_TRUE(stage.InOld(kLockKey).has_value());
  EXPECT_TRUE(stage.model.DescribeTable(attempts::AttemptsOptions().table).has_value());
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
  // Without the new one it decides all the same; without the old one nobody does.
  stage.NewIsAway(true);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  stage.NewIsAway(false);
  stage.OldIsAway(true);
  EXPECT_EQ(
      stage.process.attempts.Decide({.subject = stage.person, .name = kPassword}).error().code,
      ErrorCode::kUnavailable);
}

// What one store says of a person who is locked there, in every combination.
// Spec: 003-52
TEST(PhaseDualNewDecidesTest, AsksTheOldOneToo) {
  MoveStage stage(Phase::kOld);
  stage.Fail(6);
  stage.GoTo(Phase::kDualNewDecides);
  EXPECT_FALSE(stage.InNew("!").has_value());
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
}

// Spec: 003-52
TEST(PhaseDualNewDecidesTest, TheStricterOneHolds) {
  MoveStage stage(Phase::kDualNewDecides);
  const auto lock = [&](int64_t until) {
    return item::Item{{"sk", kLockKey},
                      {"block_type", "STANDARD"},
                      {"ttl", attempts::Int(stage.clock.NowSeconds() + until)}};
  };
  item::Item in_new = lock(100);
  in_new.Set("subject_id", stage.person.text());
  CHECK(stage.model.Put({.table = attempts::AttemptsOptions().table, .item = in_new}).has_value());
  stage.old_store.Store(stage.person, lock(200));
  stage.Pass(150);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  stage.Pass(50);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

// Counts that are split over both are one count: flaw 17 of the spec, and flaw 15.
// Spec: 003-52
TEST(PhaseDualNewDecidesTest, SplitCountsAreCountedOnce) {
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
TEST(PhaseNewOldReadableTest, WritesTheNewOneAndOldLocksHold) {
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

// Also by a process that starts in it, and by one that looks whether it is still the phase.
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

// What passes the old store by would be lost, or be read without half of what is known: it is
// refused until there is but one store, and of other tables never.
TEST(OtherCallsTest, AreRefusedUntilThePhaseNew) {
  MoveStage stage(Phase::kOld);
  MovingTables& moving = stage.process.moving;
  const std::string ours = attempts::AttemptsOptions().table;
  const item::KeySchema keys{.partition = {"subject_id"}, .sort = item::KeyAttribute{"sk"}};
  ASSERT_TRUE(moving.CreateTable({.table = "other", .keys = keys}).has_value());
  const item::Item key = {{"subject_id", stage.person.text()}, {"sk", "a"}};
  const auto calls_to = [&](const std::string& table) {
    const tables::PutRequest put{.table = table, .item = key};
    const tables::QueryRequest query{.table = table,
                                     .key_condition = "subject_id = :s",
                                     .filter = "attribute_exists(reason)",
                                     .values = {{":s", stage.person.text()}}};
    return std::vector<std::optional<Error>>{
        ErrorOf(moving.Put(put)),
        ErrorOf(moving.Get({.table = table, .key = key})),
        ErrorOf(moving.Update({.table = table, .key = key})),
        ErrorOf(moving.Delete({.table = table, .key = key})),
        ErrorOf(moving.Query(query)),
        ErrorOf(moving.Scan({.table = table})),
        ErrorOf(moving.BatchGet({.tables = {{table, {.keys = {key}}}}})),
        ErrorOf(moving.BatchWrite({.tables = {{table, {tables::BatchWriteRequest::Put{key}}}}})),
        ErrorOf(moving.TransactGet({.gets = {{.table = table, .key = key}}})),
        ErrorOf(moving.TransactWrite({.actions = {put}})),
    };
  };
  for (const Phase phase : kAllPhases) {
    SCOPED_TRACE(ToString(phase));
    stage.GoTo(phase);
    EXPECT_THAT(calls_to("other"), Each(std::nullopt));
    if (phase == Phase::kNew) {
      EXPECT_THAT(calls_to(ours), Each(std::nullopt));
    } else {
      EXPECT_THAT(calls_to(ours), Each(Optional(Field(&Error::code, ErrorCode::kInvalid))));
      EXPECT_EQ(moving.DeleteTable(ours).error().code, ErrorCode::kInvalid);
      EXPECT_EQ(stage.InNew("a"), std::nullopt);
    }
  }
}

// The head is there, so all of it would be taken for rows of the subject.
TEST(OtherCallsTest, AWriteTogetherWithAnotherTableIsRefused) {
  MoveStage stage(Phase::kDualNewDecides);
  const item::Item head = {{"subject_id", stage.person.text()}, {"sk", std::string(kHeadKey)}};
  const item::Item row = {{"subject_id", stage.person.text()}, {"sk", "a"}};
  const auto reply = stage.process.moving.TransactWrite(
      {.actions = {tables::PutRequest{.table = attempts::AttemptsOptions().table, .item = head},
                   tables::PutRequest{.table = "other", .item = row}}});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(stage.InNew("a"), std::nullopt);
}

class ClearTest : public ::testing::TestWithParam<Phase> {};

// The store that misses the clear must not bring back what it still has.
// Spec: 003-55
TEST_P(ClearTest, NeitherStoreBringsTheLockBack) {
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
TEST_P(ClearTest, HoldsAlsoWhenTheOtherStoreMissesIt) {
  MoveStage stage(Phase::kDualOldDecides);
  stage.Fail(6);
  stage.GoTo(GetParam());
  const bool is_old = DeciderOf(GetParam()) == Side::kOld;
  is_old ? stage.NewIsAway(true) : stage.OldIsAway(true);
  ASSERT_TRUE(stage.process.attempts.Unlock(stage.person, kPasswordLock).has_value());
  stage.OldIsAway(false);
  stage.NewIsAway(false);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
  // Whoever fails now begins anew, and is not joined with what was cleared.
  stage.Fail(1);
  EXPECT_EQ(stage.CountOf(), 1u);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

// A right answer gives the count back; joining must not undo that.
// Spec: 003-55
TEST_P(ClearTest, HoldsForCountsThatSuccessClears) {
  MoveStage stage(Phase::kDualOldDecides);
  const attempts::Name& name = attempts::kMfaCode;
  stage.Fail(&stage.process, name, 3);
  stage.GoTo(GetParam());
  const bool is_old = DeciderOf(GetParam()) == Side::kOld;
  is_old ? stage.NewIsAway(true) : stage.OldIsAway(true);
  ASSERT_TRUE(
      stage.process.attempts.Reserve({.subject = stage.person, .name = name, .attempt_id = "right"})
          .has_value());
  ASSERT_TRUE(
      stage.process.attempts
          .Settle({.subject = stage.person, .name = name, .attempt_id = "right", .right = true})
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

// Five tries before, the sixth after; the process that tries has not heard of the change.
// Spec: 003-56
TEST_P(StepTest, TheSixthTryLocksWhereverThePhaseChanges) {
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

// An attempt under way keeps its slot over the change.
// Spec: 003-56
TEST_P(StepTest, AnAttemptUnderWayIsSettledInTheNextPhase) {
  MoveStage stage(GetParam().from);
  stage.Fail(5);
  ASSERT_EQ(stage.process.attempts
                .Reserve({.subject = stage.person, .name = kPassword, .attempt_id = "sixth"})
                ->verdict,
            Verdict::kPermitted);
  stage.GoTo(GetParam().to);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kBusy);
  const auto settled = stage.process.attempts.Settle(
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

// A failure between the two writes, which a read before it does not show.
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

// The write was applied and nobody heard of it: it is found, and counted once.
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

TEST(FailureTest, OfTheStoreThatDecidesDecidesNothing) {
  for (const Phase phase : kAllPhases) {
    MoveStage stage(phase);
    DeciderOf(phase) == Side::kOld ? stage.OldIsAway(true) : stage.NewIsAway(true);
    const auto decision = stage.process.attempts.Reserve(
        {.subject = stage.person, .name = kPassword, .attempt_id = "a"});
    EXPECT_FALSE(decision.has_value()) << ToString(phase);
  }
}

// Differences are noticed by reading, after the time in which a copy may still be on its way.
TEST(DriftTest, IsSeenByWhoeverReads) {
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
