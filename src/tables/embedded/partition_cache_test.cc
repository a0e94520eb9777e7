#include "tables/embedded/partition_cache.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tables/embedded/row_key.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;
using item::Number;

// ---- Every order of a read and a write ----

class PartitionCacheTest : public ::testing::Test {
 protected:
  static std::string RowKey(const std::string& sort, const std::string& partition = "ann") {
    return ItemRowKey(7, {.partition = item::Value(partition), .sort = item::Value(sort)});
  }
  static std::string PrefixOf(const std::string& partition) {
    return ConditionRange(7, {.partition = item::Value(partition)}).low;
  }
  static Item ItemOf(const std::string& sort, int64_t n) {
    return {{"id", "ann"}, {"at", sort}, {"n", Number::FromInt(n)}};
  }
  static PartitionCache::Rows Rows(int64_t n) { return {{RowKey("a"), ItemOf("a", n)}}; }

  // The committer's part: the write of one row.
  void Begin() { cache_.BeginWrite(written_); }
  void End(int64_t n) {
    const Item next = ItemOf("a", n);
    cache_.EndWrite(written_, [&](const std::string&) { return &next; });
  }

  const std::string ann_ = PrefixOf("ann");
  const std::vector<std::string> written_ = {RowKey("a")};
  PartitionCache cache_{1 << 20};
};

TEST_F(PartitionCacheTest, KnowsWhatWasInserted) {
  EXPECT_FALSE(cache_.Find(ann_));
  cache_.Insert(ann_, cache_.BeginRead(ann_), Rows(1));
  EXPECT_EQ(cache_.Find(ann_), std::vector{ItemOf("a", 1)});
  EXPECT_FALSE(cache_.Find(PrefixOf("bob")));
}

// The reader has read the old row, and the write is complete before it inserts.
TEST_F(PartitionCacheTest, IgnoresWhatWasReadBeforeAWrite) {
  const auto ticket = cache_.BeginRead(ann_);
  Begin();
  End(2);
  cache_.Insert(ann_, ticket, Rows(1));
  EXPECT_FALSE(cache_.Find(ann_));
}

// The store has the old row or the new one, and the reader cannot know which it has read.
TEST_F(PartitionCacheTest, IgnoresWhatWasReadDuringAWrite) {
  Begin();
  const auto ticket = cache_.BeginRead(ann_);
  cache_.Insert(ann_, ticket, Rows(1));
  EXPECT_FALSE(cache_.Find(ann_));
  End(2);
  EXPECT_FALSE(cache_.Find(ann_));
  cache_.Insert(ann_, ticket, Rows(1));
  EXPECT_FALSE(cache_.Find(ann_));
}

// Once one reader may have seen the new row in the store, no other may get the old one.
TEST_F(PartitionCacheTest, GivesNothingOldDuringAWrite) {
  cache_.Insert(ann_, cache_.BeginRead(ann_), Rows(1));
  Begin();
  EXPECT_FALSE(cache_.Find(ann_));
  End(2);
  EXPECT_EQ(cache_.Find(ann_), std::vector{ItemOf("a", 2)});
}

TEST_F(PartitionCacheTest, FollowsNewAndDeletedRows) {
  cache_.Insert(ann_, cache_.BeginRead(ann_), {});
  EXPECT_EQ(cache_.Find(ann_), std::vector<Item>());
  const std::vector<std::string> rows = {RowKey("c"), RowKey("b"), RowKey("c")};
  const Item b = ItemOf("b", 1);
  const Item c = ItemOf("c", 2);
  cache_.BeginWrite(rows);
  cache_.EndWrite(rows, [&](const std::string& row) { return row == RowKey("b") ? &b : &c; });
  EXPECT_EQ(cache_.Find(ann_), (std::vector{b, c}));
  cache_.BeginWrite(rows);
  cache_.EndWrite(rows, [&](const std::string& row) { return row == RowKey("b") ? nullptr : &c; });
  EXPECT_EQ(cache_.Find(ann_), std::vector{c});
}

// After a failed write nobody knows what is on disk.
TEST_F(PartitionCacheTest, ForgetsWhatAFailedWriteTouched) {
  cache_.Insert(ann_, cache_.BeginRead(ann_), Rows(1));
  Begin();
  cache_.AbandonWrite(written_);
  EXPECT_FALSE(cache_.Find(ann_));
  cache_.Insert(ann_, cache_.BeginRead(ann_), Rows(1));
  EXPECT_TRUE(cache_.Find(ann_));
}

// What was read before the store was opened again may not be on disk.
TEST_F(PartitionCacheTest, ForgetsEverythingWhenItIsCleared) {
  cache_.Insert(ann_, cache_.BeginRead(ann_), Rows(1));
  const auto ticket = cache_.BeginRead(PrefixOf("bob"));
  cache_.Clear();
  cache_.Insert(PrefixOf("bob"), ticket, {});
  EXPECT_FALSE(cache_.Find(ann_));
  EXPECT_FALSE(cache_.Find(PrefixOf("bob")));
}

TEST_F(PartitionCacheTest, KeepsOnlySmallPartitions) {
  PartitionCache::Rows rows;
  for (size_t i = 0; i <= PartitionCache::kMaxRows; ++i) {
    rows.push_back({RowKey(std::to_string(i)), ItemOf("a", 1)});
  }
  cache_.Insert(ann_, cache_.BeginRead(ann_), rows);
  EXPECT_FALSE(cache_.Find(ann_));
  const Item large{{"id", "ann"}, {"text", std::string(PartitionCache::kMaxBytes, 'x')}};
  cache_.Insert(ann_, cache_.BeginRead(ann_), Rows(1));
  Begin();
  cache_.EndWrite(written_, [&](const std::string&) { return &large; });
  EXPECT_FALSE(cache_.Find(ann_));
}

