#include "base/retry.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RetryTest : public ::testing::Test {
 protected:
  Deadline In(milliseconds length) { return Deadline::After(clock_, length); }

  ManualClock clock_;
  SeededRandom random_{1};
};

// Three retries are three waits and four attempts. The seeds counted them as three attempts.
TEST_F(RetryTest, WaitsDoubleUntilTheRetriesAreUsedUp) {
  Backoff backoff({.max_retries = 3}, nullptr);
  const Deadline deadline = In(seconds(60));
  EXPECT_EQ(backoff.Next(deadline), seconds(1));
  EXPECT_EQ(backoff.Next(deadline), seconds(2));
  EXPECT_EQ(backoff.Next(deadline), seconds(4));
  EXPECT_EQ(backoff.Next(deadline), std::nullopt);
  EXPECT_EQ(backoff.retries(), 3u);
}

TEST_F(RetryTest, NoWaitIsLongerThanTheLongest) {
  Backoff backoff({.max_retries = 80, .longest_wait = seconds(3)}, nullptr);
  const Deadline deadline = In(seconds(1000));
  EXPECT_EQ(backoff.Next(deadline), seconds(1));
  EXPECT_EQ(backoff.Next(deadline), seconds(2));
  for (int i = 2; i < 80; ++i) EXPECT_EQ(backoff.Next(deadline), seconds(3));
}

// A wait that ends with the deadline leaves no time for the attempt after it.
TEST_F(RetryTest, NeverWaitsUpToTheDeadline) {
  Backoff backoff({}, nullptr);
  EXPECT_EQ(backoff.Next(In(seconds(1))), std::nullopt);
  EXPECT_EQ(backoff.Next(In(milliseconds(1001))), seconds(1));
}

TEST_F(RetryTest, WaitsAsLongAsTheOtherSideAsks) {
  Backoff backoff({}, nullptr);
  EXPECT_EQ(backoff.Next(In(seconds(60)), seconds(30)), seconds(30));
  EXPECT_EQ(backoff.Next(In(seconds(60)), milliseconds(1)), seconds(2));
  EXPECT_EQ(backoff.Next(In(seconds(20)), seconds(30)), std::nullopt);
}

TEST_F(RetryTest, JitterShortensWaitsByItsShareAtMost) {
  bool shortened = false;
  for (int i = 0; i < 100; ++i) {
    Backoff backoff({.jitter = 0.5}, &random_);
    const auto wait = backoff.Next(In(seconds(60)));
    ASSERT_TRUE(wait);
    EXPECT_GE(*wait, milliseconds(500));
    EXPECT_LE(*wait, seconds(1));
    shortened |= *wait < seconds(1);
  }
  EXPECT_TRUE(shortened);
}

}  // namespace
}  // namespace tidemark
