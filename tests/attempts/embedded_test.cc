// Attempts over the embedded tables: a real store, real threads, a real sweeper.
#include <atomic>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tests/attempts/stage.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/threads.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;

class EmbeddedTest : public ::testing::Test {
 protected:
  EmbeddedTest() { CHECK(table.Create().has_value()); }

  std::unique_ptr<embedded::EmbeddedTables> Open() {
    return *embedded::EmbeddedTables::Open({.folder = folder.path() + "/data",
                                            .durability = embedded::Durability::kEverySecond,
                                            .background = false,
                                            .clock = &clock});
  }
  size_t Rows() {
    return tables
        ->Query({.table = kDefaultTable,
                 .key_condition = "subject_id = :subject",
                 .values = {{":subject", person.text()}}})
        ->items.size();
  }

  TempFolder folder;
  ManualClock clock;
  SeededRandom random{1};
  std::unique_ptr<embedded::EmbeddedTables> tables = Open();
  Subject person = SubjectOf("subject-a");
  AccountTable table{kDefaultTable, tables.get()};
  OwnRuntime own{&clock, &random};
  Attempts attempts{Policy::Default(), &table, own.runtime()};
};

// Spec: 003-31
TEST_F(EmbeddedTest, EvaluatesSixOfFiftyWrongGuessesAtOnce) {
  std::atomic<int> verified = 0;
  std::atomic<int> refused = 0;
  testing::RunThreads(50, [&](int guesser) {
    const std::string id = "guess-" + std::to_string(guesser);
    const auto slot =
        ReserveNow(attempts, {.subject = person, .name = kPassword, .attempt_id = id});
    ASSERT_TRUE(slot.has_value()) << slot.error().message;
    if (slot->verdict != Verdict::kPermitted) {
      ++refused;
      return;
    }
    ++verified;
    EXPECT_TRUE(SettleNow(attempts, {.subject = person, .name = kPassword, .attempt_id = id}));
  });
  EXPECT_EQ(verified, 6);
  EXPECT_EQ(refused, 44);
  EXPECT_EQ(attempts.Locks(person)->size(), 1u);
  EXPECT_EQ(attempts.Decide({.subject = person, .name = kPassword})->verdict,
            Verdict::kTemporarilyLocked);
}

// Spec: 003-11
TEST_F(EmbeddedTest, LosesNoneOfAHundredIncrementsAtOnce) {
  testing::RunThreads(20, [&](int) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(attempts.Increment({.subject = person, .name = kPassword}));
    }
  });
  EXPECT_EQ(*attempts.Get(person, kPassword), 100u);
}

// Spec: 003-59
TEST_F(EmbeddedTest, SweepsExpiredRowsOnly) {
  ASSERT_TRUE(attempts.Increment({.subject = person, .name = kPassword, .life = 100s}));
  ASSERT_TRUE(attempts.Increment({.subject = person, .name = kMfaCode, .life = 1000s}));
  ASSERT_TRUE(attempts.SetLock(person, {.name = kPasswordLock}, 100s));
  ASSERT_TRUE(attempts.SetLock(person, {.name = LockOf("SIGN_IN", "MFA_CODE_REQUEST")}, 1000s));
  ASSERT_TRUE(attempts.SetLock(
      person, {.name = LockOf("SIGN_IN", "MFA_CODE_ENTRY"), .kind = LockKind::kPermanent}, 0s));
  ASSERT_TRUE(attempts.SetState(person, AccountState::kSuspended, ""));
  EXPECT_EQ(Rows(), 7u);  // With the head.
  clock.Advance(100s);
  ASSERT_TRUE(tables->Maintain());
  EXPECT_EQ(Rows(), 5u);
  EXPECT_EQ(*attempts.Get(person, kPassword), 0u);
  EXPECT_EQ(*attempts.Get(person, kMfaCode), 1u);
  EXPECT_EQ(attempts.Locks(person)->size(), 2u);
  clock.Advance(std::chrono::hours(400 * 24));
  ASSERT_TRUE(tables->Maintain());
  EXPECT_EQ(Rows(), 3u);
  EXPECT_EQ(attempts.Locks(person)->size(), 1u);
  EXPECT_EQ(attempts.States(person)->size(), 1u);
}

// Counts and slots are stored, and a lock is set after the restart.
TEST_F(EmbeddedTest, KeepsCountsAndSlotsAfterARestart) {
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
    ASSERT_TRUE(ReserveNow(attempts, {.subject = person, .name = kPassword, .attempt_id = id}));
  }
  ASSERT_TRUE(SettleNow(attempts, {.subject = person, .name = kPassword, .attempt_id = "a"}));
  tables.reset();
  tables = Open();
  AccountTable reopened(kDefaultTable, tables.get());
  OwnRuntime after_own(&clock, &random);
  Attempts after(Policy::Default(), &reopened, after_own.runtime());
  EXPECT_EQ(after.Decide({.subject = person, .name = kPassword})->verdict, Verdict::kBusy);
  for (const char* id : {"b", "c", "d", "e", "f"}) {
    ASSERT_TRUE(SettleNow(after, {.subject = person, .name = kPassword, .attempt_id = id}));
  }
  EXPECT_EQ(after.Locks(person)->size(), 1u);
}

}  // namespace
}  // namespace tidemark::attempts
