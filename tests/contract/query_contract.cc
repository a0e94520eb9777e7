// Queries of a table: which items, in which order, in which pages.
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using tables::Page;
using tables::QueryRequest;
using tables::Select;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class QueryContract : public Contract {
 protected:
  // "r" has events at 1, 2, … 9, each with n = at % 3; its neighbours have some too.
  QueryContract() {
    Create(Events());
    for (int at = 9; at >= 1; --at) {
      Item event = Event("r", at);
      event.Set("n", Num(at % 3));
      Put("events", event);
    }
    for (const char* room : {"q", "s", "r ", "rr"}) Put("events", Event(room, 5));
  }
  static QueryRequest Room() {
    return {.table = "events", .key_condition = "room = :r", .values = {{":r", "r"}}};
  }
  std::vector<Value> Ats(QueryRequest request) {
    return Column(QueryAll(std::move(request)), "at");
  }
  std::vector<Value> Where(const std::string& sort_condition) {
    QueryRequest request = Room();
    request.key_condition += " AND " + sort_condition;
    request.names = {{"#at", "at"}};
    request.values.emplace(":a", Num(3));
    if (sort_condition.find(":b") != std::string::npos) request.values.emplace(":b", Num("5.5"));
    return Ats(request);
  }
};
INSTANTIATE_TEST_SUITE_P(Every, QueryContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(QueryContract, GivesAPartitionInOrder) {
  EXPECT_THAT(Ats(Room()),
              ElementsAre(Num(1), Num(2), Num(3), Num(4), Num(5), Num(6), Num(7), Num(8), Num(9)));
  const Page page = Must(tables().Query(Room()));
  EXPECT_EQ(page.count, 9U);
  EXPECT_EQ(page.scanned, 9U);
  EXPECT_EQ(page.last, std::nullopt);
}

TEST_P(QueryContract, GivesAPartitionThatIsNamedWithoutAnExpression) {
  QueryRequest request{.table = "events", .partition = item::Attribute{"room", "r"}};
  EXPECT_EQ(QueryAll(request), QueryAll(Room()));
  request.limit = 2;
  request.forward = false;
  EXPECT_THAT(Ats(request),
              ElementsAre(Num(9), Num(8), Num(7), Num(6), Num(5), Num(4), Num(3), Num(2), Num(1)));
  request.filter = "n = :n";
  request.projection = "#at";
  request.names = {{"#at", "at"}};
  request.values = {{":n", Num(0)}};
  EXPECT_THAT(Ats(request), ElementsAre(Num(9), Num(6), Num(3)));
  request = {.table = "events", .partition = item::Attribute{"room", "nobody"}};
  EXPECT_THAT(QueryAll(request), IsEmpty());
}

// It is refused like the equivalent expression.
TEST_P(QueryContract, RefusesAWrongPartitionThatIsNamedWithoutAnExpression) {
  const auto query = [&](const item::Attribute& partition) {
    return tables().Query({.table = "events", .partition = partition});
  };
  EXPECT_THAT(query({"hall", "r"}), Fails(ErrorCode::kInvalid, "missed key schema element: room"));
  EXPECT_THAT(query({"at", Num(1)}), Fails(ErrorCode::kInvalid, "missed key schema element: room"));
  EXPECT_THAT(query({"room", Num(1)}), Fails(ErrorCode::kInvalid, "does not match schema type"));
  EXPECT_THAT(query({"room", ""}), Fails(ErrorCode::kInvalid, "empty string value"));
  QueryRequest both = Room();
  both.partition = item::Attribute{"room", "r"};
  EXPECT_THAT(tables().Query(both), Fails(ErrorCode::kInvalid, "a partition or a key condition"));
  const QueryRequest unused{
      .table = "events", .partition = item::Attribute{"room", "r"}, .values = {{":r", "r"}}};
  EXPECT_THAT(tables().Query(unused), Fails(ErrorCode::kInvalid, "when using expressions"));
}

TEST_P(QueryContract, AnUnknownPartitionIsEmpty) {
  QueryRequest request = Room();
  request.values[":r"] = "nobody";
  const Page page = Must(tables().Query(request));
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_EQ(page.count, 0U);
  EXPECT_EQ(page.last, std::nullopt);
}

TEST_P(QueryContract, KnowsEverySortOperator) {
  EXPECT_THAT(Where("#at = :a"), ElementsAre(Num(3)));
  EXPECT_THAT(Where("#at < :a"), ElementsAre(Num(1), Num(2)));
  EXPECT_THAT(Where("#at <= :a"), ElementsAre(Num(1), Num(2), Num(3)));
  EXPECT_THAT(Where("#at > :a"), ElementsAre(Num(4), Num(5), Num(6), Num(7), Num(8), Num(9)));
  EXPECT_THAT(Where("#at >= :a"),
              ElementsAre(Num(3), Num(4), Num(5), Num(6), Num(7), Num(8), Num(9)));
  EXPECT_THAT(Where("#at BETWEEN :a AND :b"), ElementsAre(Num(3), Num(4), Num(5)));
}

TEST_P(QueryContract, BeginsWithMatchesPrefixesOfStringsAndBinaries) {
  Create({.table = "texts", .keys = {StringKey("p"), StringKey("s")}});
  Create({.table = "bytes", .keys = {StringKey("p"), BinaryKey("s")}});
  for (const char* text : {"a", "ab", "abc", "abd", "ac", "b"})
    Put("texts", {{"p", "p"}, {"s", text}});
  for (const char* text : {"\x01\xff", "\x01\xff\xff", "\x01\xff\x01", "\x02", "\x01"})
    Put("bytes", {{"p", "p"}, {"s", Bin(text)}});
  auto begins = [&](const char* table, Value prefix) {
    return Column(QueryAll({.table = table,
                            .key_condition = "p = :p AND begins_with(s, :s)",
                            .values = {{":p", "p"}, {":s", std::move(prefix)}}}),
                  "s");
  };
  EXPECT_THAT(begins("texts", "ab"), ElementsAre(Value("ab"), Value("abc"), Value("abd")));
  EXPECT_THAT(begins("texts", "x"), IsEmpty());
  EXPECT_THAT(begins("bytes", Bin("\x01\xff")),
              ElementsAre(Bin("\x01\xff"), Bin("\x01\xff\x01"), Bin("\x01\xff\xff")));
}

// Strings sort by their bytes, so that capitals come first and é behind z.
TEST_P(QueryContract, SortsStringsByBytes) {
  Create({.table = "texts", .keys = {StringKey("p"), StringKey("s")}});
  for (const char* text : {"é", "a", "B", "ab", "a\x01", "😀", "z"})
    Put("texts", {{"p", "p"}, {"s", text}});
  EXPECT_THAT(
      Column(QueryAll({.table = "texts", .key_condition = "p = :p", .values = {{":p", "p"}}}), "s"),
      ElementsAre(Value("B"), Value("a"), Value("a\x01"), Value("ab"), Value("z"), Value("é"),
                  Value("😀")));
}

TEST_P(QueryContract, GoesBackwards) {
  QueryRequest request = Room();
  request.forward = false;
  EXPECT_THAT(Ats(request),
              ElementsAre(Num(9), Num(8), Num(7), Num(6), Num(5), Num(4), Num(3), Num(2), Num(1)));
  request.limit = 2;
  EXPECT_THAT(Ats(request),
              ElementsAre(Num(9), Num(8), Num(7), Num(6), Num(5), Num(4), Num(3), Num(2), Num(1)));
  request.key_condition += " AND #at <= :a";
  request.names = {{"#at", "at"}};
  request.values.emplace(":a", Num(3));
  EXPECT_THAT(Ats(request), ElementsAre(Num(3), Num(2), Num(1)));
}

TEST_P(QueryContract, PagesByLimit) {
  QueryRequest request = Room();
  request.limit = 4;
  const Page first = Must(tables().Query(request));
  EXPECT_THAT(Column(first.items, "at"), ElementsAre(Num(1), Num(2), Num(3), Num(4)));
  EXPECT_EQ(first.last, Event("r", 4));
  request.start_after = first.last;
  const Page second = Must(tables().Query(request));
  EXPECT_THAT(Column(second.items, "at"), ElementsAre(Num(5), Num(6), Num(7), Num(8)));
  request.start_after = second.last;
  const Page third = Must(tables().Query(request));
  EXPECT_THAT(Column(third.items, "at"), ElementsAre(Num(9)));
  EXPECT_EQ(third.last, std::nullopt);
}

// DynamoDB does not look ahead: a full page has a `last` even when nothing follows.
TEST_P(QueryContract, AFullLastPageHasALast) {
  QueryRequest request = Room();
  request.limit = 9;
  const Page full = Must(tables().Query(request));
  EXPECT_EQ(full.last, Event("r", 9));
  request.start_after = full.last;
  const Page empty = Must(tables().Query(request));
  EXPECT_THAT(empty.items, IsEmpty());
  EXPECT_EQ(empty.last, std::nullopt);
}

// The item at the start position may have been deleted in the meantime.
TEST_P(QueryContract, ContinuesAfterADeletedItem) {
  QueryRequest request = Room();
  request.start_after = Event("r", 4);
  Must(tables().Delete({.table = "events", .key = Event("r", 4)}));
  EXPECT_THAT(Ats(request), ElementsAre(Num(5), Num(6), Num(7), Num(8), Num(9)));
  request.forward = false;
  EXPECT_THAT(Ats(request), ElementsAre(Num(3), Num(2), Num(1)));
}

TEST_P(QueryContract, FiltersAfterCounting) {
  QueryRequest request = Room();
  request.filter = "n = :n";
  request.values.emplace(":n", Num(0));
  const Page all = Must(tables().Query(request));
  EXPECT_THAT(Column(all.items, "at"), ElementsAre(Num(3), Num(6), Num(9)));
  EXPECT_EQ(all.count, 3U);
  EXPECT_EQ(all.scanned, 9U);
  // An empty page need not be the last one.
  request.limit = 2;
  const Page first = Must(tables().Query(request));
  EXPECT_THAT(first.items, IsEmpty());
  EXPECT_EQ(first.count, 0U);
  EXPECT_EQ(first.scanned, 2U);
  EXPECT_EQ(first.last, Event("r", 2));
  EXPECT_THAT(Ats(request), ElementsAre(Num(3), Num(6), Num(9)));
}

TEST_P(QueryContract, AFilterMayNotNameKeys) {
  for (const char* key : {"room", "at"}) {
    QueryRequest request = Room();
    request.filter = "#k = :r";
    request.names = {{"#k", key}};
    EXPECT_THAT(tables().Query(request), Fails(ErrorCode::kInvalid,
                                               "Filter Expression can only contain non-primary key "
                                               "attributes: Primary key attribute: " +
                                                   std::string(key)));
  }
}

TEST_P(QueryContract, CountsOnlyWhenAsked) {
  QueryRequest request = Room();
  request.select = Select::kCount;
  const Page page = Must(tables().Query(request));
  EXPECT_THAT(page.items, IsEmpty());
  EXPECT_EQ(page.count, 9U);
  EXPECT_EQ(page.scanned, 9U);
}

TEST_P(QueryContract, Projects) {
  QueryRequest request = Room();
  request.projection = "n";
  request.limit = 2;
  const Page page = Must(tables().Query(request));
  EXPECT_THAT(page.items, ElementsAre(Item{{"n", Num(1)}}, Item{{"n", Num(2)}}));
  // `last` has the complete key, although the projection leaves it out.
  EXPECT_EQ(page.last, Event("r", 2));
}

TEST_P(QueryContract, RefusesContradictingSelects) {
  QueryRequest request = Room();
  request.select = Select::kSpecificAttributes;
  EXPECT_THAT(tables().Query(request), FailsWith(ErrorCode::kInvalid));
  request.select = Select::kAllProjectedAttributes;
  EXPECT_THAT(tables().Query(request), FailsWith(ErrorCode::kInvalid));
  request.projection = "n";
  for (const Select select : {Select::kAllAttributes, Select::kCount}) {
    request.select = select;
    EXPECT_THAT(tables().Query(request), FailsWith(ErrorCode::kInvalid));
  }
  request.select = Select::kSpecificAttributes;
  EXPECT_THAT(tables().Query(request), Succeeds());
}

// A page ends with the item that brings it to 1 MB, counted before the filter.
TEST_P(QueryContract, EndsPagesAtAMegabyte) {
  Create({.table = "large", .keys = {StringKey("p"), NumberKey("n")}});
  for (int n = 0; n < 12; ++n) Put("large", {{"p", "p"}, {"n", Num(n)}, {"data", Text(300'000)}});
  QueryRequest request{.table = "large",
                       .key_condition = "p = :p",
                       .filter = "attribute_not_exists(nothing)",
                       .values = {{":p", "p"}}};
  const Page first = Must(tables().Query(request));
  EXPECT_GE(first.scanned, 3U);
  EXPECT_LE(first.scanned, 4U);
  EXPECT_TRUE(first.last.has_value());
  EXPECT_EQ(QueryAll(request).size(), 12U);
  request.forward = false;
  EXPECT_EQ(QueryAll(request).size(), 12U);
  // Items that the filter drops count towards the limit too.
  request.filter = "attribute_exists(nothing)";
  const Page filtered = Must(tables().Query(request));
  EXPECT_LE(filtered.scanned, 4U);
  EXPECT_EQ(filtered.count, 0U);
  EXPECT_TRUE(filtered.last.has_value());
  request.select = Select::kCount;
  EXPECT_LE(Must(tables().Query(request)).scanned, 4U);
}

TEST_P(QueryContract, RefusesWrongKeyConditions) {
  auto query = [&](const char* condition, tables::Values values) {
    return tables().Query({.table = "events",
                           .key_condition = condition,
                           .names = std::string(condition).find("#at") == std::string::npos
                                        ? tables::Names{}
                                        : tables::Names{{"#at", "at"}},
                           .values = std::move(values)});
  };
  EXPECT_THAT(query("room > :r", {{":r", "r"}}),
              Fails(ErrorCode::kInvalid, "Query key condition not supported"));
  EXPECT_THAT(query("#at = :a", {{":a", Num(1)}}),
              Fails(ErrorCode::kInvalid, "Query condition missed key schema element: room"));
  EXPECT_THAT(query("room = :r AND elsewhere = :a", {{":r", "r"}, {":a", Num(1)}}),
              Fails(ErrorCode::kInvalid, "Query condition missed key schema element: at"));
  EXPECT_THAT(query("room = :r", {{":r", Num(1)}}),
              Fails(ErrorCode::kInvalid, "Condition parameter type does not match schema type"));
  EXPECT_THAT(query("room = :r AND #at = :a", {{":r", "r"}, {":a", "1"}}),
              Fails(ErrorCode::kInvalid, "Condition parameter type does not match schema type"));
  EXPECT_THAT(query("room = :r OR #at = :a", {{":r", "r"}, {":a", Num(1)}}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(query("", {}), FailsWith(ErrorCode::kInvalid));
}

TEST_P(QueryContract, RefusesALimitOfNothing) {
  QueryRequest request = Room();
  request.limit = 0;
  EXPECT_THAT(tables().Query(request), Fails(ErrorCode::kInvalid, "greater than or equal to 1"));
}

TEST_P(QueryContract, RefusesMalformedStarts) {
  QueryRequest request = Room();
  const std::string invalid = "The provided starting key is invalid";
  for (const Item& start :
       {Item{}, Item{{"room", "r"}}, Item{{"room", "r"}, {"at", Num(1)}, {"x", "y"}},
        Item{{"room", "r"}, {"x", Num(1)}}}) {
    request.start_after = start;
    EXPECT_THAT(tables().Query(request), Fails(ErrorCode::kInvalid, invalid));
  }
  request.start_after = Item{{"room", "r"}, {"at", "1"}};
  EXPECT_THAT(tables().Query(request), FailsWith(ErrorCode::kInvalid));
}

TEST_P(QueryContract, RefusesStartsOutsideTheCondition) {
  QueryRequest request = Room();
  request.start_after = Event("s", 5);
  EXPECT_THAT(
      tables().Query(request),
      Fails(ErrorCode::kInvalid,
            "The provided starting key is outside query boundaries based on provided conditions"));
  request.key_condition += " AND #at > :a";
  request.names = {{"#at", "at"}};
  request.values.emplace(":a", Num(3));
  request.start_after = Event("r", 2);
  EXPECT_THAT(tables().Query(request),
              Fails(ErrorCode::kInvalid,
                    "The provided starting key does not match the range key predicate"));
}

TEST_P(QueryContract, RefusesAnUnknownIndex) {
  QueryRequest request = Room();
  request.index = "nothing";
  EXPECT_THAT(tables().Query(request),
              Fails(ErrorCode::kInvalid, "The table does not have the specified index: nothing"));
}

TEST_P(QueryContract, SeesWritesAtOnce) {
  QueryRequest request = Room();
  request.consistent = true;
  Put("events", Event("r", 10));
  Must(tables().Delete({.table = "events", .key = Event("r", 1)}));
  EXPECT_THAT(Ats(request),
              ElementsAre(Num(2), Num(3), Num(4), Num(5), Num(6), Num(7), Num(8), Num(9), Num(10)));
}

TEST_P(QueryContract, ATableWithoutSortKeyHasOneItemAPartition) {
  Create(Users());
  Put("users", User("a"));
  Put("users", User("b"));
  QueryRequest request{.table = "users", .key_condition = "id = :i", .values = {{":i", "a"}}};
  EXPECT_THAT(QueryAll(request), ElementsAre(User("a")));
  request.limit = 1;
  EXPECT_THAT(QueryAll(request), ElementsAre(User("a")));
  request.forward = false;
  EXPECT_THAT(QueryAll(request), ElementsAre(User("a")));
}

}  // namespace
}  // namespace tidemark::contract
