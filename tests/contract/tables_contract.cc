// Creating, describing, altering, listing, tagging and deleting tables.
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using tables::IndexKind;
using tables::IndexSpec;
using tables::ProjectionKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TablesContract : public Contract {};
INSTANTIATE_TEST_SUITE_P(Every, TablesContract, ::testing::ValuesIn(Implementations()), NameOf);

IndexSpec LocalByName() {
  return {
      .name = "by-name", .kind = IndexKind::kLocal, .keys = {StringKey("room"), StringKey("name")}};
}

IndexSpec GlobalByName() { return {.name = "by-name", .keys = {StringKey("name")}}; }

// A new table is usable at once, and its description is complete.
TEST_P(TablesContract, DescribesWhatWasCreated) {
  tables::CreateTableRequest request = Events();
  request.indexes = {LocalByName()};
  request.stream = tables::StreamView::kNewImage;
  request.throughput = tables::Throughput{5, 6};
  const tables::TableDescription created = Create(request);
  const tables::TableDescription described = Must(tables().DescribeTable("events"));
  for (const tables::TableDescription& table : {created, described}) {
    EXPECT_EQ(table.name, "events");
    EXPECT_FALSE(table.id.empty());
    EXPECT_EQ(table.keys, request.keys);
    ASSERT_EQ(table.indexes.size(), 1U);
    EXPECT_EQ(table.indexes[0].spec, request.indexes[0]);
    EXPECT_EQ(table.indexes[0].state, tables::IndexState::kActive);
    ASSERT_TRUE(table.latest_stream.has_value());
    EXPECT_EQ(table.latest_stream->view, tables::StreamView::kNewImage);
    EXPECT_TRUE(table.latest_stream->enabled);
    EXPECT_EQ(table.ttl_attribute, std::nullopt);
    EXPECT_EQ(table.throughput, request.throughput);
    EXPECT_FALSE(table.deletion_protected);
    EXPECT_EQ(table.created_at, clock().NowSeconds());
    EXPECT_EQ(table.item_count, 0U);
    EXPECT_EQ(table.size_bytes, 0U);
  }
  // DynamoDB's protocol says that a new table is being created.
  EXPECT_EQ(described.state, tables::TableState::kActive);
  EXPECT_EQ(created.id, described.id);
}

// Unlike DynamoDB's, these counts are exact, because tools and people rely on them.
TEST_P(TablesContract, CountsItemsAndBytes) {
  tables::CreateTableRequest request = Users();
  request.indexes = {GlobalByName()};
  Create(request);
  Put("users", {{"id", "a"}, {"name", "A"}});   // 2 + 1 + 4 + 1
  Put("users", {{"id", "bb"}});                 // 2 + 2
  Put("users", {{"id", "bb"}, {"x", "yyyy"}});  // 2 + 2 + 1 + 4
  Put("users", {{"id", "c"}, {"name", "C"}});
  Must(tables().Delete({.table = "users", .key = User("c")}));
  Must(tables().Delete({.table = "users", .key = User("never")}));
  const tables::TableDescription table = Must(tables().DescribeTable("users"));
  EXPECT_EQ(table.item_count, 2U);
  EXPECT_EQ(table.size_bytes, 8U + 9U);
  ASSERT_EQ(table.indexes.size(), 1U);
  EXPECT_EQ(table.indexes[0].item_count, 1U);
}

TEST_P(TablesContract, RefusesASecondTableOfAName) {
  Create(Users());
  EXPECT_THAT(tables().CreateTable(Users()),
              Fails(ErrorCode::kInUse, "Table already exists: users"));
}

