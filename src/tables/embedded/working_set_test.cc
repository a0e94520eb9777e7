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

// The second write of a group is decided against the result of the first.
TEST_F(WorkingSetTest, PrefersASetItemToTheStoredOne) {
  Store("row", Numbered(1));
  WorkingSet items(*store_, 1 << 20);
  items.Set("row", Numbered(2));
  EXPECT_EQ(**items.Find("row"), Numbered(2));
  items.Set("row", std::nullopt);
  EXPECT_EQ(**items.Find("row"), std::nullopt);
}

// Changes of a failed group were not written.
TEST_F(WorkingSetTest, ForgetsEverythingWhenCleared) {
  Store("row", Numbered(1));
  WorkingSet items(*store_, 1 << 20);
  items.Set("row", Numbered(2));
  items.Clear();
  EXPECT_EQ(**items.Find("row"), Numbered(1));
}

// Without room every item is soon dropped. A newer value must never be replaced by the older stored
// one.
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

// Pointers that Find returned stay valid while other items are looked up.
TEST_F(WorkingSetTest, PointersHoldWhileOthersAreFound) {
  WorkingSet items(*store_, 1 << 20);
  items.Set("row", Numbered(1));
  const auto found = items.Find("row");
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(items.Find("row" + std::to_string(i)).has_value());
  EXPECT_EQ(**found, Numbered(1));
}

// Most rows are looked up, found absent and then set. The size of the new item must count;
// otherwise an import fills the memory.
TEST_F(WorkingSetTest, ASetItemCountsTowardsTheSize) {
  const item::Item large{{"id", std::string(10'000, 'a')}};
  WorkingSet items(*store_, 10'000);
  for (const char* row : {"first", "second"}) {
    ASSERT_TRUE(items.Find(row).has_value());
    items.Set(row, large);
    items.Trim();
  }
  // The item was never stored, so only the working set could have it.
  EXPECT_EQ(**items.Find("first"), std::nullopt);
  EXPECT_EQ(**items.Find("second"), large);
}

}  // namespace
}  // namespace tidemark::embedded
