// Global indexes whose partition key and sort key have several attributes.
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using tables::IndexKind;
using tables::IndexSpec;
using tables::QueryRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string RefusalOf(const Result<tables::Page>& reply) {
  return reply ? "accepted" : reply.error().message;
}

class SeveralKeysContract : public Contract {
 protected:
  // A game has a cup and a region; its place in the order is a round, a field and an hour.
  static IndexSpec Games() {
    return {.name = "games",
            .keys = {.partition = StringKey("cup"),
                     .sort = NumberKey("round"),
                     .more_partition = {StringKey("region")},
                     .more_sort = {StringKey("field"), NumberKey("hour")}}};
  }
  static tables::CreateTableRequest Table() {
    return {.table = "games", .keys = {StringKey("id")}, .indexes = {Games()}};
  }
  SeveralKeysContract() { Create(Table()); }

  void Game(const std::string& id, const char* region, int64_t round, const char* field,
            int64_t hour) {
    Put("games", {{"id", id},
                  {"cup", "c"},
                  {"region", region},
                  {"round", Num(round)},
                  {"field", field},
                  {"hour", Num(hour)}});
  }
  void SomeGames() {
    Game("a", "west", 2, "b", 9);
    Game("b", "west", 10, "a", 1);
    Game("c", "west", 2, "b", 10);
    Game("d", "west", 2, "a", 20);
    Game("e", "east", 2, "a", 1);
    Put("games", {{"id", "f"}, {"cup", "c"}, {"region", "west"}, {"round", Num(2)}});
  }
  static QueryRequest Where(const std::string& condition) {
    const tables::Names names = {
        {"#c", "cup"}, {"#g", "region"}, {"#r", "round"}, {"#f", "field"}, {"#h", "hour"}};
    const tables::Values values = {{":c", "c"}, {":g", "west"}, {":r", Num(2)},
                                   {":f", "b"}, {":h", Num(9)}, {":i", Num(20)}};
    QueryRequest request{.table = "games", .index = "games", .key_condition = condition};
    const auto is_used = [&](const auto& one) {
      return condition.find(one.first) != std::string::npos;
    };
    for (const auto& one : names) {
      if (is_used(one)) request.names.insert(one);
    }
    for (const auto& one : values) {
      if (is_used(one)) request.values.insert(one);
    }
    return request;
  }
  std::vector<Value> Ids(const std::string& condition) {
    return Column(QueryAll(Where(condition)), "id");
  }
};
INSTANTIATE_TEST_SUITE_P(Every, SeveralKeysContract, ::testing::ValuesIn(Implementations()),
                         NameOf);

TEST_P(SeveralKeysContract, OrdersByOneAttributeAfterAnother) {
  SomeGames();
  const std::string partition = "#c = :c AND #g = :g";
  EXPECT_THAT(Ids(partition), ElementsAre("d", "a", "c", "b"));
  EXPECT_THAT(Ids(partition + " AND #r = :r"), ElementsAre("d", "a", "c"));
  EXPECT_THAT(Ids(partition + " AND #r > :r"), ElementsAre("b"));
  EXPECT_THAT(Ids("#f = :f AND #r = :r AND #g = :g AND #c = :c"), ElementsAre("a", "c"));
  EXPECT_THAT(Ids(partition + " AND #r = :r AND begins_with(#f, :f)"), ElementsAre("a", "c"));
  EXPECT_THAT(Ids(partition + " AND #r = :r AND #f < :f"), ElementsAre("d"));
  EXPECT_THAT(Ids(partition + " AND #r = :r AND #f = :f AND #h BETWEEN :h AND :i"),
              ElementsAre("a", "c"));
  EXPECT_THAT(Ids(partition + " AND #r = :r AND #f = :f AND #h > :h"), ElementsAre("c"));
  QueryRequest backward = Where(partition);
  backward.forward = false;
  EXPECT_THAT(Column(QueryAll(backward), "id"), ElementsAre("b", "c", "a", "d"));
  // An item without one of the attributes is not in the index.
  EXPECT_THAT(ScanAll({.table = "games", .index = "games"}), SizeIs(5));
}

// The values of two attributes are not confused when one is longer.
TEST_P(SeveralKeysContract, KeepsTheAttributesApart) {
  Put("games", {{"id", "a"},
                {"cup", "cw"},
                {"region", "est"},
                {"round", Num(1)},
                {"field", "f"},
                {"hour", Num(1)}});
  Put("games", {{"id", "b"},
                {"cup", "c"},
                {"region", "west"},
                {"round", Num(1)},
                {"field", "f"},
                {"hour", Num(1)}});
  EXPECT_THAT(Ids("#c = :c AND #g = :g"), ElementsAre("b"));
}

