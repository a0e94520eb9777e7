#include "item/json.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::item {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Number JsonNumber(std::string_view text) { return *Number::Parse(text); }

// The error for a single value, as the layer of the protocol gets it.
std::string ErrorOf(std::string_view json) {
  const JsonDocument document = *JsonDocument::Parse(json);
  const Result<Value> value = DecodeValueJson(document.root());
  if (value) return "no error: " + ToJson(*value);
  EXPECT_EQ(value.error().code, ErrorCode::kInvalid);
  return value.error().message;
}

std::string ParseErrorOf(std::string_view json) {
  const Result<Item> item = ParseItemJson(json);
  return item ? "no error: " + ToJson(*item) : item.error().message;
}

TEST(ItemJsonTest, ReadsEveryType) {
  const Result<Item> item = ParseItemJson(R"({
      "s": {"S": "h\u00e9\u0000"}, "n": {"N": "1e3"}, "b": {"B": "AP8="}, "t": {"BOOL": true},
      "f": {"BOOL": false}, "z": {"NULL": true}, "ss": {"SS": ["b", "a", ""]},
      "ns": {"NS": ["2", "1.0"]}, "bs": {"BS": ["", "eA=="]},
      "l": {"L": [{"S": "x"}, {"L": []}]}, "m": {"M": {"k": {"M": {}}}}})");
  ASSERT_TRUE(item.has_value()) << item.error().message;
  EXPECT_EQ(*item, (Item{{"s", String("h\xc3\xa9\0", 4)},
                         {"n", JsonNumber("1000")},
                         {"b", Binary{std::string("\0\xff", 2)}},
                         {"t", true},
                         {"f", false},
                         {"z", Null{}},
                         {"ss", StringSet({"", "a", "b"})},
                         {"ns", NumberSet({JsonNumber("1"), JsonNumber("2")})},
                         {"bs", BinarySet({Binary{}, Binary{"x"}})},
                         {"l", List{"x", List{}}},
                         {"m", Map{{"k", Map{}}}}}));
}

// Equal items give equal text, so names and members are sorted and numbers canonical.
TEST(ItemJsonTest, EqualItemsHaveEqualText) {
  const Item item{{"z", JsonNumber("1e3")},
                  {"a", StringSet({"b", "a"})},
                  {"b", Binary{std::string("\0\xff", 2)}},
                  {"l", List{true, Null{}, Map{{"q\"", "\n"}}}}};
  EXPECT_EQ(ToJson(item),
            R"({"a":{"SS":["a","b"]},"b":{"B":"AP8="},"l":{"L":[{"BOOL":true},{"NULL":true},)"
            R"({"M":{"q\"":{"S":"\n"}}}]},"z":{"N":"1000"}})");
  EXPECT_EQ(ToJson(Value(NumberSet({JsonNumber("10"), JsonNumber("9")}))), R"({"NS":["9","10"]})");
  EXPECT_EQ(ToJson(Item{}), "{}");
}

TEST(ItemJsonTest, RefusesValuesWithoutATypeOrWithSeveral) {
  EXPECT_EQ(
      ErrorOf("{}"),
      "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  EXPECT_EQ(
      ErrorOf(R"({"S": null})"),
      "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  EXPECT_EQ(
      ErrorOf(R"({"X": "a"})"),
      "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  EXPECT_EQ(
      ErrorOf("null"),
      "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  EXPECT_EQ(ErrorOf(R"({"S": "a", "N": "1"})"),
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
            "the supported "
            "datatypes");
  EXPECT_THAT(ErrorOf(R"({"S": "a", "S": "b"})"), HasSubstr("more than one datatypes set"));
}

// The SDKs of some languages send a null for each type that is not set.
TEST(ItemJsonTest, IgnoresNullsAndUnknownMembers) {
  EXPECT_EQ(ErrorOf(R"({"N": null, "S": "a", "new": 3})"), R"(no error: {"S":"a"})");
}

TEST(ItemJsonTest, RefusesWrongNumbersWithDynamoDbsTexts) {
  EXPECT_EQ(ErrorOf(R"({"N": ""})"), "The parameter cannot be converted to a numeric value");
  EXPECT_EQ(ErrorOf(R"({"NS": ["1", "b"]})"),
            "The parameter cannot be converted to a numeric value: b");
  EXPECT_THAT(ErrorOf(R"({"N": "1e126"})"), StartsWith("Number overflow."));
}

TEST(ItemJsonTest, RefusesEmptySetsAndFalseNulls) {
  const std::string prefix = "One or more parameter values were invalid: ";
  EXPECT_EQ(ErrorOf(R"({"SS": []})"), prefix + "An string set  may not be empty");
  EXPECT_EQ(ErrorOf(R"({"NS": []})"), prefix + "An number set  may not be empty");
  EXPECT_EQ(ErrorOf(R"({"BS": []})"), prefix + "Binary sets should not be empty");
  EXPECT_EQ(ErrorOf(R"({"NULL": false})"),
            prefix + "Null attribute value types must have the value of true");
}

// Members are compared by value: 1 and 1.0 are the same number.
TEST(ItemJsonTest, RefusesSetsWithDuplicates) {
  const std::string prefix = "One or more parameter values were invalid: ";
  EXPECT_EQ(ErrorOf(R"({"SS": ["a", "a"]})"),
            prefix + "Input collection [a, a] contains duplicates.");
  EXPECT_EQ(ErrorOf(R"({"SS": ["", ""]})"), prefix + "Input collection [, ] contains duplicates.");
  EXPECT_EQ(ErrorOf(R"({"BS": ["eA==", "eA=="]})"),
            prefix + "Input collection [eA==, eA==]of type BS contains duplicates.");
  EXPECT_EQ(ErrorOf(R"({"NS": ["1", "1.0"]})"), "Input collection contains duplicates");
}

