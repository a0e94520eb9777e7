// The gate while everything around it fails: tables that throttle and lose replies, clocks that
// disagree, a sweeper that runs at random times, users that are removed and come back.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/gate/stage.h"
#include "tests/support/offset_clock.h"

namespace tidemark::gate {

using namespace testing;
using slack::LookupOutcome;
using std::chrono::seconds;

struct Process {
  Process(Stage* stage, seconds offset)
      : clock(&stage->clock, offset),
        existence({.checks_per_team_minute = 0}, &stage->tables, &stage->slack, &stage->tokens,
                  stage->AnotherRuntime(clock)) {}

  OffsetClock clock;
  Existence existence;
};

// Removes a user and invalidates it; the invalidation is repeated until it is stored.
void Remove(Stage* stage, Process* process, const std::string& user) {
  stage->slack.Set(user, LookupOutcome::kInactive);
  while (!process->existence.Invalidate(slack::EntityKind::kUser, user)) {
  }
}

// A removed user is never allowed, and an existing user is never refused for longer than half a
// minute.
TEST(NuisanceTest, VerdictsAreCorrectDespiteFailures) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Stage stage;
    SeededRandom random(seed);
    stage.fault = RandomFaults({.seed = seed, .throttled_percent = 20, .lost_percent = 15});
    std::vector<std::unique_ptr<Process>> processes;
    for (int offset : {0, 2, -2}) {
      processes.push_back(std::make_unique<Process>(&stage, seconds(offset)));
    }
    std::vector<bool> is_active(3, true);
    std::vector<std::chrono::nanoseconds> since(3);
    int allowed = 0;
    for (int i = 0; i < 200; ++i) {
      Process& process = *processes[random.Below(processes.size())];
      const size_t which = random.Below(is_active.size());
      const std::string user = "U0" + std::to_string(which);
      if (random.Below(12) == 0) {
        if (is_active[which]) Remove(&stage, &process, user);
        if (!is_active[which]) stage.slack.Set(user, LookupOutcome::kActive);
        is_active[which] = !is_active[which];
        since[which] = stage.clock.Monotonic();
      }
      if (random.Below(10) == 0) stage.model.Maintain();
      const Verdict verdict = process.existence.Check(Triple(user));
      const bool is_settled = stage.clock.Monotonic() - since[which] > seconds(30 + 4);
      if (!is_active[which] || is_settled) {
        EXPECT_EQ(verdict.decision, is_active[which] ? Decision::kAllow : Decision::kDeny) << i;
      }
      allowed += verdict.decision == Decision::kAllow ? 1 : 0;
      stage.clock.Advance(seconds(random.Below(20)));
    }
    EXPECT_GT(allowed, 30);
  }
}

}  // namespace tidemark::gate
