// Lifting the locks of many people after an attack: what rules have set goes, and what a person has
// set stays.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts/stage.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const Name kHeld = ErrorsOf("REAUTHENTICATION", "PASSWORD_ENTRY");
const Name kHold = LockOf("REAUTHENTICATION", "PASSWORD_ENTRY");

class LiftingTest : public ::testing::Test, protected Stage {
 protected:
  Attempts::Lifted LiftAll(const Subject& subject, bool sources = false) {
    auto lifted = attempts.LiftSetByRules(
        subject, {.matches = [](const Lock&) { return true; }, .ceiling = true, .sources = sources},
        {});
    EXPECT_TRUE(lifted.has_value()) << lifted.error().message;
    return lifted ? *std::move(lifted) : Attempts::Lifted();
  }
  void LockByHand(const Name& name, LockKind kind, const std::string& reason) {
    const auto lock =
        attempts.SetLock(person, {.name = name, .kind = kind, .reason = reason}, 900s);
    EXPECT_TRUE(lock.has_value()) << lock.error().message;
  }
};

TEST_F(LiftingTest, LiftsLocksAndHoldsWithTheirCounts) {
  Fail(kPassword, 6);
  Fail(kHeld, 6);
  EXPECT_EQ(LiftAll(person).locks.size(), 2u);
  EXPECT_TRUE(Locks().empty());
  EXPECT_EQ(CountOf(kHeld), 0u);
  EXPECT_EQ(Fail(kPassword).remaining, 5u);
}

// The help desk locked the person while the attack held the same name.
TEST_F(LiftingTest, LeavesALockThatAPersonSetBesideAHold) {
  Fail(kHeld, 6);
  LockByHand(kHold, LockKind::kPermanent, "ticket 6");
  LiftAll(person);
  ASSERT_EQ(Locks().size(), 1u);
  EXPECT_EQ(Locks()[0].reason, "ticket 6");
  EXPECT_EQ(VerdictOf(kHeld), Verdict::kIndefinitelyLocked);
  EXPECT_EQ(CountOf(kHeld), 0u);
  EXPECT_THAT(Logged(), Not(HasSubstr("lock lifted")));
}

TEST_F(LiftingTest, LeavesALockWhoseReasonReadsLikeThatOfARule) {
  LockByHand(kPasswordLock, LockKind::kStandard, "ERROR_COUNT PASSWORD_ENTRY");
  LockByHand(kHold, LockKind::kStandard, "too many errors");
  EXPECT_TRUE(LiftAll(person).locks.empty());
  EXPECT_EQ(Locks().size(), 2u);
}

// Between the look at the locks and the write.
TEST_F(LiftingTest, LeavesALockThatAPersonMakesPermanentMeanwhile) {
  Fail(kPassword, 6);
  tables.decide = [&, met = false](testing::Operation operation) mutable {
    if (testing::Writes(operation) && !std::exchange(met, true)) {
      LockByHand(kPasswordLock, LockKind::kPermanent, "ticket 6");
    }
    return std::optional<testing::Fault>();
  };
  EXPECT_TRUE(LiftAll(person).locks.empty());
  EXPECT_EQ(VerdictOf(kPassword), Verdict::kIndefinitelyLocked);
}

// Such a row does not say who set it.
TEST_F(LiftingTest, LiftsALockOfARuleThatAnEarlierProgramStored) {
  for (const char* reason : {"ERROR_COUNT PASSWORD_ENTRY", "ticket 6"}) {
    const int64_t now = clock.Now().count() / 1000;
    Store({{"sk", "SIGN_IN#LOCK#PASSWORD_RESET"},
           {"block_type", "STANDARD"},
           {"block_duration", Int(900)},
           {"last_updated", Int(now)},
           {"ttl", Int(now + 900)},
           {"reason", reason}});
    EXPECT_EQ(LiftAll(person).locks.size(), reason == std::string("ticket 6") ? 0u : 1u);
  }
}

// The network of an attacker stays locked, unless somebody asks for it.
TEST_F(LiftingTest, LeavesSourcesUnlessTheyAreWanted) {
  const Subject source = *Subject::OfSource("net-1", Secret("key"));
  for (int i = 0; i < 100; ++i) {
    const Subject victim = SubjectOf("victim-" + std::to_string(i));
    const std::string id = NextId();
    Reserve({.subject = victim, .name = kPassword, .attempt_id = id, .source = source});
    Settle({.subject = victim, .name = kPassword, .attempt_id = id});
  }
  ASSERT_EQ(attempts.Locks(source)->size(), 1u);
  EXPECT_TRUE(LiftAll(source).locks.empty());
  EXPECT_EQ(LiftAll(source, /*sources=*/true).locks.size(), 1u);
  EXPECT_TRUE(attempts.Locks(source)->empty());
}

}  // namespace
}  // namespace tidemark::attempts
