#include "item/size.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tidemark::item
