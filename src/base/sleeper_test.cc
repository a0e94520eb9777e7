#include "base/sleeper.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark {
namespace {

using std::chrono::milliseconds;

// Without the stop it would sleep for a day.
TEST(SystemSleeperTest, AStopEndsTheSleep) {
  SystemSleeper sleeper;
  std::stop_source source;
  bool passed = true;
  std::thread waiter(
      [&] { passed = sleeper.SleepUnlessStopped(std::chrono::hours(24), source.get_token()); });
  source.request_stop();
  waiter.join();
  EXPECT_FALSE(passed);
}

TEST(SystemSleeperTest, AShortSleepPasses) {
  SystemSleeper sleeper;
  EXPECT_TRUE(sleeper.SleepUnlessStopped(std::chrono::nanoseconds(1), {}));
  EXPECT_TRUE(sleeper.SleepUnlessStopped(std::chrono::nanoseconds(0), {}));
}

// The first wait lasts a day. The second one must not wait for it.
TEST(SystemSleeperTest, WakesEachAtItsOwnTime) {
  SystemSleeper sleeper;
  std::atomic<bool> has_long_ended = false;
  Later<Done> long_wait = sleeper.After(std::chrono::hours(24)).Then([&](Status slept) {
    has_long_ended = true;
    return slept;
  });
  EXPECT_TRUE(sleeper.After(milliseconds(1)).Wait().has_value());
  EXPECT_FALSE(has_long_ended);
  long_wait.Cancel();
  EXPECT_FALSE(long_wait.Wait().has_value());
}

// Without this they would sleep for a day.
TEST(SystemSleeperTest, CancellingAndDestroyingEndAWait) {
  auto sleeper = std::make_unique<SystemSleeper>();
  Later<Done> cancelled = sleeper->After(std::chrono::hours(24));
  Later<Done> left = sleeper->After(std::chrono::hours(24));
  cancelled.Cancel();
  EXPECT_EQ(cancelled.Wait().error().code, ErrorCode::kCancelled);
  sleeper.reset();
  EXPECT_EQ(left.Wait().error().code, ErrorCode::kCancelled);
}

TEST(ManualSleeperTest, MovesTheClockUnlessStopped) {
  ManualClock clock;
  ManualSleeper sleeper(&clock);
  sleeper.Sleep(milliseconds(1));
  EXPECT_TRUE(sleeper.After(milliseconds(2)).Wait().has_value());
  EXPECT_EQ(clock.Monotonic(), milliseconds(3));
  std::stop_source source;
  sleeper.on_sleep = [&](std::chrono::nanoseconds) { source.request_stop(); };
  EXPECT_FALSE(sleeper.SleepUnlessStopped(milliseconds(5), source.get_token()));
  EXPECT_EQ(clock.Monotonic(), milliseconds(3));
  EXPECT_EQ(sleeper.slept(), (std::vector{milliseconds(1), milliseconds(2)}));
}

}  // namespace
}  // namespace tidemark
