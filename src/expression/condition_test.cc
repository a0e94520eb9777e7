#include "expression/condition.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/expression_request.h"

namespace tidemark::expression {
namespace {

item::Item EveryTypeItem() {
  return {
      {"s", "hello world"},
      {"blank", ""},
      {"emoji", "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"n", N(5)},
      {"neg", N("-1.5")},
      {"b", B("bytes")},
      {"yes", true},
      {"nope", false},
      {"null", item::Null{}},
      {"ss", SS({"x", "y"})},
      {"ns", NS({1, 2, 3})},
      {"bs", BS({"p", "q"})},
      {"l", L({"x", N(1), M({{"deep", "v"}}), L({N(2)})})},
      {"m", M({{"k", "v"}, {"n", N(7)}, {"nest", M({{"z", N(1)}})}})},
  };
}

Request EveryTypeRequest() {
  return {{{"#s", "s"}, {"#null", "null"}},
          {{":hello", "hello world"},
           {":he", "he"},
           {":o_w", "o w"},
           {":none", "zzz"},
           {":empty", ""},
           {":x", "x"},
           {":n4", N(4)},
           {":n5", N("5.0")},
           {":n6", N(6)},
           {":n1", N(1)},
           {":n0", N(0)},
           {":b", B("bytes")},
           {":by", B("by")},
           {":te", B("te")},
           {":p", B("p")},
           {":c", B("c")},
           {":yes", true},
           {":no", false},
           {":null", item::Null{}},
           {":ss", SS({"y", "x"})},
           {":ss1", SS({"x"})},
           {":ns", NS({3, 2, 1})},
           {":l", L({"x", N(1), M({{"deep", "v"}}), L({N(2)})})},
           {":l2", L({N(2)})},
           {":m", M({{"n", N(7)}, {"k", "v"}, {"nest", M({{"z", N(1)}})}})},
           {":deep", M({{"deep", "v"}})},
           {":S", "S"},
           {":N", "N"},
           {":B", "B"},
           {":BOOL", "BOOL"},
           {":NULL", "NULL"},
           {":SS", "SS"},
           {":NS", "NS"},
           {":BS", "BS"},
           {":L", "L"},
           {":M", "M"}}};
}

void ExpectAll(const std::vector<std::string_view>& texts, bool holds) {
  const Request request = EveryTypeRequest();
  const item::Item item = EveryTypeItem();
  for (const std::string_view text : texts) {
    const Result<Condition> condition = request.Condition(text);
    ASSERT_TRUE(condition) << text << ": " << condition.error().message;
    EXPECT_EQ(condition->Holds(item), holds) << text;
  }
}

void ExpectHolds(const std::vector<std::string_view>& texts) { ExpectAll(texts, true); }
void ExpectFails(const std::vector<std::string_view>& texts) { ExpectAll(texts, false); }

TEST(ConditionTest, ComparesForEquality) {
  ExpectHolds({"s = :hello", ":hello = s",      "n = :n5",         "b = :b",         "yes = :yes",
               "nope = :no", "#null = :null",   "ss = :ss",        "ns = :ns",       "l = :l",
               "m = :m",     "m.k = l[2].deep", "l[1] = m.nest.z", "blank = :empty", ":he = :he",
               "s <> :none", "n <> :n6",        "yes <> nope",     "ss <> :ss1",     "m <> :l"});
  ExpectFails({"s = :none", "n = :n6", "n = :hello", "yes = nope", "ss = :ss1", "l = :l2",
               "s <> :hello", "n <> :n5", "ns <> :ns", "#null <> :null"});
}

// Values of different types are never equal and never ordered.
TEST(ConditionTest, OrdersOnlyValuesOfOneType) {
  ExpectHolds({"n > :n4", "n >= :n5", "n < :n6", "n <= :n5", ":n4 < n", "neg < :n0", "s > :he",
               "s < :none", "s >= :hello", "b > :by", "b < :te", "blank < s", "m.n > n", "s <> n"});
  ExpectFails({"n < :n4", "n > :n5", "s < :n4", "s > :n4", "s <= :b", "s >= :b", "b > :he",
               "ss < :hello", "yes < :hello", "l > :n1", "m >= :n1", "#null < :n1", "s = n"});
}

// <> is true for an absent attribute; every other comparison is false.
TEST(ConditionTest, AnAbsentAttributeIsUnequalToEveryValue) {
  ExpectHolds({"absent <> :hello", ":hello <> absent", "absent <> gone", "m.absent <> :n1",
               "l[9] <> :n1", "s[0] <> :n1", "NOT absent = :hello", "NOT absent < :hello",
               "size(absent) <> :n1", "size(n) <> :n1"});
  ExpectFails({"absent = :hello", "absent = gone", "absent < :hello", "absent >= :hello",
               "absent BETWEEN :he AND :hello", ":n5 BETWEEN absent AND :n6", "absent IN (:hello)",
               "s IN (absent)", "begins_with(absent, :he)", "contains(absent, :he)",
               "contains(s, absent)", "attribute_type(absent, :S)", "size(absent) = :n0",
               "size(absent) < :n1"});
}

TEST(ConditionTest, BetweenIncludesItsBounds) {
  ExpectHolds({"n BETWEEN :n4 AND :n6", "n BETWEEN :n5 AND :n5", "n BETWEEN :n4 AND :n5",
               "s BETWEEN :he AND :none", "b BETWEEN :by AND :te", ":n5 BETWEEN neg AND m.n",
               "size(ns) BETWEEN :n1 AND :n4"});
  ExpectFails({"n BETWEEN :n1 AND :n4", "n BETWEEN :n6 AND :n6", "s BETWEEN :n1 AND :n6",
               "ss BETWEEN :he AND :none", "n BETWEEN m.n AND neg"});
}

TEST(ConditionTest, InFindsTheValueAmongTheChoices) {
  ExpectHolds({"n IN (:n4, :n5)", "s IN (:none, :hello, :n1)", "yes IN (nope, :yes)",
               "m IN (:l, :m)", "size(l) IN (:n4)", "s IN (absent, :hello)"});
  ExpectFails({"n IN (:n4, :n6)", "n IN (:hello)", "ss IN (:x)", "l IN (:l2)"});
}

TEST(ConditionTest, ChecksWhetherAnAttributeExists) {
  ExpectHolds({"attribute_exists(s)", "attribute_exists(#null)", "attribute_exists(blank)",
               "attribute_exists(m.nest.z)", "attribute_exists(l[3][0])",
               "attribute_not_exists(absent)", "attribute_not_exists(m.absent)",
               "attribute_not_exists(l[4])", "attribute_not_exists(s.x)",
               "attribute_not_exists(ss[0])"});
  ExpectFails({"attribute_exists(absent)", "attribute_exists(l[4])", "attribute_exists(m[0])",
               "attribute_not_exists(nope)", "attribute_not_exists(l[0])"});
}

TEST(ConditionTest, ChecksTheTypeOfAnAttribute) {
  ExpectHolds({"attribute_type(s, :S)", "attribute_type(n, :N)", "attribute_type(b, :B)",
               "attribute_type(nope, :BOOL)", "attribute_type(#null, :NULL)",
               "attribute_type(ss, :SS)", "attribute_type(ns, :NS)", "attribute_type(bs, :BS)",
               "attribute_type(l, :L)", "attribute_type(m, :M)", "attribute_type(l[2].deep, :S)"});
  ExpectFails({"attribute_type(s, :N)", "attribute_type(ss, :S)", "attribute_type(m, :L)"});
}

TEST(ConditionTest, BeginsWithFindsPrefixes) {
  ExpectHolds({"begins_with(s, :he)", "begins_with(s, :hello)", "begins_with(s, :empty)",
               "begins_with(b, :by)", "begins_with(:hello, s)", "begins_with(blank, :empty)"});
  ExpectFails({"begins_with(s, :o_w)", "begins_with(b, :he)", "begins_with(s, :by)",
               "begins_with(blank, :he)", "begins_with(n, :he)", "begins_with(ss, :x)",
               "begins_with(l, :x)"});
}

TEST(ConditionTest, ContainsFindsPartsMembersAndElements) {
  ExpectHolds({"contains(s, :o_w)", "contains(s, :hello)", "contains(s, :empty)",
               "contains(b, :te)", "contains(ss, :x)", "contains(ns, :n1)", "contains(bs, :p)",
               "contains(l, :x)", "contains(l, :n1)", "contains(l, :deep)", "contains(l, :l2)",
               "contains(:hello, s)", "contains(blank, :empty)"});
  ExpectFails({"contains(s, :none)", "contains(s, :n1)", "contains(b, :he)", "contains(ss, :he)",
               "contains(ss, :n1)", "contains(ns, :n4)", "contains(ns, :x)", "contains(bs, :c)",
               "contains(l, :n5)", "contains(l, :p)", "contains(m, :x)", "contains(n, :n5)",
               "contains(yes, :yes)", "contains(ss, :ss1)", "contains(blank, :x)"});
}

// Strings count UTF-16 units: the emoji string has a, é and € at one each, and an emoji of two.
TEST(ConditionTest, SizeCountsUtf16UnitsBytesOrElements) {
  const Request request{{}, {{":n", N(0)}}};
  const item::Item item = EveryTypeItem();
  const std::pair<std::string, int> cases[] = {{"s", 11}, {"blank", 0}, {"emoji", 5}, {"b", 5},
                                               {"ss", 2}, {"ns", 3},    {"bs", 2},    {"l", 4},
                                               {"m", 3},  {"m.nest", 1}};
  for (const auto& [path, size] : cases) {
    const Request sized{{}, {{":n", N(size)}}};
    EXPECT_TRUE(sized.Condition("size(" + path + ") = :n")->Holds(item)) << path;
  }
  for (const std::string path : {"n", "yes", "nope"}) {
    EXPECT_FALSE(request.Condition("size(" + path + ") >= :n")->Holds(item)) << path;
  }
  ExpectHolds({"size(:hello) > size(:he)", "size(l) = size(:l)", "size(ss) < size(s)"});
}

// The values of the operands are chosen so that any other grouping gives another answer.
TEST(ConditionTest, CombinesConditionsWithAndOrAndNot) {
  const std::string t = "n = :n5";
  const std::string f = "n = :n4";
  const Request request = EveryTypeRequest();
  const item::Item item = EveryTypeItem();
  const std::pair<std::string, bool> cases[] = {
      {t + " AND " + t, true},
      {t + " AND " + f, false},
      {f + " OR " + t, true},
      {f + " OR " + f, false},
      {"NOT " + f, true},
      {"NOT NOT " + t, true},
      {t + " OR " + t + " AND " + f, true},
      {"(" + t + " OR " + t + ") AND " + f, false},
      {f + " AND " + f + " OR " + t, true},
      {f + " AND (" + f + " OR " + t + ")", false},
      {"NOT " + f + " AND " + f, false},
      {"NOT (" + f + " AND " + f + ")", true},
      {"NOT " + t + " OR " + t, true},
      {"NOT (" + t + " OR " + t + ")", false},
      {"not " + f + " and not " + f + " or " + f, true},
      {"n BETWEEN :n4 AND :n6 AND " + f, false},
      {"n BETWEEN :n4 AND :n6 OR " + f, true},
  };
  for (const auto& [text, holds] : cases) {
    EXPECT_EQ(request.Condition(text)->Holds(item), holds) << text;
  }
}

// An absent item is an empty one.
TEST(ConditionTest, AnswersForAnAbsentItem) {
  const Request request{{}, {{":now", N(100)}}};
  EXPECT_TRUE(request.Condition("attribute_not_exists(id) OR expires <= :now")->Holds({}));
  EXPECT_FALSE(request.Condition("expires <= :now")->Holds({}));
}

TEST(ConditionTest, NamesTheAttributesItMentions) {
  const Request request{{{"#x", "y"}}, {{":v", N(1)}}};
  const auto condition = request.Condition(
      "a.b[0] = :v AND (c IN (d, :v) OR NOT size(#x) > e) AND attribute_exists(a.z) AND :v < f");
  ASSERT_TRUE(condition);
  EXPECT_EQ(condition->Attributes(), (std::set<std::string>{"a", "c", "d", "e", "f", "y"}));
}

// A filter is still used after the bindings of its request are destroyed.
TEST(ConditionTest, OwnsItsNamesAndValues) {
  std::optional<Condition> condition;
  {
    const Request request{{{"#n", "name"}}, {{":v", std::string(100, 'v')}}};
    std::string text = "#n = :v AND extra <> :v";
    condition = request.Condition(text).value();
    text.assign(text.size(), '!');
  }
  EXPECT_TRUE(condition->Holds({{"name", std::string(100, 'v')}}));
  EXPECT_FALSE(condition->Holds({{"name", "v"}}));
}

TEST(ConditionTest, NamesTheParameterInItsErrors) {
  const Request request;
  Bindings bindings = request.MakeBindings();
  EXPECT_EQ(MessageOf(ParseCondition("", "FilterExpression", &bindings)),
            "Invalid FilterExpression: The expression can not be empty;");
}

// Searching a text that almost repeats itself must not take quadratic time. A simple search needs
// 2^34 steps here, a linear one a few times 2^18.
TEST(ConditionTest, ContainsTakesLinearTime) {
  const size_t half = 1 << 17;
  const Request request{{}, {{":part", std::string(half, 'a') + "b"}}};
  const item::Item item{{"s", std::string(2 * half, 'a')}};
  const auto condition = request.Condition("contains(s, :part)");
  ASSERT_TRUE(condition);
  EXPECT_FALSE(condition->Holds(item));
}

// Evaluating the deepest condition that the limits allow does not overflow the stack.
TEST(ConditionTest, EvaluatesTheDeepestNesting) {
  std::string text;
  for (int i = 0; i < 299; ++i) text += "(NOT ";
  text += "a=:v";
  text.append(299, ')');
  const Request request{{}, {{":v", N(1)}}};
  const auto condition = request.Condition(text);
  ASSERT_TRUE(condition) << condition.error().message;
  EXPECT_FALSE(condition->Holds({{"a", N(1)}}));
  EXPECT_TRUE(condition->Holds({{"a", N(2)}}));
}

}  // namespace
}  // namespace tidemark::expression
