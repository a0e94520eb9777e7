#include "expression/update.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "item/limits.h"
#include "item/size.h"
#include "tests/support/expression_request.h"

namespace tidemark::expression {
namespace {

constexpr std::string_view kPath =
    "The document path provided in the update expression is invalid for update";
constexpr std::string_view kMissing =
    "The provided expression refers to an attribute that does not exist in the item";
constexpr std::string_view kType = "An operand in the update expression has an incorrect data type";
constexpr std::string_view kSize = "Item size to update has exceeded the maximum allowed size";

Request EveryType() {
  return {{{"#c", "count"}},
          {{":s", "new"},
           {":n", N(3)},
           {":one", N(1)},
           {":ss", SS({"x", "z"})},
           {":all", SS({"x", "y"})},
           {":ns", NS({2, 4})},
           {":bs", BS({"p"})},
           {":l", L({"new"})},
           {":none", L({})},
           {":m", M({{"k", "new"}})},
           {":max", N("9.9999999999999999999999999999999999999E125")},
           {":tiny", N("1E-130")}}};
}

item::Item Before() {
  return {
      {"id", "1"},
      {"count", N(10)},
      {"l", L({"a", "b", "c", "d"})},
      {"m", M({{"k", "v"}, {"nest", M({{"z", N(1)}})}, {"seq", L({N(1), N(2)})}})},
      {"s", "text"},
      {"ss", SS({"x", "y"})},
      {"ns", NS({1, 2})},
      {"bs", BS({"p"})},
  };
}

struct UpdateCase {
  std::string_view text;
  item::Item changes;                     // Attributes that differ afterwards …
  std::vector<std::string> removed = {};  // … and those that are gone.
};

void ExpectChanges(const std::vector<UpdateCase>& cases) {
  const Request request = EveryType();
  for (const UpdateCase& c : cases) {
    item::Item expected = Before();
    for (const item::Attribute& change : c.changes) expected.Set(change.name, change.value);
    for (const std::string& name : c.removed) expected.Erase(name);
    const Result<Update> update = request.Update(c.text);
    ASSERT_TRUE(update) << c.text << ": " << update.error().message;
    const item::Item before = Before();
    const Result<item::Item> after = update->Apply(before);
    ASSERT_TRUE(after) << c.text << ": " << after.error().message;
    EXPECT_TRUE(*after == expected) << c.text;
    EXPECT_TRUE(before == Before()) << c.text;
  }
}

void ExpectMessages(const std::vector<MessageCase>& cases) {
  const Request request = EveryType();
  for (const MessageCase& c : cases) {
    const Result<Update> update = request.Update(c.text);
    ASSERT_TRUE(update) << c.text << ": " << update.error().message;
    EXPECT_EQ(MessageOf(update->Apply(Before())), c.message) << c.text;
  }
}

TEST(UpdateTest, SetsAttributes) {
  ExpectChanges({
      {"SET a = :s", {{"a", "new"}}},
      {"SET s = :n", {{"s", N(3)}}},
      {"SET zz = :m, aa = :l, s = :s",
       {{"zz", M({{"k", "new"}})}, {"aa", L({"new"})}, {"s", "new"}}},
      {"SET a = s", {{"a", "text"}}},
      {"SET a = m.nest", {{"a", M({{"z", N(1)}})}}},
      {"SET a = l[2]", {{"a", "c"}}},
      {"SET a = (:s)", {{"a", "new"}}},
      {"SET s = s", {}},
  });
}

TEST(UpdateTest, SetsWithinMapsAndLists) {
  ExpectChanges({
      {"SET m.k = :s",
       {{"m", M({{"k", "new"}, {"nest", M({{"z", N(1)}})}, {"seq", L({N(1), N(2)})}})}}},
      {"SET m.nest.y = :s, m.nest.zz = :n",
       {{"m", M({{"k", "v"},
                 {"nest", M({{"y", "new"}, {"z", N(1)}, {"zz", N(3)}})},
                 {"seq", L({N(1), N(2)})}})}}},
      {"SET m.#c = :s",
       {{"m",
         M({{"k", "v"}, {"count", "new"}, {"nest", M({{"z", N(1)}})}, {"seq", L({N(1), N(2)})}})}}},
      {"SET l[1] = :s", {{"l", L({"a", "new", "c", "d"})}}},
      {"SET l[3] = :s, l[0] = :n", {{"l", L({N(3), "b", "c", "new"})}}},
      {"SET m.seq[1] = :s",
       {{"m", M({{"k", "v"}, {"nest", M({{"z", N(1)}})}, {"seq", L({N(1), "new"})}})}}},
  });
}

// An index behind the end appends. Several of them append in the order of their indexes.
TEST(UpdateTest, AppendsPastTheEndOfAList) {
  ExpectChanges({
      {"SET l[4] = :s", {{"l", L({"a", "b", "c", "d", "new"})}}},
      {"SET l[99] = :s", {{"l", L({"a", "b", "c", "d", "new"})}}},
      {"SET l[2147483647] = :s", {{"l", L({"a", "b", "c", "d", "new"})}}},
      {"SET l[20] = :s, l[10] = :n, l[1] = :s", {{"l", L({"a", "new", "c", "d", N(3), "new"})}}},
      {"SET l[9] = :s REMOVE l[0], l[3]", {{"l", L({"b", "c", "new"})}}},
      {"ADD l[7] :n", {{"l", L({"a", "b", "c", "d", N(3)})}}},
  });
}

TEST(UpdateTest, EveryOperandReadsTheItemBeforeTheUpdate) {
  ExpectChanges({
      {"SET s = id, id = s", {{"s", "1"}, {"id", "text"}}},
      {"SET a = #c, #c = :s", {{"a", N(10)}, {"count", "new"}}},
      {"SET l[0] = l[3], l[3] = l[0]", {{"l", L({"d", "b", "c", "a"})}}},
      {"SET a = l[1] REMOVE l[0], l[1]", {{"a", "b"}, {"l", L({"c", "d"})}}},
      {"REMOVE s SET a = s", {{"a", "text"}}, {"s"}},
      {"SET a = l REMOVE l[0]", {{"a", L({"a", "b", "c", "d"})}, {"l", L({"b", "c", "d"})}}},
      {"SET m.nest.twin = m.nest",
       {{"m", M({{"k", "v"},
                 {"nest", M({{"z", N(1)}, {"twin", M({{"z", N(1)}})}})},
                 {"seq", L({N(1), N(2)})}})}}},
  });
}

TEST(UpdateTest, AddsAndSubtractsNumbers) {
  ExpectChanges({
      {"SET #c = #c + :n", {{"count", N(13)}}},
      {"SET #c = #c - :n", {{"count", N(7)}}},
      {"SET #c = :n - #c", {{"count", N(-7)}}},
      {"SET a = (:n + :one)", {{"a", N(4)}}},
      {"SET a = m.nest.z + m.seq[1]", {{"a", N(3)}}},
      {"SET a = if_not_exists(a, :one) + :n", {{"a", N(4)}}},
      {"SET #c = if_not_exists(#c, :one) + if_not_exists(b, :n)", {{"count", N(13)}}},
  });
}

TEST(UpdateTest, IfNotExistsUsesTheStoredValueFirst) {
  ExpectChanges({
      {"SET s = if_not_exists(s, :n)", {}},
      {"SET a = if_not_exists(a, :n)", {{"a", N(3)}}},
      {"SET a = if_not_exists(m.absent, s)", {{"a", "text"}}},
      {"SET a = if_not_exists(b, if_not_exists(c, :s))", {{"a", "new"}}},
      {"SET a = if_not_exists(s, absent)", {{"a", "text"}}},
  });
}

TEST(UpdateTest, ListAppendJoinsLists) {
  ExpectChanges({
      {"SET l = list_append(l, :l)", {{"l", L({"a", "b", "c", "d", "new"})}}},
      {"SET l = list_append(:l, l)", {{"l", L({"new", "a", "b", "c", "d"})}}},
      {"SET a = list_append(:none, :none)", {{"a", L({})}}},
      {"SET a = list_append(m.seq, list_append(:l, m.seq))",
       {{"a", L({N(1), N(2), "new", N(1), N(2)})}}},
      {"SET a = list_append(if_not_exists(a, :none), :l)", {{"a", L({"new"})}}},
      {"SET l = list_append(if_not_exists(l, :none), :l)", {{"l", L({"a", "b", "c", "d", "new"})}}},
      {"SET a = if_not_exists(a, list_append(:l, :l))", {{"a", L({"new", "new"})}}},
      {"SET a = list_append(if_not_exists(x, list_append(:l, :l)), :l)",
       {{"a", L({"new", "new", "new"})}}},
  });
}

TEST(UpdateTest, RemovesAttributesAndElements) {
  ExpectChanges({
      {"REMOVE s", {}, {"s"}},
      {"REMOVE s, ss, absent", {}, {"s", "ss"}},
      {"REMOVE m.k, m.nest.z, m.absent", {{"m", M({{"nest", M({})}, {"seq", L({N(1), N(2)})}})}}},
      {"REMOVE l[1]", {{"l", L({"a", "c", "d"})}}},
      {"REMOVE l[0], l[1], l[2], l[3]", {{"l", L({})}}},
      {"REMOVE l[9]", {}},
      {"REMOVE m.seq[0]", {{"m", M({{"k", "v"}, {"nest", M({{"z", N(1)}})}, {"seq", L({N(2)})}})}}},
  });
}

// Every index refers to the list before the update.
TEST(UpdateTest, RemoveUsesPositionsBeforeTheUpdate) {
  ExpectChanges({
      {"REMOVE l[2], l[0]", {{"l", L({"b", "d"})}}},
      {"REMOVE l[0] SET l[1] = :s", {{"l", L({"new", "c", "d"})}}},
      {"REMOVE l[1], l[2] SET l[3] = l[2]", {{"l", L({"a", "c"})}}},
  });
}

TEST(UpdateTest, AddIncreasesNumbersAndExtendsSets) {
  ExpectChanges({
      {"ADD #c :n", {{"count", N(13)}}},
      {"ADD a :n", {{"a", N(3)}}},
      {"ADD m.nest.z :n",
       {{"m", M({{"k", "v"}, {"nest", M({{"z", N(4)}})}, {"seq", L({N(1), N(2)})}})}}},
      {"ADD m.nest.fresh :n",
       {{"m",
         M({{"k", "v"}, {"nest", M({{"z", N(1)}, {"fresh", N(3)}})}, {"seq", L({N(1), N(2)})}})}}},
      {"ADD ss :ss", {{"ss", SS({"x", "y", "z"})}}},
      {"ADD ns :ns, bs :bs", {{"ns", NS({1, 2, 4})}}},
      {"ADD a :ss", {{"a", SS({"x", "z"})}}},
  });
}

// DynamoDB has no empty sets, so an attribute whose set becomes empty is removed.
TEST(UpdateTest, DeletesFromSets) {
  ExpectChanges({
      {"DELETE ss :ss", {{"ss", SS({"y"})}}},
      {"DELETE ss :all", {}, {"ss"}},
      {"DELETE bs :bs", {}, {"bs"}},
      {"DELETE ns :ns", {{"ns", NS({1})}}},
      {"DELETE absent :ss", {}},
      {"DELETE m.absent :ss", {}},
  });
}

TEST(UpdateTest, AppliesAllSectionsTogether) {
  ExpectChanges({
      {"SET a = :s REMOVE s ADD #c :one DELETE ss :ss",
       {{"a", "new"}, {"count", N(11)}, {"ss", SS({"y"})}},
       {"s"}},
  });
}

TEST(UpdateTest, RefusesPathsWithoutParents) {
  ExpectMessages({
      {"SET absent.a = :s", kPath},   {"SET m.absent.a = :s", kPath},
      {"SET absent[0] = :s", kPath},  {"SET s.a = :s", kPath},
      {"SET s[0] = :s", kPath},       {"SET ss[0] = :s", kPath},
      {"SET m[0] = :s", kPath},       {"SET l.a = :s", kPath},
      {"SET l[9].a = :s", kPath},     {"SET l[0].a = :s", kPath},
      {"REMOVE absent.a", kPath},     {"REMOVE absent[0]", kPath},
      {"REMOVE s.a", kPath},          {"REMOVE l.a", kPath},
      {"REMOVE m[0]", kPath},         {"REMOVE l[9].a", kPath},
      {"ADD absent.a :n", kPath},     {"ADD l.a :n", kPath},
      {"DELETE absent.a :ss", kPath}, {"SET a.b = :s, a.c = :s", kPath},
  });
}

TEST(UpdateTest, RefusesOperandsThatAreNotThere) {
  ExpectMessages({
      {"SET a = absent", kMissing},
      {"SET a = m.absent", kMissing},
      {"SET a = l[4]", kMissing},
      {"SET a = absent + :n", kMissing},
      {"SET a = :n - absent", kMissing},
      {"SET a = list_append(absent, :l)", kMissing},
      {"SET a = list_append(:l, absent)", kMissing},
      {"SET a = if_not_exists(absent, gone)", kMissing},
  });
}

TEST(UpdateTest, RefusesOperandsOfTheWrongType) {
  ExpectMessages({
      {"SET a = s + :n", kType},
      {"SET a = :n - ss", kType},
      {"SET a = if_not_exists(s, :n) + :n", kType},
      {"SET a = list_append(s, :l)", kType},
      {"SET a = list_append(:l, m)", kType},
      {"SET a = list_append(if_not_exists(s, :l), :l)", kType},
      {"SET a = list_append(l, :l) + :n", kType},
      {"ADD s :n", kType},
      {"ADD ss :n", kType},
      {"ADD #c :ss", kType},
      {"ADD ns :ss", kType},
      {"ADD l :n", kType},
      {"ADD m :ss", kType},
      {"DELETE #c :ss", kType},
      {"DELETE ns :ss", kType},
      {"DELETE l :ss", kType},
  });
}

// src/item tests the texts. This test shows that no result is rounded and none overflows.
TEST(UpdateTest, RefusesResultsThatDoNotFitANumber) {
  const Request request = EveryType();
  const item::Item item{{"big", N("9.9999999999999999999999999999999999999E125")}, {"one", N(1)}};
  for (const std::string_view text : {"ADD big :max", "SET big = big + :max", "SET a = :tiny + one",
                                      "ADD one :tiny", "SET a = one - :tiny"}) {
    EXPECT_NE(MessageOf(request.Update(text)->Apply(item)), "") << text;
  }
}

TEST(UpdateTest, TellsWhetherItCreatesAnItem) {
  const Request request = EveryType();
  for (const std::string_view text : {"SET a = :s", "ADD a :n", "REMOVE a SET b = :s",
                                      "DELETE a :ss ADD b :n", "SET a = if_not_exists(a, :n)"}) {
    EXPECT_TRUE(request.Update(text)->Creates()) << text;
  }
  for (const std::string_view text : {"REMOVE a", "DELETE a :ss", "REMOVE a, b DELETE c :ss"}) {
    EXPECT_FALSE(request.Update(text)->Creates()) << text;
  }
}

TEST(UpdateTest, NamesThePathsItWrites) {
  const auto update = EveryType().Update("SET m.k = s REMOVE l[1], z ADD #c :n DELETE ss :ss");
  ASSERT_TRUE(update);
  const std::vector<Path> expected = {{{"count"}}, {{"l", 1U}}, {{"m", "k"}}, {{"ss"}}, {{"z"}}};
  EXPECT_EQ(update->Paths(), expected);
}

TEST(UpdateTest, OwnsItsNamesAndValues) {
  std::optional<Update> update;
  {
    const Request request{{{"#n", "name"}}, {{":v", std::string(100, 'v')}}};
    std::string text = "SET #n = :v";
    update = request.Update(text).value();
    text.assign(text.size(), '!');
  }
  EXPECT_EQ(*update->Apply({}), (item::Item{{"name", std::string(100, 'v')}}));
}

// Without this limit a short text could build an item of gigabytes before its size is checked.
TEST(UpdateTest, RefusesMoreBytesThanAnItemMayHave) {
  const item::Item item{{"big", std::string(200'000, 'x')},
                        {"seq", L({std::string(200'000, 'x')})}};
  const Request request{{}, {{":v", std::string(200'000, 'v')}}};
  EXPECT_EQ(MessageOf(request.Update("SET a = :v, b = :v")->Apply({})), "");
  EXPECT_EQ(MessageOf(request.Update("SET a = :v, b = :v, c = :v")->Apply({})), kSize);
  EXPECT_EQ(MessageOf(request.Update("SET a = big, b = big, c = big")->Apply(item)), kSize);
  EXPECT_EQ(MessageOf(request.Update("SET a = list_append(seq, seq)")->Apply(item)), "");
  EXPECT_EQ(
      MessageOf(request.Update("SET a = list_append(seq, list_append(seq, seq))")->Apply(item)),
      kSize);

  const Request sets{{}, {{":set", item::StringSet({std::string(200'000, 'v')})}}};
  EXPECT_EQ(MessageOf(sets.Update("ADD a :set, b :set")->Apply({})), "");
  EXPECT_EQ(MessageOf(sets.Update("ADD a :set, b :set, c :set")->Apply({})), kSize);
}

// Each of these updates nests the item one level deeper. Without a limit the stack would overflow.
TEST(UpdateTest, RefusesMoreLevelsThanAnItemMayHave) {
  const Request request{{}, {{":m", M({})}, {":s", "x"}}};
  const Update wrap = request.Update("SET m.a = m").value();
  item::Item item{{"m", M({})}};
  int depth = 1;
  while (true) {
    Result<item::Item> next = wrap.Apply(item);
    if (!next) {
      EXPECT_EQ(next.error().message,
                "Nesting Levels have exceeded supported limits: Attributes in the item have nested "
                "levels beyond supported limit");
      break;
    }
    item = std::move(next).value();
    ASSERT_LT(++depth, 100);
  }
  EXPECT_EQ(depth, item::kMaxNesting);
}

// 400 changes of an item with 50,000 attributes take one pass. A pass for each change would be
// noticeably slow.
TEST(UpdateTest, AppliesManyChangesToAWideItemInOnePass) {
  item::Item item;
  for (int i = 0; i < 50'000; ++i) {
    item.Append("k" + std::to_string(1'000'000 + i), N(i));
  }
  std::string text = "SET a0=:v";
  for (int i = 1; i < 400; ++i) text += ",a" + std::to_string(i) + "=:v";
  const Request request{{}, {{":v", N(1)}}};
  const auto update = request.Update(text);
  ASSERT_TRUE(update) << update.error().message;
  const auto after = update->Apply(item);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->size(), 50'400U);
}

}  // namespace
}  // namespace tidemark::expression
