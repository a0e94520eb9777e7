#include "base/clock.h"

#include <gtest/gtest.h>

#include "base/expiry.h"
#include "tests/support/manual_time.h"

namespace tidemark {
namespace {

using std::chrono::milliseconds;

TEST(ManualClockTest, StandsStillUntilItIsMoved) {
  ManualClock clock(1000);
  EXPECT_EQ(clock.NowSeconds(), 1000);
  clock.Advance(milliseconds(1500));
  EXPECT_EQ(clock.Now(), milliseconds(1'001'500));
  EXPECT_EQ(clock.NowSeconds(), 1001);
  EXPECT_EQ(clock.Monotonic(), milliseconds(1500));
}

// An administrator may set the wall clock back. The monotonic clock must not change.
TEST(ManualClockTest, SetsTheWallClockAlone) {
  ManualClock clock(1000);
  clock.SetNow(500);
  EXPECT_EQ(clock.NowSeconds(), 500);
  EXPECT_EQ(clock.Monotonic(), milliseconds(0));
}

TEST(SystemClockTest, ShowsAPlausibleTimeAndNeverGoesBack) {
  SystemClock clock;
  EXPECT_GT(clock.NowSeconds(), 1'700'000'000);
  const auto before = clock.Monotonic();
  EXPECT_LE(before, clock.Monotonic());
}

// The rule of expiry: an item is expired from the second of its deadline on.
TEST(ExpiryTest, IsLiveStrictlyBeforeTheDeadline) {
  EXPECT_TRUE(IsLive(/*ttl=*/100, /*now=*/99));
  EXPECT_FALSE(IsLive(/*ttl=*/100, /*now=*/100));
  EXPECT_FALSE(IsLive(/*ttl=*/100, /*now=*/101));
}

}  // namespace
}  // namespace tidemark
