// The work of a sweep: it does not look again at what was swept, and its steps are small.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include "tables/limits.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;
using item::Number;

constexpr const char* kSweptTable = "sessions";

class SweepTest : public ::testing::Test {
 protected:
  SweepTest() {
    CHECK(tables_
              ->CreateTable({.table = kSweptTable,
                             .keys = {.partition = {.name = "id"}},
                             .stream = tables::StreamView::kNewAndOldImages})
              .has_value());
    CHECK(tables_->SetTimeToLive({.table = kSweptTable, .attribute = "ttl"}).has_value());
    Maintain();
  }

  EpochSeconds now() { return folder_.clock().NowSeconds(); }
  void Put(const std::string& id, EpochSeconds ttl, size_t bytes = 1) {
    const auto reply = tables_->Put(
        {.table = kSweptTable,
         .item = {{"id", id}, {"ttl", Number::FromInt(ttl)}, {"text", std::string(bytes, 'x')}}});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
  }
  bool Has(const std::string& id) {
    return tables_->Get({.table = kSweptTable, .key = {{"id", id}}})->has_value();
  }
  void Maintain() {
    const Status status = tables_->Maintain();
    CHECK(status.has_value());
  }
  // What a round of housekeeping reads.
  struct Reads {
    uint64_t deleted_rows = 0;
    uint64_t rows = 0;  // Of those that are not in files yet.
  };
  Reads MaintainAndCount() {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    Maintain();
    const rocksdb::PerfContext& counted = *rocksdb::get_perf_context();
    const Reads reads{.deleted_rows = counted.internal_delete_skipped_count,
                      .rows = counted.next_on_memtable_count};
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return reads;
  }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_ = folder_.Open();
};

// Deleted rows stay in RocksDB for a while. A sweep every second must not step over all of them.
// Review: E4
TEST_F(SweepTest, DoesNotLookAgainAtWhatWasSwept) {
  constexpr int kItems = 300;
  for (int i = 0; i < kItems; ++i) Put(fmt::format("{}", i), now() + 1);
  folder_.clock().Advance(std::chrono::seconds(1));
  Maintain();
  ASSERT_FALSE(Has("0"));
  folder_.clock().Advance(std::chrono::seconds(1));
  EXPECT_LT(MaintainAndCount().deleted_rows, 10u);
  // Also when there is something to sweep.
  Put("one more", now());
  EXPECT_LT(MaintainAndCount().deleted_rows, 10u);
  EXPECT_FALSE(Has("one more"));
}

// An item whose time is before the last sweep is swept too.
// Review: E4
TEST_F(SweepTest, FindsAnItemThatIsWrittenWithATimeLongAgo) {
  Put("due", now());
  Maintain();
  Put("a month ago", now() - 30 * 86'400);
  Put("live", now() + 60);
  Maintain();
  EXPECT_FALSE(Has("a month ago"));
  EXPECT_TRUE(Has("live"));
}

// Time to live may be switched on for a table whose items expired long ago.
TEST_F(SweepTest, FindsItemsThatExpiredBeforeTheListWasFilled) {
  ASSERT_TRUE(tables_->SetTimeToLive({.table = kSweptTable, .attribute = "ttl", .enabled = false})
                  .has_value());
  Put("old", now() - 86'400);
  Maintain();
  ASSERT_TRUE(tables_->SetTimeToLive({.table = kSweptTable, .attribute = "ttl"}).has_value());
  Maintain();
  EXPECT_FALSE(Has("old"));
}

// When a sweep fails, the next one begins at the same place.
TEST_F(SweepTest, BeginsAgainAfterAFailure) {
  Put("due", now());
  folder_.files().Arm({.effect = FaultEffect::kNoSpace});
  EXPECT_FALSE(tables_->Maintain().has_value());
  folder_.files().Disarm();
  folder_.clock().Advance(std::chrono::seconds(100));
  Maintain();
  EXPECT_FALSE(Has("due"));
}

// After the clock went back, nothing is overlooked.
TEST_F(SweepTest, GoesOnAfterTheClockWentBack) {
  folder_.clock().Advance(std::chrono::hours(1));
  Maintain();
  folder_.clock().SetNow(now() - 3'600);
  Put("a", now() + 5);
  Maintain();
  EXPECT_TRUE(Has("a"));
  folder_.clock().Advance(std::chrono::seconds(5));
  Maintain();
  EXPECT_FALSE(Has("a"));
}

// Live tokens are not read every second.
// Review: E4
TEST_F(SweepTest, ReadsLiveTokensOnceInTheirLife) {
  folder_.clock().Advance(tables::kTokenLife);
  for (int i = 0; i < 100; ++i) {
    const tables::TransactWriteRequest request{
        .actions = {tables::PutRequest{.table = kSweptTable, .item = {{"id", "a"}}}},
        .token = fmt::format("token {}", i)};
    ASSERT_TRUE(tables_->TransactWrite(request).has_value());
  }
  const uint64_t all = MaintainAndCount().rows;
  folder_.clock().Advance(std::chrono::seconds(1));
  const uint64_t again = MaintainAndCount().rows;
  EXPECT_GE(all, 100u);
  EXPECT_LT(again, all / 10);
}

// A step is limited in bytes too: the old images of 500 large items would be a batch of 200 MB.
// Review: E7
TEST_F(SweepTest, ASweepOfLargeItemsTakesSeveralSteps) {
  constexpr int kLargeItems = 12;
  for (int i = 0; i < kLargeItems; ++i) Put(fmt::format("{}", i), now() + 1, 300'000);
  folder_.clock().Advance(std::chrono::seconds(1));
  const uint64_t syncs = folder_.files().Count(FileCallKind::kSync);
  Maintain();
  EXPECT_GE(folder_.files().Count(FileCallKind::kSync) - syncs, 3u);
  for (int i = 0; i < kLargeItems; ++i) EXPECT_FALSE(Has(fmt::format("{}", i)));
}

}  // namespace
}  // namespace tidemark::embedded
