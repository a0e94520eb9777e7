// Scans return every item once, in any order, in pages and in parallel.
#include <set>

#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using tables::Page;
using tables::ScanRequest;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

class ScanContract : public Contract {
 protected:
  ScanContract() {
    Create(Events());
    for (int room = 0; room < 20; ++room) {
      for (int at = 0; at < 5; ++at) {
        Item event = Event("room" + std::to_string(room), at);
        event.Set("n", Num(at));
        Put("events", event);
        all_.push_back(event);
      }
    }
  }
  std::vector<Item> all_;
};
INSTANTIATE_TEST_SUITE_P(Every, ScanContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(ScanContract, GivesEveryItemOnce) {
  EXPECT_THAT(ScanAll({.table = "events"}), UnorderedElementsAreArray(all_));
  EXPECT_EQ(Must(tables().Scan({.table = "events"})).scanned, 100U);
}

TEST_P(ScanContract, AnEmptyTableIsOneEmptyPage) {
  Create(Users());
  const Page page = Must(tables().Scan({.table = "users"}));
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_EQ(page.last, std::nullopt);
}

TEST_P(ScanContract, PagesCoverEverything) {
  for (const uint32_t limit : {1U, 7U, 50U, 100U, 1000U}) {
    EXPECT_THAT(ScanAll({.table = "events", .limit = limit}), UnorderedElementsAreArray(all_));
  }
  const Page page = Must(tables().Scan({.table = "events", .limit = 7}));
  EXPECT_EQ(page.items.size(), 7U);
  ASSERT_TRUE(page.last.has_value());
  EXPECT_EQ(page.last->size(), 2U);
}

TEST_P(ScanContract, ItemsOfAPartitionComeInOrder) {
  std::map<std::string, int64_t> latest;
  for (const Item& item : ScanAll({.table = "events", .limit = 3})) {
    const std::string room = *item.Find("room")->As<item::String>();
    const int64_t at = *item.Find("at")->As<Number>()->Floor();
    if (latest.contains(room)) {
      EXPECT_GT(at, latest[room]);
    }
    latest[room] = at;
  }
  EXPECT_EQ(latest.size(), 20U);
}

TEST_P(ScanContract, SegmentsCoverEverythingOnce) {
  for (const uint32_t total : {1U, 2U, 7U, 64U, 1'000'000U}) {
    std::vector<Item> items;
    // Almost all of a million segments are empty. A few hundred are enough to test that they can be
    // read.
    const uint32_t step = total > 1000 ? total / 300 : 1;
    for (uint32_t segment = 0; segment < total; segment += step) {
      const std::vector<Item> part =
          ScanAll({.table = "events", .limit = 3, .segment = segment, .total_segments = total});
      items.insert(items.end(), part.begin(), part.end());
    }
    if (step == 1) {
      EXPECT_THAT(items, UnorderedElementsAreArray(all_)) << total << " segments";
    }
  }
}

TEST_P(ScanContract, RefusesWrongSegments) {
  EXPECT_THAT(tables().Scan({.table = "events", .segment = 0}),
              Fails(ErrorCode::kInvalid,
                    "The TotalSegments parameter is required but was not present in the request "
                    "when Segment parameter is present"));
  EXPECT_THAT(tables().Scan({.table = "events", .total_segments = 2}),
              Fails(ErrorCode::kInvalid,
                    "The Segment parameter is required but was not present in the request when "
                    "parameter TotalSegments is present"));
  EXPECT_THAT(tables().Scan({.table = "events", .segment = 2, .total_segments = 2}),
              Fails(ErrorCode::kInvalid,
                    "The Segment parameter is zero-based and must be less than parameter "
                    "TotalSegments: Segment: 2 is not less than TotalSegments: 2"));
  EXPECT_THAT(tables().Scan({.table = "events", .segment = 0, .total_segments = 1'000'001}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().Scan({.table = "events", .segment = 0, .total_segments = 0}),
              FailsWith(ErrorCode::kInvalid));
}

TEST_P(ScanContract, FiltersAfterCounting) {
  const ScanRequest request{.table = "events", .filter = "n >= :n", .values = {{":n", Num(3)}}};
  const Page page = Must(tables().Scan(request));
  EXPECT_EQ(page.count, 40U);
  EXPECT_EQ(page.items.size(), 40U);
  EXPECT_EQ(page.scanned, 100U);
  // Unlike a query's, a scan's filter may name keys.
  EXPECT_EQ(ScanAll({.table = "events", .filter = "room = :r", .values = {{":r", "room3"}}}).size(),
            5U);
}

TEST_P(ScanContract, ProjectsAndCounts) {
  const Page counted = Must(tables().Scan({.table = "events", .select = tables::Select::kCount}));
  EXPECT_THAT(counted.items, IsEmpty());
  EXPECT_EQ(counted.count, 100U);
  for (const Item& item : ScanAll({.table = "events", .projection = "n"})) {
    EXPECT_EQ(item.size(), 1U);
  }
}

TEST_P(ScanContract, EndsPagesAtAMegabyte) {
  Create(Users());
  for (int i = 0; i < 10; ++i) Put("users", {{"id", std::to_string(i)}, {"data", Text(300'000)}});
  const Page first = Must(tables().Scan({.table = "users"}));
  EXPECT_GE(first.items.size(), 3U);
  EXPECT_LE(first.items.size(), 4U);
  EXPECT_TRUE(first.last.has_value());
  EXPECT_EQ(ScanAll({.table = "users"}).size(), 10U);
}

TEST_P(ScanContract, RefusesMalformedRequests) {
  EXPECT_THAT(tables().Scan({.table = "events", .limit = 0}),
              Fails(ErrorCode::kInvalid, "greater than or equal to 1"));
  EXPECT_THAT(tables().Scan({.table = "events", .index = "nothing"}),
              Fails(ErrorCode::kInvalid, "The table does not have the specified index: nothing"));
  for (const Item& start : {Item{}, Item{{"room", "r"}}, Item{{"room", "r"}, {"at", "1"}},
                            Item{{"room", "r"}, {"at", Num(1)}, {"x", "y"}}}) {
    EXPECT_THAT(tables().Scan({.table = "events", .start_after = start}),
                Fails(ErrorCode::kInvalid, "The provided starting key is invalid"));
  }
}

}  // namespace
}  // namespace tidemark::contract
