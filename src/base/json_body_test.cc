#include "base/json_body.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Result<JsonBody> Parse(std::string_view text) {
  return JsonBody::Parse(text, {"key", "keys", "count", "flag", "inner"});
}

std::string BodyErrorOf(std::string_view text) {
  const auto body = Parse(text);
  return body ? "parsed" : body.error().message;
}

TEST(JsonBodyTest, ReadsEachKindOfField) {
  const auto body =
      Parse(R"({"key":"a","keys":["b","c"],"count":3,"flag":true,"inner":{"x":"y"}})");
  ASSERT_TRUE(body);
  EXPECT_EQ(body->Text("key").value(), "a");
  EXPECT_EQ(body->Texts("keys").value(), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(body->Integer("count").value(), 3);
  EXPECT_EQ(body->BoolOr("flag", false).value(), true);
  EXPECT_EQ(body->Object("inner", {"x"})->Text("x").value(), "y");
  EXPECT_EQ(body->TextMap("inner").value(), (std::map<std::string, std::string>{{"x", "y"}}));
}

// If a misspelt option were ignored, its default would be used and the mistake would not be
// noticed.
TEST(JsonBodyTest, RefusesFieldsItDoesNotKnow) {
  EXPECT_EQ(BodyErrorOf(R"({"kez":"a"})"),
            "the field 'kez' is not known here; the fields are: key, keys, count, flag, inner");
  const auto body = Parse(R"({"inner":{"z":1}})");
  EXPECT_EQ(body->Object("inner", {"x"}).error().message,
            "the field 'inner.z' is not known here; the fields are: x");
}

TEST(JsonBodyTest, RefusesTextThatIsNotAnObject) {
  EXPECT_EQ(BodyErrorOf("[]"), "the body should be a JSON object");
  EXPECT_NE(BodyErrorOf(""), "parsed");
  EXPECT_NE(BodyErrorOf("{"), "parsed");
  EXPECT_EQ(BodyErrorOf(R"({"key":"a","key":"b"})"), "the field 'key' is given twice");
}

TEST(JsonBodyTest, SaysWhichFieldIsMissingOrOfAnotherKind) {
  const auto body = Parse(R"({"key":1,"keys":["a",2],"count":1.5,"flag":"yes"})");
  ASSERT_TRUE(body);
  EXPECT_EQ(body->Text("key").error().message, "the field 'key' should be a string, not a number");
  EXPECT_EQ(body->Text("inner").error().message, "the field 'inner' is missing");
  EXPECT_FALSE(body->Texts("keys"));
  EXPECT_FALSE(body->KnownTexts("keys"));
  EXPECT_FALSE(body->Integer("count"));
  EXPECT_FALSE(body->BoolOr("flag", false));
}

// Some clients send null for a value that they do not know.
TEST(JsonBodyTest, TakesNullForMissing) {
  const auto body = Parse(R"({"key":null,"inner":{"user":null,"file":"F1"}})");
  ASSERT_TRUE(body);
  const auto list = Parse(R"({"keys":[null,"a",null]})");
  EXPECT_EQ(list->KnownTexts("keys").value(), std::vector<std::string>{"a"});
  EXPECT_FALSE(list->Texts("keys")) << "where each is needed";
  EXPECT_FALSE(body->Has("key"));
  EXPECT_EQ(body->TextOr("key", "none").value(), "none");
  EXPECT_EQ(body->IntegerOr("count", 7).value(), 7);
  EXPECT_EQ(body->TextMap("inner").value(), (std::map<std::string, std::string>{{"file", "F1"}}));
}

}  // namespace
}  // namespace tidemark
