// Every order in which checks, removals and invalidations can meet at the tables and at Slack.
#include <memory>

#include <gtest/gtest.h>

#include "tests/gate/stage.h"
#include "tests/support/schedule.h"

namespace tidemark::gate {

using namespace testing;
using slack::LookupOutcome;

Subject TeamAlone() { return Triple("", ""); }
Subject Pair() { return Triple(kUser, ""); }

// A stage on which actors give way before every call of the tables and of Slack.
struct SteppedStage : Stage {
  explicit SteppedStage(Schedule* schedule, bool at_reads = true) {
    existence->Check(TeamAlone());  // Fewer steps, and nothing else is different.
    fault = [schedule, at_reads](Operation operation) -> std::optional<Fault> {
      if (at_reads || Writes(operation)) schedule->Step();
      return std::nullopt;
    };
    slack.on_ask = [schedule] { schedule->Step(); };
  }
  // To be called when the actors are done.
  void Relax() {
    fault = nullptr;
    slack.on_ask = nullptr;
  }
};

// "No allow after revoke": once an invalidation has returned, nobody is let in by what Slack said
// before the removal. Two processes: in one they would wait for each other's flight, which the
// schedule does not see (for that, VerifyTest.AnInvalidationEndsTheSharing).
TEST(InterleavingTest, NobodyIsLetInAfterAnInvalidation) {
  size_t runs = Explore(100'000, [&](Schedule& schedule) {
    SteppedStage stage(&schedule);
    std::unique_ptr<Existence> other = stage.AnotherProcess();
    Verdict after;
    schedule.Run({[&] { stage.existence->Check(Pair()); },
                  [&] {
                    stage.slack.Set(kUser, LookupOutcome::kInactive);
                    EXPECT_TRUE(other->Invalidate(slack::EntityKind::kUser, kUser));
                    after = other->Check(Pair());
                  }});
    stage.Relax();
    EXPECT_EQ(after, Refused(Reason::kUserInactive));
    EXPECT_EQ(stage.existence->Check(Pair()), Refused(Reason::kUserInactive));
    stage.clock.Advance(std::chrono::seconds(31));
    EXPECT_EQ(stage.existence->Check(Pair()), Refused(Reason::kUserInactive));
  });
  EXPECT_GT(runs, 100U);
}

// Without an invalidation: a slow "exists" does not outlive the newer "deleted" of another process.
TEST(InterleavingTest, ASlowYesDoesNotOutliveANewerNo) {
  size_t denials = 0;
  Explore(100'000, [&](Schedule& schedule) {
    SteppedStage stage(&schedule);
    std::unique_ptr<Existence> other = stage.AnotherProcess();
    Verdict verdict;
    schedule.Run({[&] { stage.existence->Check(Pair()); },
                  [&] {
                    stage.slack.Set(kUser, LookupOutcome::kInactive);
                    stage.clock.Advance(std::chrono::seconds(1));
                    verdict = other->Check(Pair());
                  }});
    stage.Relax();
    if (verdict.decision != Decision::kDeny) return;  // It was let in by what is still fresh.
    ++denials;
    EXPECT_EQ(stage.existence->Check(Pair()), Refused(Reason::kUserInactive));
    stage.clock.Advance(std::chrono::seconds(31));
    EXPECT_EQ(stage.existence->Check(Pair()), Refused(Reason::kUserInactive));
  });
  EXPECT_GT(denials, 50U);
}

// Three at once, in fewer steps: two processes check while a third party removes the user.
TEST(InterleavingTest, TwoWhoCheckDuringARemovalLeaveNothingBehind) {
  size_t runs = Explore(100'000, [&](Schedule& schedule) {
    SteppedStage stage(&schedule, /*at_reads=*/false);
    std::unique_ptr<Existence> other = stage.AnotherProcess();
    std::unique_ptr<Existence> remover = stage.AnotherProcess();
    schedule.Run({[&] { stage.existence->Check(Pair()); }, [&] { other->Check(Pair()); },
                  [&] {
                    stage.slack.Set(kUser, LookupOutcome::kInactive);
                    stage.clock.Advance(std::chrono::seconds(1));
                    EXPECT_TRUE(remover->Invalidate(slack::EntityKind::kUser, kUser));
                  }});
    stage.Relax();
    EXPECT_EQ(other->Check(Pair()), Refused(Reason::kUserInactive));
    stage.clock.Advance(std::chrono::seconds(31));
    EXPECT_EQ(stage.existence->Check(Pair()), Refused(Reason::kUserInactive));
  });
  EXPECT_GT(runs, 100U);
}

}  // namespace tidemark::gate