// The layer of the protocol knows by this prefix that the error is not a validation error.
TEST(ItemJsonTest, ReportsWrongJsonKindsAsSerializationErrors) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"S": 1})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"N": 1.5})", "DECIMAL_VALUE cannot be converted to String"},
      {R"({"N": true})", "TRUE_VALUE cannot be converted to String"},
      {R"({"S": false})", "FALSE_VALUE cannot be converted to String"},
      {R"({"S": {}})", "Start of structure or map found where not expected"},
      {R"({"S": []})", "Unrecognized collection type class java.lang.String"},
      {R"({"B": 1})", "only base-64-encoded strings are convertible to bytes"},
      {R"({"B": []})", "Unrecognized collection type class java.nio.ByteBuffer"},
      {R"({"B": "abc"})", "Base64 encoded length is expected a multiple of 4 bytes but found: 3"},
      {R"({"B": "eB=="})", "Invalid last non-pad Base64 character dectected"},
      {R"({"B": "e A="})", "Invalid last non-pad Base64 character dectected"},
      {R"({"BOOL": 1})", "NUMBER_VALUE cannot be converted to Boolean"},
      {R"({"BOOL": "maybe"})", "Unexpected token received from parser"},
      {R"({"NULL": []})", "Unrecognized collection type class java.lang.Boolean"},
      {R"({"SS": "a"})", "Unexpected field type"},
      {R"({"SS": {}})", "Start of structure or map found where not expected"},
      {R"({"SS": [1]})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"SS": [null]})", "NULL_VALUE cannot be converted to String"},
      {R"({"L": "a"})", "Unexpected field type"},
      {R"({"L": [1]})", "Unexpected value type in payload"},
      {R"({"M": 1})", "Unexpected field type"},
      {R"({"M": []})",
       "Unrecognized collection type java.util.Map<java.lang.String, "
       "com.amazonaws.dynamodb.v20120810.AttributeValue>"},
      {R"(1)", "Unexpected value type in payload"},
      {R"([])",
       "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"},
  };
  for (const auto& [json, text] : cases) {
    EXPECT_EQ(ErrorOf(json), std::string(kSerializationPrefix) + text) << json;
  }
}

TEST(ItemJsonTest, LimitsNesting) {
  const auto nested = [](int wraps) {
    std::string json = R"({"S":"x"})";
    for (int i = 0; i < wraps; ++i) json = R"({"L":[)" + json + "]}";
    return json;
  };
  EXPECT_THAT(ErrorOf(nested(31)), StartsWith("no error"));
  EXPECT_THAT(ErrorOf(nested(32)), StartsWith("Nesting Levels have exceeded supported limits"));
}

// A person who pastes an item of 400 KB needs to know where the error is.
TEST(ItemJsonTest, NamesThePathToAWrongValue) {
  EXPECT_THAT(ParseErrorOf(R"({"id": {"N": "x"}})"), StartsWith("id: The parameter cannot"));
  EXPECT_THAT(ParseErrorOf(R"({"a": {"M": {"b": {"L": [{"S": "x"}, {"M": {"c": {"N": ""}}}]}}}})"),
              StartsWith("a.b[1].c: The parameter cannot"));
  EXPECT_THAT(ParseErrorOf(R"({"a": {"L": [{"L": [{}]}]}})"), StartsWith("a[0][0]: Supplied"));
  EXPECT_THAT(ParseErrorOf(R"({"a": {"NS": ["1", "x"]}})"),
              StartsWith("a[1]: The parameter cannot"));
  EXPECT_THAT(ParseErrorOf(R"({"a": {"S": 1}})"),
              StartsWith("a: SerializationException: NUMBER_VALUE"));
  EXPECT_THAT(ParseErrorOf("[]"), StartsWith("SerializationException: "));
  EXPECT_THAT(ParseErrorOf("{"), Not(StartsWith("no error")));
}

TEST(ItemJsonTest, RefusesEmptyNames) {
  EXPECT_THAT(ParseErrorOf(R"({"": {"S": "a"}})"), HasSubstr("empty name"));
  EXPECT_THAT(ParseErrorOf(R"({"m": {"M": {"": {"S": "a"}}}})"), HasSubstr("empty name"));
}

TEST(ItemJsonTest, KeepsTheLastOfSeveralAttributesWithOneName) {
  EXPECT_EQ(ParseErrorOf(R"({"b": {"S": "1"}, "a": {"S": "2"}, "b": {"S": "3"}, "a": {"S": "4"}})"),
            R"(no error: {"a":{"S":"4"},"b":{"S":"3"}})");
  EXPECT_EQ(ParseErrorOf(R"({"a": {"S": "1"}, "a": {"S": "2"}})"), R"(no error: {"a":{"S":"2"}})");
}

// Inserting the names one by one into a sorted vector would take minutes here.
TEST(ItemJsonTest, ReadsManyNamesInDescendingOrderQuickly) {
  constexpr int kNames = 200'000;
  std::string json = "{";
  for (int i = kNames; i > 0; --i) {
    json += "\"" + std::to_string(1'000'000 + i) + "\":{\"NULL\":true}" + (i > 1 ? "," : "}");
  }
  EXPECT_EQ(ParseItemJson(json)->size(), static_cast<size_t>(kNames));
}

}  // namespace
}  // namespace tidemark::item
