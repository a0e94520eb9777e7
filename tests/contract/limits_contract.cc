// The limits of items and keys, exactly at the limit and one above it.
#include "item/limits.h"
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

class LimitsContract : public Contract {
 protected:
  LimitsContract() { Create(Users()); }
  // An item of exactly so many bytes: names and values both count.
  static Item ItemOfSize(size_t size_bytes) {
    return {{"id", "a"}, {"data", Text(size_bytes - 2 - 1 - 4)}};
  }
};
INSTANTIATE_TEST_SUITE_P(Every, LimitsContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(LimitsContract, PutsItemsUpToTheLimit) {
  Put("users", ItemOfSize(item::kMaxItemBytes));
  EXPECT_EQ(Get("users", User("a")), ItemOfSize(item::kMaxItemBytes));
  EXPECT_EQ(Must(tables().DescribeTable("users")).size_bytes, item::kMaxItemBytes);
  EXPECT_THAT(tables().Put({.table = "users", .item = ItemOfSize(item::kMaxItemBytes + 1)}),
              Fails(ErrorCode::kInvalid, "Item size has exceeded the maximum allowed size"));
}

TEST_P(LimitsContract, UpdatesItemsUpToTheLimit) {
  Put("users", ItemOfSize(item::kMaxItemBytes - 100));
  auto set_more = [&](size_t length) {
    return tables().Update({.table = "users",
                            .key = User("a"),
                            .update = "SET more = :v",
                            .values = {{":v", Text(length)}}});
  };
  EXPECT_THAT(set_more(97), Fails(ErrorCode::kInvalid,
                                  "Item size to update has exceeded the maximum allowed size"));
  EXPECT_EQ(Get("users", User("a")), ItemOfSize(item::kMaxItemBytes - 100));
  EXPECT_THAT(set_more(96), Succeeds());
  EXPECT_EQ(Must(tables().DescribeTable("users")).size_bytes, item::kMaxItemBytes);
}

TEST_P(LimitsContract, TakesKeysUpToTheirLimits) {
  Create({.table = "pairs", .keys = {StringKey("p"), StringKey("s")}});
  const Item longest{{"p", Text(item::kMaxPartitionKeyBytes)}, {"s", Text(item::kMaxSortKeyBytes)}};
  Put("pairs", longest);
  EXPECT_EQ(Get("pairs", longest), longest);

  const Item long_partition{{"p", Text(item::kMaxPartitionKeyBytes + 1)}, {"s", "s"}};
  const Item long_sort{{"p", "p"}, {"s", Text(item::kMaxSortKeyBytes + 1)}};
  const std::string partition_text =
      "Size of hashkey has exceeded the maximum size limit of2048 bytes";
  const std::string sort_text =
      "Aggregated size of all range keys has exceeded the size limit of 1024 bytes";
  EXPECT_THAT(tables().Put({.table = "pairs", .item = long_partition}),
              Fails(ErrorCode::kInvalid, partition_text));
  EXPECT_THAT(tables().Put({.table = "pairs", .item = long_sort}),
              Fails(ErrorCode::kInvalid, sort_text));
  EXPECT_THAT(tables().Get({.table = "pairs", .key = long_partition}),
              Fails(ErrorCode::kInvalid, partition_text));
  EXPECT_THAT(tables().Delete({.table = "pairs", .key = long_sort}),
              Fails(ErrorCode::kInvalid, sort_text));
}

TEST_P(LimitsContract, TakesIndexKeysUpToTheirLimits) {
  tables::CreateTableRequest request{.table = "indexed", .keys = {StringKey("id")}};
  request.indexes = {{.name = "by-p", .keys = {StringKey("p"), StringKey("s")}}};
  Create(request);
  Item item{
      {"id", "a"}, {"p", Text(item::kMaxPartitionKeyBytes)}, {"s", Text(item::kMaxSortKeyBytes)}};
  Put("indexed", item);
  EXPECT_EQ(ScanAll({.table = "indexed", .index = "by-p"}), std::vector<Item>{item});
  item.Set("p", Text(item::kMaxPartitionKeyBytes + 1));
  EXPECT_THAT(tables().Put({.table = "indexed", .item = item}), FailsWith(ErrorCode::kInvalid));
}

TEST_P(LimitsContract, KeysOfTheGreatestNumbersWork) {
  Create({.table = "numbers", .keys = {StringKey("p"), NumberKey("n")}});
  std::vector<Item> items;
  for (const char* number :
       {"-9.9999999999999999999999999999999999999E+125", "-1", "-1E-130", "0", "1E-130", "0.5",
        "99999999999999999999999999999999999999", "9.9999999999999999999999999999999999999E+125"}) {
    items.push_back({{"p", "p"}, {"n", Num(number)}});
  }
  for (auto item = items.rbegin(); item != items.rend(); ++item) Put("numbers", *item);
  EXPECT_EQ(QueryAll({.table = "numbers", .key_condition = "p = :p", .values = {{":p", "p"}}}),
            items);
}

}  // namespace
}  // namespace tidemark::contract
