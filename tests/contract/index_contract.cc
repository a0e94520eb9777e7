// Secondary indexes: which items and attributes they hold, and how they are created.
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using tables::IndexKind;
using tables::IndexSpec;
using tables::IndexState;
using tables::Page;
using tables::ProjectionKind;
using tables::QueryRequest;
using tables::Select;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class IndexContract : public Contract {
 protected:
  // Global: "by-name" (all), "names" (keys only), "name-ages" (with age), "by-age" under a
  // number and a name. Local: "by-size" (keys only).
  IndexContract() {
    tables::CreateTableRequest request = Events();
    request.indexes = {
        {.name = "by-name", .keys = {StringKey("name")}},
        {.name = "names",
         .keys = {StringKey("name")},
         .projection = {ProjectionKind::kKeysOnly, {}}},
        {.name = "name-ages",
         .keys = {StringKey("name")},
         .projection = {ProjectionKind::kInclude, {"age"}}},
        {.name = "by-age", .keys = {NumberKey("age"), StringKey("name")}},
        {.name = "by-size",
         .kind = IndexKind::kLocal,
         .keys = {StringKey("room"), NumberKey("size")},
         .projection = {ProjectionKind::kKeysOnly, {}}},
    };
    Create(request);
  }
  static Item Named(int64_t at, const char* name) {
    Item item = Event("r", at);
    item.Set("name", name);
    return item;
  }
  static QueryRequest ByName(const char* index, const char* name) {
    return {.table = "events",
            .index = index,
            .key_condition = "#n = :n",
            .names = {{"#n", "name"}},
            .values = {{":n", name}}};
  }
  static QueryRequest BySize() {
    return {.table = "events",
            .index = "by-size",
            .key_condition = "room = :r",
            .values = {{":r", "r"}}};
  }
  Item Sized(int64_t at, int64_t size) {
    Item item = Event("r", at);
    item.Set("size", Num(size));
    item.Set("extra", "e" + std::to_string(at));
    Put("events", item);
    return item;
  }
};
INSTANTIATE_TEST_SUITE_P(Every, IndexContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(IndexContract, HoldsOnlyItemsThatHaveItsKey) {
  Put("events", Event("r", 1));
  Put("events", Named(2, "ann"));
  Item aged = Named(3, "ann");
  aged.Set("age", Num(30));
  Put("events", aged);
  EXPECT_THAT(QueryAll(ByName("by-name", "ann")), UnorderedElementsAre(Named(2, "ann"), aged));
  EXPECT_THAT(ScanAll({.table = "events", .index = "by-name"}), SizeIs(2));
  // Both attributes of a key are needed.
  EXPECT_THAT(ScanAll({.table = "events", .index = "by-age"}), ElementsAre(aged));
}

TEST_P(IndexContract, CarriesWhatItsProjectionSays) {
  Item item = Named(1, "ann");
  item.Set("age", Num(30));
  item.Set("other", "o");
  Put("events", item);
  const Item keys = Named(1, "ann");
  Item with_age = keys;
  with_age.Set("age", Num(30));
  EXPECT_THAT(QueryAll(ByName("by-name", "ann")), ElementsAre(item));
  EXPECT_THAT(QueryAll(ByName("names", "ann")), ElementsAre(keys));
  EXPECT_THAT(QueryAll(ByName("name-ages", "ann")), ElementsAre(with_age));
  EXPECT_THAT(ScanAll({.table = "events", .index = "name-ages"}), ElementsAre(with_age));
  QueryRequest projected = ByName("names", "ann");
  projected.select = Select::kAllProjectedAttributes;
  EXPECT_THAT(QueryAll(projected), ElementsAre(keys));
}

TEST_P(IndexContract, FollowsEveryWrite) {
  Put("events", Named(1, "ann"));
  // A put moves the key.
  Put("events", Named(1, "bob"));
  EXPECT_THAT(QueryAll(ByName("by-name", "ann")), IsEmpty());
  EXPECT_THAT(QueryAll(ByName("by-name", "bob")), ElementsAre(Named(1, "bob")));
  // An update of another attribute appears in the projections that have it.
  Must(tables().Update({.table = "events",
                        .key = Event("r", 1),
                        .update = "SET age = :a",
                        .values = {{":a", Num(30)}}}));
  EXPECT_THAT(Column(QueryAll(ByName("name-ages", "bob")), "age"), ElementsAre(Num(30)));
  EXPECT_THAT(QueryAll(ByName("names", "bob")), ElementsAre(Named(1, "bob")));
  // An update moves the key.
  Must(tables().Update({.table = "events",
                        .key = Event("r", 1),
                        .update = "SET #n = :n",
                        .names = {{"#n", "name"}},
                        .values = {{":n", "cyd"}}}));
  EXPECT_THAT(QueryAll(ByName("names", "bob")), IsEmpty());
  EXPECT_THAT(QueryAll(ByName("names", "cyd")), SizeIs(1));
  // An item without the index key leaves the index.
  Must(tables().Update(
      {.table = "events", .key = Event("r", 1), .update = "REMOVE #n", .names = {{"#n", "name"}}}));
  EXPECT_THAT(ScanAll({.table = "events", .index = "by-name"}), IsEmpty());
  EXPECT_THAT(ScanAll({.table = "events", .index = "by-age"}), IsEmpty());
  // Deleting the item deletes its index rows.
  Put("events", Named(1, "dan"));
  Must(tables().Delete({.table = "events", .key = Event("r", 1)}));
  EXPECT_THAT(ScanAll({.table = "events", .index = "by-name"}), IsEmpty());
}

TEST_P(IndexContract, FollowsBatchesAndTransactions) {
  Must(tables().BatchWrite({.tables = {{"events",
                                        {tables::BatchWriteRequest::Put{Named(1, "ann")},
                                         tables::BatchWriteRequest::Put{Named(2, "ann")}}}}}));
  EXPECT_THAT(QueryAll(ByName("by-name", "ann")), SizeIs(2));
  Must(tables().TransactWrite(
      {.actions = {tables::DeleteRequest{.table = "events", .key = Event("r", 1)},
                   tables::PutRequest{.table = "events", .item = Named(2, "bob")}}}));
  EXPECT_THAT(QueryAll(ByName("by-name", "ann")), IsEmpty());
  EXPECT_THAT(QueryAll(ByName("by-name", "bob")), ElementsAre(Named(2, "bob")));
}

// A key of another type could never be found, so the write is refused.
TEST_P(IndexContract, RefusesKeysItCannotHold) {
  Item wrong = Named(1, "ann");
  wrong.Set("age", "thirty");
  const std::string text =
      "Type mismatch for Index Key age Expected: N Actual: S IndexName: by-age";
  EXPECT_THAT(tables().Put({.table = "events", .item = wrong}), Fails(ErrorCode::kInvalid, text));
  EXPECT_THAT(
      tables().BatchWrite({.tables = {{"events", {tables::BatchWriteRequest::Put{wrong}}}}}),
      FailsWith(ErrorCode::kInvalid));
  Put("events", Named(1, "ann"));
  EXPECT_THAT(tables().Update({.table = "events",
                               .key = Event("r", 1),
                               .update = "SET age = :a",
                               .values = {{":a", "thirty"}}}),
              Fails(ErrorCode::kInvalid, text));
  EXPECT_THAT(tables().Put({.table = "events", .item = Named(1, "")}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_EQ(Get("events", Event("r", 1)), Named(1, "ann"));
}

// Many items have the same index key, so the `last` of a page also has the table's key.
TEST_P(IndexContract, PagesCarryBothKeys) {
  for (int at = 1; at <= 5; ++at) Put("events", Named(at, "ann"));
  for (const bool forward : {true, false}) {
    QueryRequest request = ByName("by-name", "ann");
    request.limit = 2;
    request.forward = forward;
    const Page page = Must(tables().Query(request));
    ASSERT_EQ(page.items.size(), 2U);
    EXPECT_EQ(page.last, page.items.back());  // Here the keys are the whole item.
    EXPECT_THAT(QueryAll(request),
                UnorderedElementsAre(Named(1, "ann"), Named(2, "ann"), Named(3, "ann"),
                                     Named(4, "ann"), Named(5, "ann")));
  }
  const Page page = Must(tables().Scan({.table = "events", .index = "names", .limit = 3}));
  ASSERT_TRUE(page.last.has_value());
  EXPECT_EQ(page.last->size(), 3U);
  EXPECT_THAT(ScanAll({.table = "events", .index = "names", .limit = 2}), SizeIs(5));
  QueryRequest request = ByName("by-name", "ann");
  for (const Item& start : {Event("r", 1), Item{{"name", "ann"}},
                            Item{{"room", "r"}, {"at", Num(1)}, {"name", "ann"}, {"x", "y"}}}) {
    request.start_after = start;
    EXPECT_THAT(tables().Query(request),
                Fails(ErrorCode::kInvalid, "The provided starting key is invalid"));
  }
}

TEST_P(IndexContract, SortsByItsOwnKey) {
  for (const auto& [at, name] :
       std::vector<std::pair<int, const char*>>{{1, "cyd"}, {2, "ann"}, {3, "bob"}}) {
    Item item = Named(at, name);
    item.Set("age", Num(30));
    Put("events", item);
  }
  QueryRequest request{.table = "events",
                       .index = "by-age",
                       .key_condition = "age = :a",
                       .values = {{":a", Num(30)}}};
  EXPECT_THAT(Column(QueryAll(request), "name"),
              ElementsAre(Value("ann"), Value("bob"), Value("cyd")));
  request.forward = false;
  request.limit = 1;
  EXPECT_THAT(Column(QueryAll(request), "name"),
              ElementsAre(Value("cyd"), Value("bob"), Value("ann")));
  request.key_condition += " AND #n BETWEEN :b AND :c";
  request.names = {{"#n", "name"}};
  request.values.insert({{":b", "aa"}, {":c", "bz"}});
  EXPECT_THAT(Column(QueryAll(request), "name"), ElementsAre(Value("bob"), Value("ann")));
}

TEST_P(IndexContract, ItsQueriesMayFilterByTheTablesKeyButNotByItsOwn) {
  Put("events", Named(1, "ann"));
  Put("events", Named(2, "ann"));
  QueryRequest request = ByName("by-name", "ann");
  request.filter = "#at > :one";
  request.names.emplace("#at", "at");
  request.values.emplace(":one", Num(1));
  EXPECT_THAT(QueryAll(request), ElementsAre(Named(2, "ann")));
  request = ByName("by-name", "ann");
  request.filter = "#n = :n";
  EXPECT_THAT(tables().Query(request), Fails(ErrorCode::kInvalid, "Primary key attribute: name"));
}

TEST_P(IndexContract, AGlobalIndexAnswersOnlyWhatItCarries) {
  Put("events", Named(1, "ann"));
  QueryRequest request = ByName("names", "ann");
  request.consistent = true;
  EXPECT_THAT(
      tables().Query(request),
      Fails(ErrorCode::kInvalid, "Consistent reads are not supported on global secondary indexes"));
  EXPECT_THAT(
      tables().Scan({.table = "events", .index = "names", .consistent = true}),
      Fails(ErrorCode::kInvalid, "Consistent reads are not supported on global secondary indexes"));
  request.consistent = false;
  request.select = Select::kAllAttributes;
  const std::string text =
      "Select type ALL_ATTRIBUTES is not supported for global secondary index names because its "
      "projection type is not ALL";
  EXPECT_THAT(tables().Query(request), Fails(ErrorCode::kInvalid, text));
  EXPECT_THAT(
      tables().Scan({.table = "events", .index = "names", .select = Select::kAllAttributes}),
      Fails(ErrorCode::kInvalid, text));
  request.select = std::nullopt;
  request.projection = "age";
  EXPECT_THAT(tables().Query(request), Fails(ErrorCode::kInvalid, "does not project"));
  request = ByName("by-name", "ann");
  request.select = Select::kAllAttributes;
  EXPECT_THAT(QueryAll(request), ElementsAre(Named(1, "ann")));
}

TEST_P(IndexContract, ALocalIndexFetchesTheRestFromTheTable) {
  const Item large = Sized(1, 20);
  const Item small = Sized(2, 10);
  Put("events", Event("r", 3));
  auto keys_of = [](Item item) {
    item.Erase("extra");
    return item;
  };
  EXPECT_THAT(QueryAll(BySize()), ElementsAre(keys_of(small), keys_of(large)));
  QueryRequest request = BySize();
  request.consistent = true;
  request.select = Select::kAllAttributes;
  EXPECT_THAT(QueryAll(request), ElementsAre(small, large));
  request.select = std::nullopt;
  request.projection = "extra";
  request.limit = 1;
  EXPECT_THAT(QueryAll(request), ElementsAre(Item{{"extra", "e2"}}, Item{{"extra", "e1"}}));
  EXPECT_EQ(Must(tables().Query(request)).last, keys_of(small));
}

// The filter uses the table's item. The reply still has only the attributes of the index.
TEST_P(IndexContract, ALocalIndexFiltersByTheTablesItem) {
  Item expected = Sized(1, 20);
  Sized(2, 10);
  expected.Erase("extra");
  QueryRequest request = BySize();
  request.filter = "extra = :e";
  request.values.emplace(":e", "e1");
  EXPECT_THAT(QueryAll(request), ElementsAre(expected));
  EXPECT_THAT(ScanAll({.table = "events",
                       .index = "by-size",
                       .filter = "extra = :e",
                       .values = {{":e", "e1"}}}),
              ElementsAre(expected));
}

TEST_P(IndexContract, ALocalIndexKnowsConditionsOnItsSortKey) {
  for (int at = 1; at <= 5; ++at) Sized(at, 10 - at);
  QueryRequest request = BySize();
  request.key_condition += " AND #s >= :s";
  request.names = {{"#s", "size"}};
  request.values.emplace(":s", Num(7));
  EXPECT_THAT(Column(QueryAll(request), "at"), ElementsAre(Num(3), Num(2), Num(1)));
}

// ---- Added and dropped later ----

class LaterIndexContract : public Contract {
 protected:
  LaterIndexContract() { Create(Users()); }
  static IndexSpec ByTeam() { return {.name = "by-team", .keys = {StringKey("team")}}; }
  static QueryRequest Team(const char* team) {
    return {.table = "users",
            .index = "by-team",
            .key_condition = "team = :t",
            .values = {{":t", team}}};
  }
};
INSTANTIATE_TEST_SUITE_P(Every, LaterIndexContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(LaterIndexContract, IsFilledAndThenActive) {
  for (int i = 0; i < 50; ++i)
    Put("users", {{"id", std::to_string(i)}, {"team", i % 2 == 0 ? "even" : "odd"}});
  Put("users", User("alone"));
  const tables::TableDescription adding =
      Must(tables().UpdateTable({.table = "users", .add_index = ByTeam()}));
  ASSERT_EQ(adding.indexes.size(), 1U);
  EXPECT_EQ(adding.indexes[0].state, IndexState::kCreating);
  EXPECT_EQ(adding.indexes[0].spec, ByTeam());
  EXPECT_THAT(tables().Query(Team("even")),
              Fails(ErrorCode::kInvalid, "Cannot read from backfilling global secondary index"));
  EXPECT_THAT(tables().Scan({.table = "users", .index = "by-team"}),
              FailsWith(ErrorCode::kInvalid));
  // Writes during the filling are in the index too.
  Put("users", {{"id", "0"}, {"team", "odd"}});
  Must(tables().Delete({.table = "users", .key = User("2")}));
  Put("users", {{"id", "new"}, {"team", "even"}});
  Maintain();
  const tables::TableDescription added = Must(tables().DescribeTable("users"));
  EXPECT_EQ(added.indexes[0].state, IndexState::kActive);
  EXPECT_FALSE(added.indexes[0].backfilling);
  EXPECT_EQ(added.indexes[0].item_count, 50U);
  EXPECT_EQ(added.state, tables::TableState::kActive);
  EXPECT_THAT(QueryAll(Team("even")), SizeIs(24));
  EXPECT_THAT(QueryAll(Team("odd")), SizeIs(26));
}

// Items that are older than the index may have any value in its key attribute.
TEST_P(LaterIndexContract, LeavesOutItemsItCannotHold) {
  Put("users", {{"id", "a"}, {"team", Num(1)}});
  Put("users", {{"id", "b"}, {"team", "red"}});
  Must(tables().UpdateTable({.table = "users", .add_index = ByTeam()}));
  Maintain();
  EXPECT_THAT(ScanAll({.table = "users", .index = "by-team"}),
              ElementsAre(Item{{"id", "b"}, {"team", "red"}}));
  // Such an item can still be deleted.
  Must(tables().Delete({.table = "users", .key = User("a")}));
  EXPECT_EQ(Get("users", User("a")), std::nullopt);
}

TEST_P(LaterIndexContract, IsAddedOneAtATime) {
  Must(tables().UpdateTable({.table = "users", .add_index = ByTeam()}));
  const IndexSpec other{.name = "by-age", .keys = {NumberKey("age")}};
  EXPECT_THAT(tables().UpdateTable({.table = "users", .add_index = other}),
              FailsWith(ErrorCode::kInUse));
  Maintain();
  EXPECT_THAT(tables().UpdateTable({.table = "users", .add_index = other}), Succeeds());
  Maintain();
  EXPECT_THAT(Must(tables().DescribeTable("users")).indexes, SizeIs(2));
}

TEST_P(LaterIndexContract, MayBeGivenUpWhileItIsFilled) {
  Put("users", {{"id", "a"}, {"team", "red"}});
  Must(tables().UpdateTable({.table = "users", .add_index = ByTeam()}));
  Must(tables().UpdateTable({.table = "users", .drop_index = "by-team"}));
  Maintain();
  EXPECT_THAT(Must(tables().DescribeTable("users")).indexes, IsEmpty());
}

TEST_P(LaterIndexContract, RefusesWrongAdditions) {
  Must(tables().UpdateTable({.table = "users", .add_index = ByTeam()}));
  Maintain();
  EXPECT_THAT(tables().UpdateTable({.table = "users", .add_index = ByTeam()}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(
      tables().UpdateTable(
          {.table = "users", .add_index = IndexSpec{.name = "by-id", .keys = {NumberKey("id")}}}),
      FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(
      tables().UpdateTable({.table = "users",
                            .add_index = IndexSpec{.name = "local",
                                                   .kind = IndexKind::kLocal,
                                                   .keys = {StringKey("id"), StringKey("x")}}}),
      FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().UpdateTable({.table = "users", .drop_index = "nothing"}),
              FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(Must(tables().DescribeTable("users")).indexes, SizeIs(1));
}

TEST_P(LaterIndexContract, IsDroppedWithAllItsRows) {
  Put("users", {{"id", "a"}, {"team", "red"}});
  Must(tables().UpdateTable({.table = "users", .add_index = ByTeam()}));
  Maintain();
  EXPECT_THAT(QueryAll(Team("red")), SizeIs(1));
  Must(tables().UpdateTable({.table = "users", .drop_index = "by-team"}));
  EXPECT_FALSE(tables().Query(Team("red")).has_value());
  Maintain();
  EXPECT_THAT(Must(tables().DescribeTable("users")).indexes, IsEmpty());
  EXPECT_THAT(tables().Query(Team("red")), FailsWith(ErrorCode::kInvalid));
  // Without the index its key is an ordinary attribute.
  Put("users", {{"id", "a"}, {"team", Num(1)}});
  // A new index with the same name does not have the old rows.
  Put("users", {{"id", "b"}, {"team", "blue"}});
  Must(tables().UpdateTable({.table = "users", .add_index = ByTeam()}));
  Maintain();
  EXPECT_THAT(ScanAll({.table = "users", .index = "by-team"}),
              ElementsAre(Item{{"id", "b"}, {"team", "blue"}}));
}

// Deleting a table while its index is filled must end that work.
TEST_P(LaterIndexContract, ATableMayGoWhileItsIndexIsFilled) {
  for (int i = 0; i < 10; ++i) Put("users", {{"id", std::to_string(i)}, {"team", "red"}});
  Must(tables().UpdateTable({.table = "users", .add_index = ByTeam()}));
  Must(tables().DeleteTable("users"));
  Maintain();
  Create(Users());
  EXPECT_THAT(ScanAll({.table = "users"}), IsEmpty());
  EXPECT_THAT(Must(tables().DescribeTable("users")).indexes, IsEmpty());
}

}  // namespace
}  // namespace tidemark::contract
