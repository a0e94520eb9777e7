#include "base/failure_log.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_runtime.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Status kFailure = Error{ErrorCode::kUnavailable, "the disk is full"};

// A full disk lets ten rounds a second fail, for hours.
// Review: F5
TEST(FailureLogTest, LogsTheFirstFailureAndThenOneLineAMinute) {
  testing::TestRuntime test;
  FailureLog failures({.work = "sweeping"}, test.runtime());
  failures.Note(kFailure);
  EXPECT_THAT(test.TakeLog(), HasSubstr("the disk is full"));
  for (int round = 0; round < 599; ++round) {
    test.clock.Advance(std::chrono::milliseconds(100));
    failures.Note(kFailure);
  }
  EXPECT_THAT(test.TakeLog(), IsEmpty());
  test.clock.Advance(std::chrono::milliseconds(100));
  failures.Note(kFailure);
  EXPECT_THAT(test.TakeLog(), HasSubstr(R"("failures":600)"));
}

TEST(FailureLogTest, LogsThatTheWorkSucceedsAgain) {
  testing::TestRuntime test;
  FailureLog failures({.work = "sweeping"}, test.runtime());
  failures.Note(Done{});
  EXPECT_THAT(test.TakeLog(), IsEmpty()) << "nothing failed before";
  failures.Note(kFailure);
  test.TakeLog();
  failures.Note(Done{});
  EXPECT_THAT(test.TakeLog(), HasSubstr("sweeping succeeds again"));
  failures.Note(Done{});
  EXPECT_THAT(test.TakeLog(), IsEmpty());
}

// Work that fails in every second round must not fill the log either.
TEST(FailureLogTest, KeepsThePauseWhenTheWorkSucceedsInBetween) {
  testing::TestRuntime test;
  FailureLog failures({.work = "sweeping"}, test.runtime());
  for (int round = 0; round < 100; ++round) {
    failures.Note(kFailure);
    failures.Note(Done{});
  }
  const std::string log = test.TakeLog();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);
}

}  // namespace
}  // namespace tidemark
