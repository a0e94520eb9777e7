// The rate limit: how many pass, in which order, and how they give up.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/documents/world.h"

namespace tidemark::documents {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

struct Limited {
  explicit Limited(const TokenBucketOptions& options)
      : bucket(*TokenBucket::Make(options, &clock, &pauser)) {}

  Context Within(nanoseconds length, std::stop_token stop = {}) {
    return {.deadline = Deadline::After(clock, length), .stop = std::move(stop)};
  }

  ManualClock clock;
  ManualPauser pauser{&clock};
  std::unique_ptr<TokenBucket> bucket;
};

// As many as the rate at once, the others as the rate allows.
// Spec: 002-63
TEST(TokenBucketTest, ThreeTimesTheRateTakesTwoSeconds) {
  Limited limited({.rate_per_second = 100});
  std::vector<nanoseconds> passed;
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(limited.bucket->Take(limited.Within(std::chrono::minutes(1))).has_value());
    passed.push_back(limited.clock.Monotonic());
  }
  EXPECT_EQ(passed[99], nanoseconds(0));
  EXPECT_GT(passed[100], nanoseconds(0));
  EXPECT_EQ(passed[299], std::chrono::seconds(2));
  // In no second more than the burst and the rate together.
  for (size_t i = 0; i + 200 < passed.size(); ++i) {
    EXPECT_GE(passed[i + 200] - passed[i], std::chrono::seconds(1));
  }
}

// A rate that does not divide a second is not exceeded.
TEST(TokenBucketTest, KeepsToOddRates) {
  Limited limited({.rate_per_second = 3, .burst = 1});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(limited.bucket->Take(limited.Within(std::chrono::minutes(1))).has_value());
  }
  // Two waits of a third of a second, rounded up to whole nanoseconds.
  EXPECT_EQ(limited.pauser.pauses().size(), 2U);
  EXPECT_GE(limited.clock.Monotonic(), nanoseconds(2 * 333'333'334));
}

// What is not used fills the bucket up to the burst, and no further.
TEST(TokenBucketTest, RestGivesNoMoreThanTheBurst) {
  Limited limited({.rate_per_second = 10, .burst = 2});
  limited.clock.Advance(std::chrono::hours(1));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(limited.bucket->Take(limited.Within(std::chrono::minutes(1))).has_value());
  }
  EXPECT_EQ(limited.pauser.pauses(), std::vector<milliseconds>{milliseconds(100)});
}

// Waiting in vain would only cost the caller its time.
TEST(TokenBucketTest, RefusesAtOnceWhenTheTurnIsBehindTheDeadline) {
  Limited limited({.rate_per_second = 1});
  ASSERT_TRUE(limited.bucket->Take(limited.Within(milliseconds(500))).has_value());
  const auto taken = limited.bucket->Take(limited.Within(milliseconds(500)));
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().type, CacheErrorType::kCancelled);
  EXPECT_TRUE(limited.pauser.pauses().empty());
  // And takes nobody's turn.
  ASSERT_TRUE(limited.bucket->Take(limited.Within(milliseconds(1001))).has_value());
  EXPECT_EQ(limited.clock.Monotonic(), std::chrono::seconds(1));
}

// Who gives up while waiting is told so, and its turn is the next one's.
// Spec: 002-64
TEST(TokenBucketTest, ACancelledWaitEndsAndGivesItsTurnBack) {
  Limited limited({.rate_per_second = 1});
  ASSERT_TRUE(limited.bucket->Take(limited.Within(std::chrono::minutes(1))).has_value());
  std::stop_source source;
  limited.pauser.on_pause = [&](nanoseconds) { source.request_stop(); };
  const auto taken =
      limited.bucket->Take(limited.Within(std::chrono::minutes(1), source.get_token()));
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().type, CacheErrorType::kCancelled);
  limited.pauser.on_pause = nullptr;
  ASSERT_TRUE(limited.bucket->Take(limited.Within(std::chrono::minutes(1))).has_value());
  EXPECT_EQ(limited.clock.Monotonic(), std::chrono::seconds(1));
}

// On the real clock, with a rate at which the turn of the last would come in minutes: everybody
// returns, and there is no ticker to leak.
// Spec: 002-64
TEST(TokenBucketTest, AfterStopNobodyWaits) {
  SystemClock clock;
  SystemPauser pauser;
  const auto bucket = *TokenBucket::Make({.rate_per_second = 1, .burst = 1}, &clock, &pauser);
  const Context context{.deadline = Deadline::After(clock, std::chrono::hours(1))};
  std::atomic<int> passed = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 200; ++i) {
    callers.emplace_back([&] { passed += bucket->Take(context).has_value() ? 1 : 0; });
  }
  bucket->Stop();
  for (std::thread& caller : callers) caller.join();
  EXPECT_LT(passed, 200);
  EXPECT_EQ(bucket->Take(context).error().type, CacheErrorType::kCancelled);
}

// First come, first served: turns are given out in the order of asking.
TEST(TokenBucketTest, TurnsAreInTheOrderOfComing) {
  Limited limited({.rate_per_second = 10, .burst = 1});
  std::vector<milliseconds> waits;
  limited.pauser.on_pause = [&](nanoseconds length) {
    waits.push_back(std::chrono::duration_cast<milliseconds>(length));
    if (waits.size() < 4) {
      (void)limited.bucket->Take(limited.Within(std::chrono::minutes(1)));
    }
  };
  ASSERT_TRUE(limited.bucket->Take(limited.Within(std::chrono::minutes(1))).has_value());
  ASSERT_TRUE(limited.bucket->Take(limited.Within(std::chrono::minutes(1))).has_value());
  EXPECT_EQ(waits, (std::vector<milliseconds>{milliseconds(100), milliseconds(200),
                                              milliseconds(300), milliseconds(400)}));
}

// A rate of nothing is a mistake in the settings, not a limit that nobody passes.
// Spec: 002-65
TEST(TokenBucketTest, RefusesARateThatIsNone) {
  ManualClock clock;
  ManualPauser pauser(&clock);
  for (const int64_t rate : {int64_t{0}, int64_t{-1}, int64_t{1'000'001}}) {
    const auto bucket = TokenBucket::Make({.rate_per_second = rate}, &clock, &pauser);
    ASSERT_FALSE(bucket.has_value()) << rate;
    EXPECT_EQ(bucket.error().code, ErrorCode::kInvalid);
  }
  EXPECT_FALSE(TokenBucket::Make({.burst = -1}, &clock, &pauser).has_value());
}

}  // namespace
}  // namespace tidemark::documents
