#include "tables/embedded/working_set.h"

#include <gtest/gtest.h>

#include "item/encoding.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

class WorkingSetTest : public ::testing::Test {
 protected:
  WorkingSetTest() {
    auto opened = Store::Open(folder_.options());
    CHECK(opened.has_value());
    store_ = *std::move(opened);
  }

  static item::Item Numbered(int64_t n) { return {{"id", "a"}, {"n", item::Number::FromInt(n)}}; }

  void Store(const std::string& row_key, const item::Item& item) {
    std::string value;
    item::EncodeItem(item, &value);
    Batch batch = store_->NewBatch();
    batch.Put(Family::kRows, row_key, value);
    ASSERT_TRUE(store_->Write(&batch, Store::Sync::kNo).has_value());
  }

  DataFolder folder_;
  std::unique_ptr<embedded::Store> store_;
};

TEST_F(WorkingSetTest, FindsWhatIsStored) {
  Store("row", Numbered(1));
  WorkingSet items(*store_, 1 << 20);
  EXPECT_EQ(**items.Find("row"), Numbered(1));
  EXPECT_EQ(**items.Find("other"), std::nullopt);
}

// The second write of a group is decided by the first.
TEST_F(WorkingSetTest, FindsWhatWasSetBeforeWhatIsStored) {
  Store("row", Numbered(1));
  WorkingSet items(*store_, 1 << 20);
  items.Set("row", Numbered(2));
  EXPECT_EQ(**items.Find("row"), Numbered(2));
  items.Set("row", std::nullopt);
  EXPECT_EQ(**items.Find("row"), std::nullopt);
}

// A group that failed was never written.
TEST_F(WorkingSetTest, ForgetsEverythingWhenCleared) {
  Store("row", Numbered(1));
  WorkingSet items(*store_, 1 << 20);
  items.Set("row", Numbered(2));
  items.Clear();
  EXPECT_EQ(**items.Find("row"), Numbered(1));
}

// With room for nothing every item becomes old and is dropped, and a newer value must never give
// way to the older one behind it.
TEST_F(WorkingSetTest, NeverGoesBackToAnOlderValue) {
  WorkingSet items(*store_, 0);
  items.Set("row", Numbered(1));
  Store("row", Numbered(1));
  items.Trim();
  EXPECT_EQ(**items.Find("row"), Numbered(1));
  items.Set("row", Numbered(2));
  EXPECT_EQ(**items.Find("row"), Numbered(2));
  Store("row", Numbered(2));
  for (int i = 0; i < 3; ++i) {
    items.Trim();
    EXPECT_EQ(**items.Find("row"), Numbered(2));
  }
}

// Pointers that were handed out stay good while others are looked up.
TEST_F(WorkingSetTest, PointersHoldWhileOthersAreFound) {
  WorkingSet items(*store_, 1 << 20);
  items.Set("row", Numbered(1));
  const auto found = items.Find("row");
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(items.Find("row" + std::to_string(i)).has_value());
  EXPECT_EQ(**found, Numbered(1));
}

// Most rows are looked up, found absent and then set: what is set takes the room, not what was
// found, or an import fills the memory.
TEST_F(WorkingSetTest, WhatIsSetCountsAgainstTheRoom) {
  const item::Item large{{"id", std::string(10'000, 'a')}};
  WorkingSet items(*store_, 10'000);
  for (const char* row : {"first", "second"}) {
    ASSERT_TRUE(items.Find(row).has_value());
    items.Set(row, large);
    items.Trim();
  }
  // It was never stored, so that only the working set can know it.
  EXPECT_EQ(**items.Find("first"), std::nullopt);
  EXPECT_EQ(**items.Find("second"), large);
}

}  // namespace
}  // namespace tidemark::embedded