// A wrong table name is a common mistake. DynamoDB has two texts for it.
TEST_P(TablesContract, NamesTheMissingTable) {
  const std::string text = "Requested resource not found: Table: gone not found";
  EXPECT_THAT(tables().DescribeTable("gone"), Fails(ErrorCode::kNotFound, text));
  EXPECT_THAT(tables().DeleteTable("gone"), Fails(ErrorCode::kNotFound, text));
  EXPECT_THAT(tables().UpdateTable({.table = "gone", .deletion_protected = true}),
              Fails(ErrorCode::kNotFound, text));
  EXPECT_THAT(tables().SetTimeToLive({.table = "gone", .attribute = "ttl"}),
              Fails(ErrorCode::kNotFound, "not found"));
  EXPECT_THAT(tables().ListTags("gone"), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(tables().Tag({.table = "gone", .set = {{"a", "b"}}}),
              FailsWith(ErrorCode::kNotFound));
  const std::string short_text = "Requested resource not found";
  EXPECT_THAT(tables().Get({.table = "gone", .key = User("a")}),
              Fails(ErrorCode::kNotFound, short_text));
  EXPECT_THAT(tables().Put({.table = "gone", .item = User("a")}),
              Fails(ErrorCode::kNotFound, short_text));
  EXPECT_THAT(tables().Scan({.table = "gone"}), Fails(ErrorCode::kNotFound, short_text));
}

// Expressions are checked before the table is looked up.
TEST_P(TablesContract, FindsAnInvalidExpressionBeforeAMissingTable) {
  EXPECT_THAT(tables().Get({.table = "gone", .key = User("a"), .projection = "a..b"}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().Put({.table = "gone", .item = User("a"), .condition = "a ="}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().Update({.table = "gone", .key = User("a"), .update = "SET"}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().Scan({.table = "gone", .filter = "a = :undefined"}),
              FailsWith(ErrorCode::kInvalid));
}

TEST_P(TablesContract, RefusesWrongNames) {
  const std::string length = "at least 3 characters long and at most 255 characters long";
  for (const std::string& name : {std::string(), std::string("ab"), std::string(256, 'a')}) {
    EXPECT_THAT(tables().CreateTable({.table = name, .keys = {StringKey("id")}}),
                ::testing::AnyOf(Fails(ErrorCode::kInvalid, length),
                                 // The port checks it before the tables do.
                                 Fails(ErrorCode::kInvalid, "Member must have length")));
  }
  for (const char* name : {"a b c", "käse", "a/b", "tab;le"}) {
    EXPECT_THAT(tables().CreateTable({.table = name, .keys = {StringKey("id")}}),
                Fails(ErrorCode::kInvalid,
                      "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"));
  }
  Create({.table = "a.b", .keys = {StringKey("id")}});
  Create({.table = std::string(255, 'a'), .keys = {StringKey("id")}});
}

TEST_P(TablesContract, RefusesWrongKeys) {
  EXPECT_THAT(
      tables().CreateTable({.table = "users", .keys = {StringKey("id"), StringKey("id")}}),
      ::testing::AnyOf(
          Fails(ErrorCode::kInvalid,
                "Both the Hash Key and the Range Key element in the KeySchema have the same name"),
          // On the wire there are fewer definitions than keys.
          Fails(ErrorCode::kInvalid, "Some index key attribute have no definition")));
  EXPECT_THAT(tables().CreateTable({.table = "users", .keys = {{"id", item::Type::kBool}}}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().CreateTable({.table = "users", .keys = {StringKey("")}}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().CreateTable({.table = "users", .keys = {StringKey(std::string(256, 'a'))}}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(Must(tables().ListTables({})).tables, IsEmpty());
}

TEST_P(TablesContract, RefusesWrongLocalIndexes) {
  EXPECT_THAT(tables().CreateTable(
                  {.table = "users", .keys = {StringKey("room")}, .indexes = {LocalByName()}}),
              Fails(ErrorCode::kInvalid,
                    "Table KeySchema does not have a range key, which is "
                    "required when specifying a LocalSecondaryIndex"));
  auto with = [](IndexSpec index) {
    tables::CreateTableRequest request = Events();
    request.indexes = {std::move(index)};
    return request;
  };
  IndexSpec without_sort = LocalByName();
  without_sort.keys.sort.reset();
  EXPECT_THAT(
      tables().CreateTable(with(without_sort)),
      Fails(ErrorCode::kInvalid, "Index KeySchema does not have a range key for index: by-name"));
  IndexSpec elsewhere = LocalByName();
  elsewhere.keys.partition = StringKey("house");
  EXPECT_THAT(tables().CreateTable(with(elsewhere)),
              Fails(ErrorCode::kInvalid,
                    "Index KeySchema does not have the same leading hash key "
                    "as table KeySchema for index: by-name"));
}

TEST_P(TablesContract, RefusesWrongProjectionsAndNamesOfIndexes) {
  auto with = [](std::vector<IndexSpec> indexes) {
    return tables::CreateTableRequest{
        .table = "users", .keys = {StringKey("id")}, .indexes = std::move(indexes)};
  };
  IndexSpec index = GlobalByName();
  EXPECT_THAT(tables().CreateTable(with({index, index})),
              Fails(ErrorCode::kInvalid, "Duplicate index name: by-name"));
  index.projection = {ProjectionKind::kAll, {"a"}};
  EXPECT_THAT(
      tables().CreateTable(with({index})),
      Fails(ErrorCode::kInvalid, "ProjectionType is ALL, but NonKeyAttributes is specified"));
  index.projection = {ProjectionKind::kKeysOnly, {"a"}};
  EXPECT_THAT(
      tables().CreateTable(with({index})),
      Fails(ErrorCode::kInvalid, "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified"));
  index.projection = {ProjectionKind::kInclude, {}};
  EXPECT_THAT(tables().CreateTable(with({index})), FailsWith(ErrorCode::kInvalid));
  index.projection = {ProjectionKind::kInclude, {}};
  for (int i = 0; i < 101; ++i) index.projection.included.push_back("a" + std::to_string(i));
  EXPECT_THAT(tables().CreateTable(with({index})), FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().CreateTable(with({{.name = "x", .keys = {StringKey("name")}}})),
              FailsWith(ErrorCode::kInvalid));
  // One attribute has two types.
  EXPECT_THAT(tables().CreateTable(with({{.name = "by-id", .keys = {NumberKey("id")}}})),
              FailsWith(ErrorCode::kInvalid));
}

TEST_P(TablesContract, LimitsTheNumberOfIndexes) {
  tables::CreateTableRequest request = Events();
  for (int i = 0; i < 20; ++i) {
    request.indexes.push_back({.name = "global" + std::to_string(i), .keys = {StringKey("name")}});
  }
  for (int i = 0; i < 5; ++i) {
    IndexSpec local = LocalByName();
    local.name = "local" + std::to_string(i);
    request.indexes.push_back(local);
  }
  EXPECT_EQ(Create(request).indexes.size(), 25U);

  request.table = "more";
  request.indexes.push_back({.name = "global20", .keys = {StringKey("name")}});
  EXPECT_THAT(
      tables().CreateTable(request),
      Fails(ErrorCode::kInvalid, "GlobalSecondaryIndex count exceeds the per-table limit of 20"));
  request.indexes.back() = LocalByName();
  EXPECT_THAT(
      tables().CreateTable(request),
      Fails(ErrorCode::kInvalid, "Number of LocalSecondaryIndexes exceeds per-table limit of 5"));
}

TEST_P(TablesContract, RefusesThroughputBelowOne) {
  tables::CreateTableRequest request = Users();
  request.throughput = tables::Throughput{0, 1};
  EXPECT_THAT(tables().CreateTable(request), FailsWith(ErrorCode::kInvalid));
}

TEST_P(TablesContract, ListsNamesInOrderAndInPages) {
  EXPECT_THAT(Must(tables().ListTables({})).tables, IsEmpty());
  for (const char* name : {"ccc", "aaa", "Zed", "bbb"}) {
    Create({.table = name, .keys = {StringKey("id")}});
  }
  const tables::ListTablesReply all = Must(tables().ListTables({}));
  EXPECT_THAT(all.tables, ElementsAre("Zed", "aaa", "bbb", "ccc"));
  EXPECT_EQ(all.last, std::nullopt);

  const tables::ListTablesReply first = Must(tables().ListTables({.limit = 3}));
  EXPECT_THAT(first.tables, ElementsAre("Zed", "aaa", "bbb"));
  EXPECT_EQ(first.last, "bbb");
  const tables::ListTablesReply rest = Must(tables().ListTables({.after = first.last, .limit = 3}));
  EXPECT_THAT(rest.tables, ElementsAre("ccc"));
  EXPECT_EQ(rest.last, std::nullopt);
  // The table at the start position need not exist.
  EXPECT_THAT(Must(tables().ListTables({.after = "aab"})).tables, ElementsAre("bbb", "ccc"));
  EXPECT_THAT(tables().ListTables({.limit = 0}), FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().ListTables({.limit = 101}), FailsWith(ErrorCode::kInvalid));
}

TEST_P(TablesContract, DeletesATableWithAllItems) {
  const std::string id = Create(Users()).id;
  Put("users", User("a"));
  EXPECT_EQ(Must(tables().DeleteTable("users")).id, id);
  EXPECT_THAT(tables().Get({.table = "users", .key = User("a")}), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(Must(tables().ListTables({})).tables, IsEmpty());
}

// A new table with an old name must have nothing of the old table.
TEST_P(TablesContract, ARecreatedTableInheritsNothing) {
  tables::CreateTableRequest request = Users();
  request.indexes = {GlobalByName()};
  request.stream = tables::StreamView::kNewAndOldImages;
  request.tags = {{"owner", "a"}};
  const std::string old_id = Create(request).id;
  Must(tables().SetTimeToLive({.table = "users", .attribute = "ttl"}));
  Put("users", {{"id", "a"}, {"name", "A"}, {"ttl", Num(clock().NowSeconds() - 10)}});
  Must(tables().DeleteTable("users"));

  const tables::TableDescription made = Create(Users());
  EXPECT_NE(made.id, old_id);
  EXPECT_EQ(made.item_count, 0U);
  EXPECT_THAT(made.indexes, IsEmpty());
  EXPECT_FALSE(made.latest_stream.has_value());
  EXPECT_EQ(made.ttl_attribute, std::nullopt);
  EXPECT_THAT(Must(tables().ListTags("users")), IsEmpty());
  EXPECT_EQ(Get("users", User("a")), std::nullopt);
  EXPECT_THAT(ScanAll({.table = "users"}), IsEmpty());
  Maintain();
  Put("users", User("a"));
  Maintain();
  EXPECT_EQ(Get("users", User("a")), User("a"));
  EXPECT_EQ(Must(tables().DescribeTable("users")).item_count, 1U);
}

// The same for indexes: old index rows must not appear either.
TEST_P(TablesContract, ARecreatedIndexIsEmpty) {
  tables::CreateTableRequest request = Users();
  request.indexes = {GlobalByName()};
  Create(request);
  Put("users", {{"id", "a"}, {"name", "A"}});
  Must(tables().DeleteTable("users"));
  Create(request);
  EXPECT_THAT(ScanAll({.table = "users", .index = "by-name"}), IsEmpty());
}

TEST_P(TablesContract, ProtectsFromDeletion) {
  tables::CreateTableRequest request = Users();
  request.deletion_protected = true;
  EXPECT_TRUE(Create(request).deletion_protected);
  EXPECT_THAT(tables().DeleteTable("users"),
              Fails(ErrorCode::kInvalid, "protected against deletion"));
  EXPECT_FALSE(Must(tables().UpdateTable({.table = "users", .deletion_protected = false}))
                   .deletion_protected);
  EXPECT_THAT(tables().DeleteTable("users"), Succeeds());
}

TEST_P(TablesContract, UpdatesOnlyWhatIsGiven) {
  tables::CreateTableRequest request = Users();
  request.throughput = tables::Throughput{1, 2};
  request.deletion_protected = true;
  Create(request);
  const tables::TableDescription updated =
      Must(tables().UpdateTable({.table = "users", .throughput = tables::Throughput{3, 4}}));
  EXPECT_EQ(updated.throughput, (tables::Throughput{3, 4}));
  EXPECT_TRUE(updated.deletion_protected);
  EXPECT_EQ(Must(tables().DescribeTable("users")).throughput, (tables::Throughput{3, 4}));
  EXPECT_THAT(tables().UpdateTable({.table = "users"}),
              Fails(ErrorCode::kInvalid, "At least one of"));
}

TEST_P(TablesContract, KeepsTags) {
  tables::CreateTableRequest request = Users();
  request.tags = {{"owner", "a"}, {"stage", "test"}};
  Create(request);
  Must(tables().Tag(
      {.table = "users", .set = {{"stage", "live"}, {"cost", "1"}}, .remove = {"owner"}}));
  EXPECT_EQ(Must(tables().ListTags("users")), (tables::Tags{{"stage", "live"}, {"cost", "1"}}));
  tables::Tags many;
  for (int i = 0; i < 51; ++i) many["tag" + std::to_string(i)] = "x";
  EXPECT_THAT(tables().Tag({.table = "users", .set = many}), FailsWith(ErrorCode::kInvalid));
  EXPECT_EQ(Must(tables().ListTags("users")).size(), 2U);
}

}  // namespace
}  // namespace tidemark::contract
