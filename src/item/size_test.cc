#include "item/size.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "item/json.h"

namespace tidemark::item {
namespace {

Number SizedNumber(std::string_view text) { return *Number::Parse(text); }

// The 400 KB limit, pages and capacity are all measured by these figures.
TEST(SizeTest, CountsScalars) {
  EXPECT_EQ(SizeBytes(Value("")), 0U);
  EXPECT_EQ(SizeBytes(Value("h\xc3\xa9")), 3U);
  EXPECT_EQ(SizeBytes(Value(Binary{"abc"})), 3U);
  EXPECT_EQ(SizeBytes(Value(SizedNumber("3.14159"))), 5U);
  EXPECT_EQ(SizeBytes(Value(true)), 1U);
  EXPECT_EQ(SizeBytes(Value(Null{})), 1U);
}

TEST(SizeTest, CountsSetsAsTheSumOfTheirMembers) {
  EXPECT_EQ(SizeBytes(Value(StringSet({"a", "bc", ""}))), 3U);
  EXPECT_EQ(SizeBytes(Value(NumberSet({SizedNumber("1"), SizedNumber("123")}))), 5U);
  EXPECT_EQ(SizeBytes(Value(BinarySet({Binary{"ab"}}))), 2U);
}

TEST(SizeTest, CountsThreeBytesForAContainerAndOneForEachElement) {
  EXPECT_EQ(SizeBytes(Value(List{})), 3U);
  EXPECT_EQ(SizeBytes(Value(Map{})), 3U);
  EXPECT_EQ(SizeBytes(Value(List{"ab", true})), 3U + (1 + 2) + (1 + 1));
  EXPECT_EQ(SizeBytes(Value(Map{{"name", "ab"}, {"x", List{}}})), 3U + (1 + 4 + 2) + (1 + 1 + 3));
}

TEST(SizeTest, CountsNamesAndValuesOfAnItem) {
  EXPECT_EQ(SizeBytes(Item{}), 0U);
  EXPECT_EQ(SizeBytes(Item{{"id", "a"}, {"h\xc3\xa9", SizedNumber("1")}}), (2U + 1) + (3 + 2));
}

// A reply that is larger than its measure could take any amount of memory.
TEST(SizeTest, JsonBytesIsAtLeastTheLengthOfTheJson) {
  const std::vector<Item> items = {
      {},
      {{"id", "a"}, {"h\xc3\xa9", SizedNumber("-12.5")}},
      {{"numbers", List{SizedNumber("1E125"), SizedNumber("-1E-130"), SizedNumber("0"),
                        SizedNumber("0.012"), SizedNumber("1200"), SizedNumber("123.45")}}},
      {{"tiny", List(100, Value(""))}, {"nulls", List(100, Value(Null{}))}},
      {{"flags", List{true, false}}, {"map", Map{{"a", Map{}}, {"\"b\"", List{}}}}},
      {{"bytes", List{Binary{""}, Binary{"a"}, Binary{"ab"}, Binary{"abc"}, Binary{"abcd"}}}},
      {{"sets", List{StringSet({"a", "b\\"}), NumberSet({SizedNumber("1"), SizedNumber("2")}),
                     BinarySet({Binary{"x"}})}}},
      {{"controls", std::string("\x01\x02\n\t\x1f", 5)}},
  };
  for (const Item& item : items) {
    const std::string json = ToJson(item);
    EXPECT_GE(JsonBytes(item), json.size()) << json;
    // Commas behind the last elements, and the short forms of "\n" and "\t".
    EXPECT_LE(JsonBytes(item), json.size() + 16) << json;
  }
}

TEST(SizeTest, KnowsTheLengthOfANumbersText) {
  for (const char* text : {"0", "7", "-7", "10", "1E125", "-1E125", "1E-130", "-1E-130", "0.5",
                           "12.25", "-12.25", "0.00012", "99999999999999999999999999999999999999",
                           "9.9999999999999999999999999999999999999E+125"}) {
    const Number number = SizedNumber(text);
    EXPECT_EQ(number.TextBytes(), number.ToString().size()) << text;
  }
}

}  // namespace
}  // namespace tidemark::item