TEST_P(SeveralKeysContract, ContinuesAPageWithAllKeys) {
  SomeGames();
  QueryRequest request = Where("#c = :c AND #g = :g AND #r = :r");
  request.limit = 2;
  const tables::Page first = Must(tables().Query(request));
  EXPECT_EQ(first.last, (Item{{"id", "a"},
                              {"cup", "c"},
                              {"region", "west"},
                              {"round", Num(2)},
                              {"field", "b"},
                              {"hour", Num(9)}}));
  request.start_after = first.last;
  EXPECT_THAT(Column(Must(tables().Query(request)).items, "id"), ElementsAre("c"));
  request.start_after->Set("region", "east");
  EXPECT_THAT(RefusalOf(tables().Query(request)), HasSubstr("outside query boundaries"));
  request.start_after = first.last;
  request.start_after->Set("round", Num(3));
  EXPECT_THAT(RefusalOf(tables().Query(request)), HasSubstr("range key predicate"));
  request.start_after = Item{{"id", "a"}, {"cup", "c"}, {"region", "west"}, {"round", Num(2)}};
  EXPECT_THAT(RefusalOf(tables().Query(request)), HasSubstr("starting key is invalid"));
}

TEST_P(SeveralKeysContract, RefusesAGapInTheCondition) {
  const auto refusal = [&](const std::string& condition) {
    return RefusalOf(tables().Query(Where(condition)));
  };
  EXPECT_EQ(refusal("#c = :c"), "Query condition missed key schema element: region");
  EXPECT_EQ(refusal("#c = :c AND #g > :g"), "Query key condition not supported");
  const std::string after =
      " must have equality conditions specified in the query because a condition is present on key "
      "attribute ";
  EXPECT_EQ(refusal("#c = :c AND #g = :g AND #f = :f"),
            "RANGE key attributes round" + after + "field");
  EXPECT_EQ(refusal("#c = :c AND #g = :g AND #r > :r AND #f = :f"),
            "RANGE key attributes round" + after + "field");
  EXPECT_EQ(refusal("#c = :c AND #g = :g AND #r = :r AND #h = :h"),
            "RANGE key attributes field" + after + "hour");
}

TEST_P(SeveralKeysContract, FollowsTheItem) {
  Game("a", "west", 2, "a", 1);
  Must(tables().Update({.table = "games",
                        .key = {{"id", "a"}},
                        .update = "SET #h = :h",
                        .names = {{"#h", "hour"}},
                        .values = {{":h", Num(2)}}}));
  EXPECT_THAT(Ids("#c = :c AND #g = :g"), ElementsAre("a"));
  Must(tables().Update(
      {.table = "games", .key = {{"id", "a"}}, .update = "REMOVE #h", .names = {{"#h", "hour"}}}));
  EXPECT_THAT(Ids("#c = :c AND #g = :g"), IsEmpty());
  const auto wrong = tables().Put({.table = "games", .item = {{"id", "b"}, {"field", Num(1)}}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("Type mismatch for Index Key field"));
}

TEST_P(SeveralKeysContract, IsDescribedAndFilledLater) {
  EXPECT_EQ(Must(tables().DescribeTable("games")).indexes[0].spec.keys, Games().keys);
  Create({.table = "later", .keys = {StringKey("id")}});
  Put("later", {{"id", "a"}, {"x", "1"}, {"y", "2"}});
  const IndexSpec late{
      .name = "late",
      .keys = {.partition = StringKey("x"), .sort = {}, .more_partition = {StringKey("y")}}};
  Must(tables().UpdateTable({.table = "later", .add_index = late}));
  Maintain();
  EXPECT_THAT(QueryAll({.table = "later",
                        .index = "late",
                        .key_condition = "x = :x AND y = :y",
                        .values = {{":x", "1"}, {":y", "2"}}}),
              SizeIs(1));
}

TEST_P(SeveralKeysContract, LimitsTheAttributes) {
  const auto refusal = [&](const item::KeySchema& keys, IndexKind kind = IndexKind::kGlobal) {
    const auto reply =
        tables().CreateTable({.table = "limits",
                              .keys = {StringKey("id"), StringKey("at")},
                              .indexes = {{.name = "index", .kind = kind, .keys = keys}}});
    return reply ? "accepted" : reply.error().message;
  };
  const std::vector<item::KeyAttribute> four = {StringKey("p"), StringKey("q"), StringKey("r"),
                                                StringKey("s")};
  EXPECT_EQ(refusal({.partition = StringKey("a"), .sort = {}, .more_partition = four}),
            "The KeySchema exceeds the maximum allowed number of HASH key attributes");
  EXPECT_EQ(refusal({.partition = StringKey("a"),
                     .sort = StringKey("b"),
                     .more_partition = {},
                     .more_sort = four}),
            "The KeySchema exceeds the maximum allowed number of RANGE key attributes");
  EXPECT_EQ(refusal({.partition = StringKey("a"), .sort = {}, .more_partition = {StringKey("a")}}),
            "The KeySchema contains multiple key attributes with the same name");
  EXPECT_THAT(refusal({.partition = StringKey("id"),
                       .sort = StringKey("b"),
                       .more_partition = {},
                       .more_sort = {StringKey("c")}},
                      IndexKind::kLocal),
              HasSubstr("Member must have length less than or equal to 2"));
}

}  // namespace
}  // namespace tidemark::contract
