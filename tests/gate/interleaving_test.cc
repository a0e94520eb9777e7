// Checks, removals and invalidations in every order of their calls to the tables and to Slack.
#include <memory>

#include <gtest/gtest.h>

#include "tests/gate/stage.h"
#include "tests/support/schedule.h"

namespace tidemark::gate {

using namespace testing;
using slack::LookupOutcome;

Subject TeamAlone() { return Triple("", ""); }
Subject Pair() { return Triple(kUser, ""); }

// A stage on which actors yield before every call to the tables and to Slack.
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

// "No allow after revoke": after an invalidation has returned, an answer that Slack gave before the
// removal allows nobody. The test uses two processes. In one process the checks would share their
// calls, and the schedule cannot see that wait (VerifyTest.AnInvalidationEndsTheSharingOfCalls
// tests it).
TEST(InterleavingTest, AllowsNobodyAfterAnInvalidation) {
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
TEST(InterleavingTest, ASlowConfirmationDoesNotOutliveANewerRefusal) {
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
    if (verdict.decision != Decision::kDeny)
      return;  // A cached answer that is still fresh allowed it.
    ++denials;
    EXPECT_EQ(stage.existence->Check(Pair()), Refused(Reason::kUserInactive));
    stage.clock.Advance(std::chrono::seconds(31));
    EXPECT_EQ(stage.existence->Check(Pair()), Refused(Reason::kUserInactive));
  });
  EXPECT_GT(denials, 50U);
}

// Three actors with fewer steps: two processes check while the user is removed.
TEST(InterleavingTest, TwoChecksDuringARemovalStoreNothingWrong) {
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
