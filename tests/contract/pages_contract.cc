// Reading all pages of a query, for every implementation (tables/pages.h).
#include "tables/pages.h"
#include "tests/contract/contract.h"
#include "tests/support/faulty_tables.h"

namespace tidemark::contract {
namespace {

using tables::Paging;
using tables::QueryRequest;
using tables::ScanRequest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PagesContract : public Contract {
 protected:
  PagesContract() {
    Create(Events());
    for (int at = 1; at <= 7; ++at) Put("events", Event("r", at));
    Put("events", Event("s", 1));
  }
  // Pages of three: seven items are three pages.
  static QueryRequest Room(const std::string& room = "r") {
    return {.table = "events", .partition = item::Attribute{"room", room}, .limit = 3};
  }
  testing::FaultyTables faulty_{&tables()};
};
INSTANTIATE_TEST_SUITE_P(Every, PagesContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(PagesContract, QueryAllReadsEveryPage) {
  EXPECT_THAT(Column(Must(tables::QueryAll(tables(), Room())), "at"),
              ElementsAre(Num(1), Num(2), Num(3), Num(4), Num(5), Num(6), Num(7)));
  EXPECT_THAT(Must(tables::QueryAll(tables(), Room("nobody's"))), IsEmpty());
}

TEST_P(PagesContract, QueryAllRefusesMoreThanItsCallerCanHold) {
  EXPECT_THAT(tables::QueryAll(tables(), Room(), 6), Fails(ErrorCode::kInternal, "more than 6"));
  EXPECT_EQ(Must(tables::QueryAll(tables(), Room(), 7)).size(), 7U);
}

// A filter may leave the first pages empty.
TEST_P(PagesContract, QueryAllGoesOnAfterAnEmptyPage) {
  Item marked = Event("r", 7);
  marked.Set("mark", true);
  Put("events", marked);
  QueryRequest request = Room();
  request.filter = "attribute_exists(mark)";
  EXPECT_THAT(Must(tables::QueryAll(tables(), request)), ElementsAre(marked));
}

TEST_P(PagesContract, SubmitQueryAllReadsTheSame) {
  const auto read = [&](const QueryRequest& request, size_t max_items) {
    return tables::SubmitQueryAll(tables(), request, std::nullopt, max_items).Wait();
  };
  EXPECT_EQ(Must(read(Room(), 7)), Must(tables::QueryAll(tables(), Room())));
  EXPECT_THAT(read(Room(), 6), Fails(ErrorCode::kInternal, "more than 6"));
  EXPECT_THAT(Must(read(Room("nobody's"), 7)), IsEmpty());
  QueryRequest missing = Room();
  missing.table = "missing";
  EXPECT_THAT(read(missing, 7), FailsWith(ErrorCode::kNotFound));
}

TEST_P(PagesContract, CountAllAddsTheCountsOfAllPages) {
  EXPECT_EQ(Must(tables::CountAll(tables(), Room())), 7U);
  EXPECT_EQ(Must(tables::CountAll(tables(), Room("s"))), 1U);
}

TEST_P(PagesContract, ForEachPageStopsWhenTheVisitorAsks) {
  std::vector<size_t> sizes;
  Must(tables::ForEachPage(tables(), Room(), [&](const tables::Page& page) -> Result<Paging> {
    sizes.push_back(page.items.size());
    return sizes.size() == 2 ? Paging::kStop : Paging::kContinue;
  }));
  EXPECT_THAT(sizes, ElementsAre(3U, 3U));
}

TEST_P(PagesContract, ForEachItemStopsInTheMiddleOfAPage) {
  std::vector<Item> seen;
  Must(tables::ForEachItem(tables(), Room(), [&](Item item) -> Result<Paging> {
    seen.push_back(std::move(item));
    return seen.size() == 4 ? Paging::kStop : Paging::kContinue;
  }));
  EXPECT_THAT(Column(seen, "at"), ElementsAre(Num(1), Num(2), Num(3), Num(4)));
}

TEST_P(PagesContract, ForEachItemScansAWholeTable) {
  size_t items = 0;
  Must(tables::ForEachItem(tables(), ScanRequest{.table = "events", .limit = 3},
                           [&](const Item&) -> Result<Paging> {
                             ++items;
                             return Paging::kContinue;
                           }));
  EXPECT_EQ(items, 8U);
}

TEST_P(PagesContract, AnErrorOfTheVisitorEndsTheLoop) {
  int visits = 0;
  const auto refuse = [&](const Item&) -> Result<Paging> {
    ++visits;
    return Error{ErrorCode::kDenied, "the visitor fails"};
  };
  EXPECT_THAT(tables::ForEachItem(tables(), Room(), refuse), Fails(ErrorCode::kDenied, "visitor"));
  EXPECT_EQ(visits, 1);
}

TEST_P(PagesContract, AnErrorOfALaterPageIsReturned) {
  int calls = 0;
  faulty_.decide = [&](testing::Operation) -> std::optional<testing::Fault> {
    return ++calls == 2 ? std::optional(testing::Throttled()) : std::nullopt;
  };
  EXPECT_THAT(tables::QueryAll(faulty_, Room()), FailsWith(ErrorCode::kUnavailable));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace tidemark::contract
