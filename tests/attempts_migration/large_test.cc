// A move with as many subjects as a large service has.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tests/attempts_migration/move_stage.h"
#include "tests/support/temp_folder.h"

namespace tidemark::moving {
namespace {

using namespace std::chrono_literals;

// The time that a call is given bounds it, however many subjects there are, and each call says how
// far the visit is. All of it costs two calls of the old store for each subject, and a page each
// thousand. A millisecond passes with each call.
// Review: T14
TEST(LargeMoveTest, VisitsAHundredThousandSubjectsInBoundedCalls) {
  constexpr uint64_t kSubjects = 100'000;
  const TempFolder folder;
  ManualClock clock;
  SeededRandom random{1};
  const auto tables =
      embedded::EmbeddedTables::Open({.folder = folder.path(),
                                      .durability = embedded::Durability::kEverySecond,
                                      .clock = &clock})
          .value();
  MemoryStore old_store;
  Process process(&old_store, tables.get(), &clock, &random);
  ASSERT_TRUE(process.table.Create());
  ASSERT_TRUE(process.stores.Start(Phase::kOld));
  const int64_t end = clock.NowSeconds() + 90'000;
  for (uint64_t i = 0; i < kSubjects; ++i) {
    old_store.Store(attempts::SubjectOf("subject-" + std::to_string(i)),
                    {{"sk", kLockKey}, {"block_type", "STANDARD"}, {"ttl", attempts::Int(end)}});
  }
  old_store.decide = [&](MemoryStore::Call) {
    clock.Advance(1ms);
    return std::optional<Error>();
  };
  old_store.calls = 0;
  constexpr auto kSlice = 5s;
  uint64_t visited = 0;
  bool is_more = true;
  for (int calls = 1; is_more; ++calls) {
    const auto began = clock.Monotonic();
    const auto move = process.migration.Advance(kSlice);
    ASSERT_TRUE(move.has_value()) << move.error().message;
    EXPECT_LE(clock.Monotonic() - began, kSlice + 100ms);
    // The last call only comes to the end of the table, in which everything has been seen.
    EXPECT_TRUE(move->status.visited > visited || !move->is_more) << "call " << calls;
    visited = move->status.visited;
    is_more = move->is_more;
  }
  EXPECT_EQ(visited, kSubjects);
  EXPECT_EQ(process.stores.CurrentPhase()->phase, Phase::kDualOldDecides);
  EXPECT_LE(static_cast<uint64_t>(old_store.calls), 2 * kSubjects + kSubjects / 100);
  const auto last = process.table_store.Load(attempts::SubjectOf("subject-99999"));
  ASSERT_TRUE(last.has_value());
  EXPECT_FALSE(last->items.empty());
}

}  // namespace
}  // namespace tidemark::moving
