#include "tables/embedded/walk.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;
using item::Number;

constexpr const char* kWalkTable = "things";
constexpr int kPartitions = 7;
constexpr int kWalkRows = 5;

// A table of seven partitions with five items each, numbered from 0 in the sort key.
class WalkTest : public ::testing::Test {
 protected:
  WalkTest() {
    const item::KeyAttribute number{.name = "n", .type = item::Type::kNumber};
    CHECK(tables_
              ->CreateTable(
                  {.table = kWalkTable,
                   .keys = {.partition = {.name = "id"}, .sort = number},
                   .indexes = {{.name = "by-colour", .keys = {.partition = {.name = "colour"}}},
                               {.name = "by-rank",
                                .kind = tables::IndexKind::kLocal,
                                .keys = {.partition = {.name = "id"},
                                         .sort = item::KeyAttribute{.name = "rank"}},
                                .projection = {.kind = tables::ProjectionKind::kKeysOnly}}}})
              .has_value());
    for (int partition = 0; partition < kPartitions; ++partition) {
      for (int row = 0; row < kWalkRows; ++row) Put(Thing(partition, row));
    }
  }

  static Item Thing(int partition, int row) {
    return {{"id", fmt::format("p{}", partition)},
            {"n", Number::FromInt(row)},
            {"colour", row % 2 == 0 ? "red" : "blue"},
            {"rank", fmt::format("r{}", kWalkRows - row)},
            {"note", "x"}};
  }
  void Put(const Item& item) {
    CHECK(tables_->Put({.table = kWalkTable, .item = item}).has_value());
  }

  static tables::QueryRequest OfPartition(const char* id) {
    return {.table = kWalkTable, .key_condition = "id = :id", .values = {{":id", id}}};
  }

  // The numbers of all pages of a query, each page of `limit` items.
  std::string Numbers(tables::QueryRequest request, uint32_t limit) {
    std::string numbers;
    request.limit = limit;
    for (int pages = 0; pages < 100; ++pages) {
      const auto page = tables_->Query(request);
      CHECK(page.has_value());
      for (const Item& item : page->items) numbers += item.Find("n")->As<Number>()->ToString();
      if (!page->last) return numbers;
      request.start_after = page->last;
    }
    return numbers + " and no end";
  }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_ = folder_.Open();
};

// The pages contain every item once, in order, for every page size.
TEST_F(WalkTest, PagesFollowEachOtherWithoutGapOrOverlap) {
  tables::QueryRequest request = OfPartition("p3");
  for (uint32_t limit : {1u, 2u, 5u, 6u}) {
    request.forward = true;
    EXPECT_EQ(Numbers(request, limit), "01234") << limit;
    request.forward = false;
    EXPECT_EQ(Numbers(request, limit), "43210") << limit;
  }
}

TEST_F(WalkTest, PagesOfAnIndexFollowEachOther) {
  tables::QueryRequest request{.table = kWalkTable,
                               .index = "by-colour",
                               .key_condition = "colour = :c",
                               .values = {{":c", "blue"}}};
  const std::string whole = Numbers(request, 100);
  EXPECT_EQ(whole.size(), 2u * kPartitions);
  EXPECT_EQ(Numbers(request, 1), whole);
  EXPECT_EQ(Numbers(request, 3), whole);
}

// The last item of a page may be deleted before the next page is requested.
TEST_F(WalkTest, ContinuesAfterADeletedItem) {
  tables::QueryRequest request = OfPartition("p3");
  request.limit = 2;
  const auto first = tables_->Query(request);
  ASSERT_TRUE(first.has_value() && first->last);
  ASSERT_TRUE(tables_->Delete({.table = kWalkTable, .key = *first->last}).has_value());
  request.start_after = first->last;
  EXPECT_EQ(Numbers(request, 100), "234");
  request.forward = false;
  EXPECT_EQ(Numbers(request, 100), "0");
}

// Together the segments of a parallel scan contain every item once.
TEST_F(WalkTest, SegmentsShareTheItemsAmongThem) {
  for (uint32_t total : {1u, 2u, 3u, 16u}) {
    std::map<std::string, int> seen;
    for (uint32_t segment = 0; segment < total; ++segment) {
      const auto page =
          tables_->Scan({.table = kWalkTable, .segment = segment, .total_segments = total});
      ASSERT_TRUE(page.has_value());
      for (const Item& item : page->items) {
        ++seen[*item.Find("id")->As<std::string>() + item.Find("n")->As<Number>()->ToString()];
      }
    }
    EXPECT_EQ(seen.size(), static_cast<size_t>(kPartitions * kWalkRows));
    for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
  }
}

// The limit counts the items before the filter.
TEST_F(WalkTest, ALimitCountsItemsBeforeTheFilter) {
  tables::QueryRequest request = OfPartition("p3");
  request.filter = "colour = :c";
  request.values[":c"] = "blue";
  request.limit = 3;
  const auto page = tables_->Query(request);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->scanned, 3u);
  EXPECT_EQ(page->count, 1u);
  EXPECT_EQ(*page->last, (Item{{"id", "p3"}, {"n", Number::FromInt(2)}}));
}

// A local index reads attributes that it does not hold from the table. The order is that of the
// index.
TEST_F(WalkTest, ALocalIndexFetchesFromTheTable) {
  tables::QueryRequest request = OfPartition("p3");
  request.index = "by-rank";
  request.select = tables::Select::kAllAttributes;
  const auto page = tables_->Query(request);
  ASSERT_TRUE(page.has_value());
  ASSERT_EQ(page->items.size(), 5u);
  EXPECT_EQ(page->items.front(), Thing(3, 4));
  EXPECT_EQ(page->items.back(), Thing(3, 0));
}

TEST_F(WalkTest, RefusesAStartOutsideOfTheRange) {
  tables::QueryRequest request = OfPartition("p3");
  request.start_after = Item{{"id", "p4"}, {"n", Number::FromInt(1)}};
  const auto outside = tables_->Query(request);
  ASSERT_FALSE(outside.has_value());
  EXPECT_EQ(outside.error().code, ErrorCode::kInvalid);
  request.start_after = Item{{"id", "p3"}};
  EXPECT_FALSE(tables_->Query(request).has_value());
}

// A page ends at a megabyte, also when nothing passes the filter.
TEST_F(WalkTest, APageEndsAtAMegabyte) {
  for (int row = 0; row < 5; ++row) {
    Put({{"id", "large"}, {"n", Number::FromInt(row)}, {"text", std::string(300'000, 'x')}});
  }
  tables::QueryRequest request = OfPartition("large");
  request.filter = "attribute_exists(nothing)";
  const auto page = tables_->Query(request);
  ASSERT_TRUE(page.has_value());
  EXPECT_EQ(page->count, 0u);
  EXPECT_EQ(page->scanned, 4u);
  EXPECT_TRUE(page->last.has_value());
}

}  // namespace
}  // namespace tidemark::embedded
