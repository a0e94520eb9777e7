#include "item/validate.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/limits.h"

namespace tidemark::item {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const Status& status) {
  return status.has_value() ? "no error" : status.error().message;
}

// Lists and maps in turn around a string.
Value Wrapped(int wraps) {
  Value value = "leaf";
  for (int i = 0; i < wraps; ++i) {
    value = i % 2 == 0 ? Value(List{std::move(value)}) : Value(Map{{"x", std::move(value)}});
  }
  return value;
}

// DynamoDB accepts a string inside 31 lists and maps, and refuses 32 (dynamodb-facts 4.3).
TEST(ValidateTest, AcceptsThirtyTwoLevelsAndRefusesMore) {
  EXPECT_EQ(ErrorOf(ValidateItem(Item{{"a", Wrapped(31)}})), "no error");
  EXPECT_EQ(ErrorOf(ValidateValue(Wrapped(31))), "no error");
  const std::string text =
      "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
      "beyond supported "
      "limit";
  EXPECT_EQ(ErrorOf(ValidateItem(Item{{"a", Wrapped(32)}})), text);
  EXPECT_EQ(ErrorOf(ValidateValue(Wrapped(32))), text);
}

TEST(ValidateTest, RefusesEmptySetsWhereverTheyAre) {
  const std::string prefix = "One or more parameter values were invalid: ";
  EXPECT_EQ(ErrorOf(ValidateValue(StringSet())), prefix + "An string set  may not be empty");
  EXPECT_EQ(ErrorOf(ValidateValue(NumberSet())), prefix + "An number set  may not be empty");
  EXPECT_EQ(ErrorOf(ValidateItem(Item{{"a", List{Map{{"b", BinarySet()}}}}})),
            prefix + "Binary sets should not be empty");
  EXPECT_EQ(ErrorOf(ValidateValue(StringSet({""}))), "no error");
}

TEST(ValidateTest, LimitsTheLengthOfAttributeNames) {
  const std::string longest(kMaxAttributeNameBytes, 'n');
  EXPECT_EQ(ErrorOf(ValidateItem(Item{{longest, true}})), "no error");
  EXPECT_THAT(ErrorOf(ValidateItem(Item{{longest + "n", true}})), HasSubstr("has 65536 bytes"));
  EXPECT_THAT(ErrorOf(ValidateItem(Item{{"", true}})), HasSubstr("empty name"));
  EXPECT_THAT(ErrorOf(ValidateItem(Item{{"m", Map{{"", true}}}})), HasSubstr("empty name"));
}

TEST(ValidateTest, AcceptsCharactersOfEveryLength) {
  for (const char* text :
       {"", "plain ascii, longer than a word", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
        "12345678\xc3\xa9"
        "12345678\xf0\x9f\x8c\x8a"}) {
    EXPECT_EQ(ErrorOf(ValidateValue(text)), "no error") << text;
  }
}

// A string that is not UTF-8 could be stored but never be given back as JSON.
TEST(ValidateTest, RefusesStringsThatAreNotUtf8) {
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x9f\xbf", "\xe2\x82",
        "\xe2\x82(", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x8c", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "1234567\x80", "12345678\x80", "a\xc3\xa9\xc3"}) {
    EXPECT_THAT(ErrorOf(ValidateValue(text)), HasSubstr("not valid UTF-8"))
        << ::testing::PrintToString(text);
    EXPECT_THAT(ErrorOf(ValidateValue(StringSet({"a", text}))), HasSubstr("not valid UTF-8"));
    EXPECT_THAT(ErrorOf(ValidateItem(Item{{text, true}})), HasSubstr("not valid UTF-8"));
    EXPECT_EQ(ErrorOf(ValidateValue(Binary{text})), "no error");
  }
}

}  // namespace
}  // namespace tidemark::item