// Partitions that nobody uses make room.
TEST_F(PartitionCacheTest, HasABoundedSize) {
  int kept = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string prefix = PrefixOf(std::to_string(i));
    cache_.Insert(prefix, cache_.BeginRead(prefix), Rows(1));
  }
  for (int i = 0; i < 20'000; ++i) kept += cache_.Find(PrefixOf(std::to_string(i))) ? 1 : 0;
  EXPECT_GT(kept, 500);
  EXPECT_LT(kept, 5'000);
}

// ---- In the tables ----

constexpr const char* kCachedTable = "accounts";

class CachedPartitionsTest : public ::testing::Test {
 protected:
  CachedPartitionsTest() {
    CHECK(tables_
              ->CreateTable(
                  {.table = kCachedTable,
                   .keys = {.partition = {.name = "id"}, .sort = item::KeyAttribute{.name = "at"}}})
              .has_value());
  }
  Status Put(const std::string& at, int64_t n) {
    const auto reply = tables_->Put(
        {.table = kCachedTable, .item = {{"id", "ann"}, {"at", at}, {"n", Number::FromInt(n)}}});
    if (!reply.has_value()) return reply.error();
    return Done{};
  }
  std::vector<Item> Query() {
    const auto page =
        tables_->Query({.table = kCachedTable, .partition = item::Attribute{"id", "ann"}});
    CHECK(page.has_value() && !page->last && page->count == page->items.size());
    return page->items;
  }
  int64_t Sum() {
    int64_t sum = 0;
    for (const Item& item : Query()) sum += *item.Find("n")->As<Number>()->Floor();
    return sum;
  }
  int64_t Get(const std::string& at) {
    const auto item = tables_->Get({.table = kCachedTable, .key = {{"id", "ann"}, {"at", at}}});
    CHECK(item.has_value());
    return item->has_value() ? *(*item)->Find("n")->As<Number>()->Floor() : 0;
  }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_ = folder_.Open();
};

TEST_F(CachedPartitionsTest, FollowEveryKindOfWrite) {
  EXPECT_EQ(Query().size(), 0u);
  ASSERT_TRUE(Put("a", 1).has_value());
  EXPECT_EQ(Sum(), 1);
  ASSERT_TRUE(tables_
                  ->Update({.table = kCachedTable,
                            .key = {{"id", "ann"}, {"at", "a"}},
                            .update = "ADD n :n",
                            .values = {{":n", Number::FromInt(4)}}})
                  .has_value());
  EXPECT_EQ(Sum(), 5);
  const Item b{{"id", "ann"}, {"at", "b"}, {"n", Number::FromInt(10)}};
  ASSERT_TRUE(
      tables_->TransactWrite({.actions = {tables::PutRequest{.table = kCachedTable, .item = b}}})
          .has_value());
  EXPECT_EQ(Sum(), 15);
  ASSERT_TRUE(
      tables_->Delete({.table = kCachedTable, .key = {{"id", "ann"}, {"at", "a"}}}).has_value());
  EXPECT_EQ(Query(), std::vector{b});
  ASSERT_TRUE(tables_->DeleteTable(kCachedTable).has_value());
  EXPECT_FALSE(tables_->Query({.table = kCachedTable, .partition = item::Attribute{"id", "ann"}})
                   .has_value());
}

// The sweeper deletes items too.
TEST_F(CachedPartitionsTest, LoseSweptItems) {
  ASSERT_TRUE(tables_->SetTimeToLive({.table = kCachedTable, .attribute = "n"}).has_value());
  ASSERT_TRUE(Put("a", folder_.clock().NowSeconds() + 1).has_value());
  EXPECT_EQ(Query().size(), 1u);
  folder_.clock().Advance(std::chrono::seconds(1));
  ASSERT_TRUE(tables_->Maintain().has_value());
  EXPECT_EQ(Query().size(), 0u);
}

// A write that failed is not shown, and after the store was opened again the reads are those of
// the store.
TEST_F(CachedPartitionsTest, ShowNothingOfAFailedWrite) {
  ASSERT_TRUE(Put("a", 1).has_value());
  EXPECT_EQ(Sum(), 1);
  folder_.files().Arm({.effect = FaultEffect::kNoSpace, .persistent = true});
  EXPECT_FALSE(Put("a", 2).has_value());
  EXPECT_EQ(Sum(), 1);
  folder_.files().Disarm();
  folder_.clock().Advance(std::chrono::seconds(2));
  ASSERT_TRUE(tables_->Maintain().has_value());
  EXPECT_EQ(Sum(), Get("a"));
}

// While the row grows, what a query shows is never older than what a read of the row in the store
// has shown before.
TEST_F(CachedPartitionsTest, NeverGoBack) {
  constexpr int kWrites = 2'000;
  std::atomic<bool> done = false;
  std::atomic<int> stale = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const int64_t seen = Get("a");
        if (Sum() < seen) ++stale;
      }
    });
  }
  for (int n = 1; n <= kWrites; ++n) {
    CHECK(Put("a", n).has_value());
    if (Sum() != n) ++stale;
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(stale, 0);
}

}  // namespace
}  // namespace tidemark::embedded
