#include "base/rate_limiter.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

struct Limited {
  explicit Limited(const RateLimiterOptions& options)
      : limiter(*RateLimiter::Make(options, clock, sleeper)) {}

  Status Take(nanoseconds within = std::chrono::minutes(1), const std::stop_token& stop = {}) {
    return limiter->Take(Deadline::After(clock, within), stop);
  }

  ManualClock clock;
  ManualSleeper sleeper{&clock};
  std::unique_ptr<RateLimiter> limiter;
};

// A burst of the rate at once, and the others at the rate.
// Spec: 002-63
TEST(RateLimiterTest, ThreeTimesTheRateTakesTwoSeconds) {
  Limited limited({.rate_per_second = 100});
  std::vector<nanoseconds> passed;
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(limited.Take());
    passed.push_back(limited.clock.Monotonic());
  }
  EXPECT_EQ(passed[99], nanoseconds(0));
  EXPECT_GT(passed[100], nanoseconds(0));
  EXPECT_EQ(passed[299], std::chrono::seconds(2));
  // No second has more calls than the burst plus the rate.
  for (size_t i = 0; i + 200 < passed.size(); ++i) {
    EXPECT_GE(passed[i + 200] - passed[i], std::chrono::seconds(1));
  }
}

TEST(RateLimiterTest, DoesNotExceedARateThatDoesNotDivideASecond) {
  Limited limited({.rate_per_second = 3, .burst = 1});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(limited.Take());
  // Two waits of a third of a second, rounded up to whole nanoseconds.
  EXPECT_EQ(limited.sleeper.slept().size(), 2U);
  EXPECT_GE(limited.clock.Monotonic(), nanoseconds(2 * 333'333'334));
}

TEST(RateLimiterTest, AnIdleTimeGivesNoMoreThanTheBurst) {
  Limited limited({.rate_per_second = 10, .burst = 2});
  limited.clock.Advance(std::chrono::hours(1));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(limited.Take());
  EXPECT_EQ(limited.sleeper.slept(), std::vector<milliseconds>{milliseconds(100)});
}

// The caller must not wait when it would be too late anyway.
TEST(RateLimiterTest, RefusesAtOnceWhenTheTurnIsAfterTheDeadline) {
  Limited limited({.rate_per_second = 1});
  ASSERT_TRUE(limited.Take(milliseconds(500)));
  const Status taken = limited.Take(milliseconds(500));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(limited.sleeper.slept().empty());
  // The refused call has not used a turn.
  ASSERT_TRUE(limited.Take(milliseconds(1001)));
  EXPECT_EQ(limited.clock.Monotonic(), std::chrono::seconds(1));
}

// Spec: 002-64
TEST(RateLimiterTest, ACancelledWaitReturnsTheCancellationAndItsTurn) {
  Limited limited({.rate_per_second = 1});
  ASSERT_TRUE(limited.Take());
  std::stop_source source;
  limited.sleeper.on_sleep = [&](nanoseconds) { source.request_stop(); };
  const Status taken = limited.Take(std::chrono::minutes(1), source.get_token());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kCancelled);
  limited.sleeper.on_sleep = nullptr;
  ASSERT_TRUE(limited.Take());
  EXPECT_EQ(limited.clock.Monotonic(), std::chrono::seconds(1));
}

// On the real clock, at a rate at which the last turn would come in minutes. After the common stop
// all callers return. There is no ticker thread that could stay behind.
// Spec: 002-64
TEST(RateLimiterTest, NoCallerWaitsAfterAStop) {
  SystemClock clock;
  SystemSleeper sleeper;
  const auto limiter = *RateLimiter::Make({.rate_per_second = 1, .burst = 1}, clock, sleeper);
  const Deadline deadline = Deadline::After(clock, std::chrono::hours(1));
  std::stop_source source;
  std::atomic<int> passed = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 200; ++i) {
    callers.emplace_back([&] { passed += limiter->Take(deadline, source.get_token()) ? 1 : 0; });
  }
  source.request_stop();
  for (std::thread& caller : callers) caller.join();
  EXPECT_LT(passed, 200);
  EXPECT_EQ(limiter->Take(deadline, source.get_token()).error().code, ErrorCode::kCancelled);
}

TEST(RateLimiterTest, GivesTurnsInTheOrderOfTheCalls) {
  Limited limited({.rate_per_second = 10, .burst = 1});
  std::vector<milliseconds> waits;
  limited.sleeper.on_sleep = [&](nanoseconds length) {
    waits.push_back(std::chrono::duration_cast<milliseconds>(length));
    if (waits.size() < 4) (void)limited.Take();
  };
  ASSERT_TRUE(limited.Take());
  ASSERT_TRUE(limited.Take());
  EXPECT_EQ(waits, (std::vector<milliseconds>{milliseconds(100), milliseconds(200),
                                              milliseconds(300), milliseconds(400)}));
}

// A rate of zero is a mistake in the settings, so it is refused.
// Spec: 002-65
TEST(RateLimiterTest, RefusesARateThatIsNotPositive) {
  ManualClock clock;
  ManualSleeper sleeper(&clock);
  for (const int64_t rate : {int64_t{0}, int64_t{-1}, int64_t{1'000'001}}) {
    const auto limiter = RateLimiter::Make({.rate_per_second = rate}, clock, sleeper);
    ASSERT_FALSE(limiter.has_value()) << rate;
    EXPECT_EQ(limiter.error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(RateLimiter::Make({.burst = -1}, clock, sleeper).has_value());
}

}  // namespace
}  // namespace tidemark
