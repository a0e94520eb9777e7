#include "apps/gate/team_limit.h"

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark::gate {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TeamLimitTest, AllowsABurstAndThenASteadyRate) {
  ManualClock clock;
  TeamLimit limit({.per_minute = 60, .max_teams = 10}, &clock);
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(limit.Take("T1")) << i;
  EXPECT_FALSE(limit.Take("T1"));
  clock.Advance(milliseconds(999));
  EXPECT_FALSE(limit.Take("T1"));
  clock.Advance(milliseconds(1));
  EXPECT_TRUE(limit.Take("T1"));
  EXPECT_FALSE(limit.Take("T1"));
}

// Unused calls are not saved up beyond the limit.
TEST(TeamLimitTest, SavesUpNoMoreThanOneMinute) {
  ManualClock clock;
  TeamLimit limit({.per_minute = 7, .max_teams = 10}, &clock);
  EXPECT_TRUE(limit.Take("T1"));
  clock.Advance(std::chrono::hours(1));
  int taken = 0;
  while (limit.Take("T1")) ++taken;
  EXPECT_EQ(taken, 7);
}

TEST(TeamLimitTest, LimitsEachTeamOnItsOwn) {
  ManualClock clock;
  TeamLimit limit({.per_minute = 1, .max_teams = 10}, &clock);
  EXPECT_TRUE(limit.Take("T1"));
  EXPECT_TRUE(limit.Take("T2"));
  EXPECT_FALSE(limit.Take("T1"));
}

// Forgetting a team that is at its limit would lift the limit.
TEST(TeamLimitTest, RefusesANewTeamWhenFull) {
  ManualClock clock;
  TeamLimit limit({.per_minute = 1, .max_teams = 2}, &clock);
  EXPECT_TRUE(limit.Take("T1"));
  clock.Advance(seconds(30));
  EXPECT_TRUE(limit.Take("T2"));
  EXPECT_FALSE(limit.Take("T3"));
  EXPECT_FALSE(limit.Take("T1"));
  clock.Advance(
      seconds(30));  // The first team has its whole allowance again, so it may be dropped.
  EXPECT_TRUE(limit.Take("T3"));
  EXPECT_FALSE(limit.Take("T2"));
}

TEST(TeamLimitTest, ZeroMeansNoLimit) {
  ManualClock clock;
  TeamLimit limit({.per_minute = 0, .max_teams = 0}, &clock);
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(limit.Take("T1"));
}

}  // namespace tidemark::gate
