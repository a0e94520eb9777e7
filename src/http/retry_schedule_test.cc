#include "http/retry_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct RetryScheduleTest : ::testing::Test {
  ManualClock clock;
  ManualSleeper sleeper{&clock};
};

// A first try needs no wait.
TEST_F(RetryScheduleTest, GivesEverythingAtOnceFirst) {
  RetrySchedule schedule(3, &clock, &sleeper);
  EXPECT_THAT(schedule.Next(), ElementsAre(0, 1, 2));
  EXPECT_THAT(schedule.Next(), IsEmpty());
  EXPECT_THAT(sleeper.slept(), IsEmpty());
  EXPECT_THAT(RetrySchedule(0, &clock, &sleeper).Next(), IsEmpty());
}

// A long wait of one does not delay the others.
TEST_F(RetryScheduleTest, WaitsForEachOnItsOwn) {
  RetrySchedule schedule(3, &clock, &sleeper);
  schedule.Next();
  schedule.Again(2, seconds(1));
  schedule.Again(0, seconds(5));
  EXPECT_THAT(schedule.Next(), ElementsAre(2));
  schedule.Again(2, seconds(2));
  EXPECT_THAT(schedule.Next(), ElementsAre(2));
  EXPECT_THAT(schedule.Next(), ElementsAre(0));
  EXPECT_THAT(schedule.Next(), IsEmpty());
  EXPECT_THAT(sleeper.slept(), ElementsAre(seconds(1), seconds(2), seconds(2)));
}

// Everything that is due at the same moment is returned together.
TEST_F(RetryScheduleTest, JoinsWhatIsDue) {
  RetrySchedule schedule(3, &clock, &sleeper);
  schedule.Next();
  schedule.Again(2, seconds(1));
  clock.Advance(milliseconds(500));
  schedule.Again(1, milliseconds(500));
  EXPECT_THAT(schedule.Next(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace tidemark::http
