// How long the head row of a subject stays.
#include <string>

#include <gtest/gtest.h>

#include "tests/attempts/stage.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kHeadsDay = 86'400;

class HeadsTest : public ::testing::Test, protected Stage {
 protected:
  int64_t EndOfStoredHead() { return NumberIn(*Stored("!"), "ttl"); }
  int64_t Now() { return clock.NowSeconds(); }
};

// Names that somebody invents, and people who only ever succeed, leave nothing behind.
TEST_F(HeadsTest, EndWithinDaysWhenThereIsNothingToRemember) {
  Try(kPassword, true);
  person = SubjectOf("abandoned");
  Reserve({.subject = person, .name = kPassword, .attempt_id = "a"});
  person = SubjectOf("counted");
  Spend(RequestsOf("SIGN_IN", "MFA_CODE"));
  Pass(4 * kHeadsDay);
  model.Maintain();
  EXPECT_TRUE(model.Scan({.table = kDefaultTable})->items.empty());
}

TEST_F(HeadsTest, StayForMoreThanAYearWithFailuresInARow) {
  Fail(kPassword);
  Pass(399 * kHeadsDay);
  model.Maintain();
  EXPECT_EQ(attempts.GetStanding(person)->failures.size(), 1u);
}

TEST_F(HeadsTest, StayTwoDaysLongerThanTheLastRow) {
  ASSERT_TRUE(attempts.SetLock(person, {.name = kPasswordLock}, 30 * 24h));
  EXPECT_GE(EndOfStoredHead(), Now() + 32 * kHeadsDay);
  EXPECT_LE(EndOfStoredHead(), Now() + 33 * kHeadsDay);
  ASSERT_TRUE(attempts.SetState(person, AccountState::kBlocked, ""));
  EXPECT_GE(EndOfStoredHead(), Now() + 400 * kHeadsDay);
}

// By the clock of another process it would be over at once.
TEST_F(HeadsTest, AreNotEndedByAClockThatIsFarBehind) {
  Fail(kPassword, 2);
  const int64_t end = EndOfStoredHead();
  Pass(-1'000 * kHeadsDay);
  Fail(kPassword);
  EXPECT_EQ(EndOfStoredHead(), end);
}

}  // namespace
}  // namespace tidemark::attempts
