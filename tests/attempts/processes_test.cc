// Ten thousand guesses at once on a real store: exactly the limit is verified.
#include <atomic>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include "apps/attempts/account_table.h"
#include "apps/attempts/attempts.h"
#include "base/random.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/attempts/history.h"
#include "tests/attempts/now.h"
#include "tests/attempts/own_runtime.h"
#include "tests/support/temp_folder.h"
#include "tests/support/threads.h"

namespace tidemark::attempts {
namespace {

constexpr int kGuessers = 16;
constexpr int kGuesses = 10'000;
constexpr int kLimit = 6;

// Spec: 003-31
TEST(ProcessesTest, VerifiesSixOfTenThousandGuesses) {
  TempFolder folder;
  SystemClock clock;
  SystemRandom random;
  auto tables = *embedded::EmbeddedTables::Open({.folder = folder.path() + "/data"});
  const Subject person = *Subject::Of("subject-a");
  const Name name{.journey = "SIGN_IN", .count = "ERROR_COUNT", .classifier = "PASSWORD_ENTRY"};
  AccountTable table(kDefaultTable, tables.get());
  ASSERT_TRUE(table.Create());
  History history;
  std::mutex mutex;
  std::atomic<int> next = 0;
  std::atomic<int> reached = 0;
  testing::RunThreads(kGuessers, [&](int) {
    // The processes share only the store.
    OwnRuntime own(&clock, &random);
    Attempts attempts(Policy::Default(), &table, own.runtime());
    for (int guess = next++; guess < kGuesses; guess = next++) {
      const std::string id = std::to_string(guess);
      const auto slot = ReserveNow(attempts, {.subject = person, .name = name, .attempt_id = id});
      ASSERT_TRUE(slot.has_value()) << slot.error().message;
      if (slot->verdict != Verdict::kPermitted) continue;
      {
        const std::lock_guard lock(mutex);
        history.Add({.id = id, .at = clock.NowSeconds()});
      }
      const auto reply =
          SettleNow(attempts, {.subject = person, .name = name, .attempt_id = id, .right = false});
      ASSERT_TRUE(reply.has_value()) << reply.error().message;
      EXPECT_TRUE(reply->known);
      if (reply->decision.just_reached) ++reached;
    }
  });
  EXPECT_EQ(history.events().size(), static_cast<size_t>(kLimit));
  EXPECT_EQ(FindViolation(history, {.most = kLimit}), std::nullopt);
  EXPECT_EQ(reached, 1);
  OwnRuntime own(&clock, &random);
  Attempts after(Policy::Default(), &table, own.runtime());
  EXPECT_EQ(after.Locks(person)->size(), 1u);
  EXPECT_EQ(after.Decide({.subject = person, .name = name})->verdict, Verdict::kTemporarilyLocked);
}

}  // namespace
}  // namespace tidemark::attempts
