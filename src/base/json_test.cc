#include "base/json.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

JsonDocument MustParse(std::string_view text) { return JsonDocument::Parse(text).value(); }

std::string ErrorOf(std::string_view text) {
  auto document = JsonDocument::Parse(text);
  return document ? "parsed" : document.error().message;
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

// Callers branch on the kind, so every kind must be recognised.
TEST(JsonTest, TellsTheKindOfEveryValue) {
  EXPECT_EQ(MustParse("{}").root().kind(), JsonKind::kObject);
  EXPECT_EQ(MustParse("[]").root().kind(), JsonKind::kArray);
  EXPECT_EQ(MustParse("\"\"").root().kind(), JsonKind::kString);
  EXPECT_EQ(MustParse("-1").root().kind(), JsonKind::kNumber);
  EXPECT_EQ(MustParse("1.5").root().kind(), JsonKind::kNumber);
  EXPECT_EQ(MustParse("18446744073709551615").root().kind(), JsonKind::kNumber);
  EXPECT_EQ(MustParse("true").root().kind(), JsonKind::kBool);
  EXPECT_EQ(MustParse(" null ").root().kind(), JsonKind::kNull);
}

TEST(JsonTest, ReadsValuesOfTheirOwnKindOnly) {
  const JsonDocument document = MustParse(R"(["text", true, false, 7, null])");
  std::vector<Json> values;
  for (Json value : document.root().Elements()) values.push_back(value);
  ASSERT_EQ(values.size(), 5u);
  EXPECT_EQ(values[0].AsString(), "text");
  EXPECT_EQ(values[0].AsBool(), std::nullopt);
  EXPECT_EQ(values[0].AsInt(), std::nullopt);
  EXPECT_EQ(values[0].AsDouble(), std::nullopt);
  EXPECT_EQ(values[1].AsBool(), true);
  EXPECT_EQ(values[2].AsBool(), false);
  EXPECT_EQ(values[3].AsInt(), 7);
  EXPECT_EQ(values[3].AsString(), std::nullopt);
  EXPECT_TRUE(values[4].IsNull());
}

// A count that silently loses its fraction or wraps would be a wrong answer.
TEST(JsonTest, GivesIntegersOnlyWhenExact) {
  EXPECT_EQ(MustParse("-9223372036854775808").root().AsInt(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(MustParse("9223372036854775807").root().AsInt(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(MustParse("9223372036854775808").root().AsInt(), std::nullopt);
  EXPECT_EQ(MustParse("1.0").root().AsInt(), std::nullopt);
  EXPECT_EQ(MustParse("1e2").root().AsInt(), std::nullopt);
  EXPECT_EQ(MustParse("9223372036854775808").root().AsDouble(), 9223372036854775808.0);
  EXPECT_EQ(MustParse("1e2").root().AsDouble(), 100.0);
  EXPECT_EQ(MustParse("3").root().AsDouble(), 3.0);
}

TEST(JsonTest, WalksMembersInTheOrderOfTheText) {
  const JsonDocument document = MustParse(R"({"b": [1, {"x": 2}], "a": 1.5, "b": "again"})");
  std::string names;
  for (const auto& [name, value] : document.root().Members()) names += std::string(name) + ",";
  EXPECT_EQ(names, "b,a,b,");
  EXPECT_EQ(document.root().Size(), 3u);
  EXPECT_EQ(document.root().Find("b")->Size(), 2u);
  EXPECT_EQ(document.root().Find("a")->AsDouble(), 1.5);
  EXPECT_FALSE(document.root().Find("c").has_value());
}

// Decoders may ask for members before they check the kind. That must be harmless.
TEST(JsonTest, OtherKindsHaveNoMembersOrElements) {
  const JsonDocument document = MustParse(R"(["x"])");
  EXPECT_FALSE(document.root().Find("x").has_value());
  for (const JsonMember& member : document.root().Members()) FAIL() << member.name;
  const Json text = *document.root().Elements().begin();
  for (Json element : text.Elements()) FAIL() << ToString(element.kind());
  EXPECT_EQ(text.Size(), 0u);
}

TEST(JsonTest, WalksEmptyContainers) {
  const JsonDocument document = MustParse(R"({"a": [], "b": {}})");
  EXPECT_EQ(document.root().Find("a")->Size(), 0u);
  for (Json element : document.root().Find("a")->Elements()) FAIL() << ToString(element.kind());
  for (const JsonMember& member : document.root().Find("b")->Members()) FAIL() << member.name;
}

// Views outlive a move of their document: replies hold documents that move.
TEST(JsonTest, KeepsViewsValidWhenTheDocumentMoves) {
  JsonDocument first = MustParse(R"({"name": "value"})");
  const Json root = first.root();
  const JsonDocument second = std::move(first);
  EXPECT_EQ(root.Find("name")->AsString(), "value");
}

// Each parse on a thread reuses the same parser. Earlier documents must not change.
TEST(JsonTest, DocumentsDoNotAffectEachOther) {
  const JsonDocument first = MustParse(R"(["first"])");
  const JsonDocument second = MustParse(R"(["second", "longer"])");
  EXPECT_EQ((*first.root().Elements().begin()).AsString(), "first");
  EXPECT_EQ((*second.root().Elements().begin()).AsString(), "second");
}

TEST(JsonTest, DecodesEscapes) {
  EXPECT_EQ(MustParse(R"("\u0000\n\"\\\/\u00e9\ud83d\ude00")").root().AsString(),
            std::string_view("\0\n\"\\/\xc3\xa9\xf0\x9f\x98\x80", 11));
}

// Invalid JSON is refused, with the position of the error if it is known.
TEST(JsonTest, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("empty"));
  EXPECT_THAT(ErrorOf("  "), HasSubstr("empty"));
  EXPECT_THAT(ErrorOf(R"({"a": 1,, "b": 2})"), HasSubstr("out of place, near byte 8"));
  EXPECT_THAT(ErrorOf(R"({"a": [1, 2})"), HasSubstr("out of place"));
  EXPECT_THAT(ErrorOf(R"({"a": tru})"), HasSubstr("not true, false or null, near byte 6"));
  EXPECT_THAT(ErrorOf(R"({"a": nulll})"), HasSubstr("not true, false or null, near byte"));
  EXPECT_THAT(ErrorOf(R"({"a": "b)"), HasSubstr("not closed"));
  EXPECT_THAT(ErrorOf("[\"a\nb\"]"), HasSubstr("control character"));
  EXPECT_THAT(ErrorOf(R"([1, "\q"])"), HasSubstr("wrong escape"));
  EXPECT_THAT(ErrorOf("[01]"), HasSubstr("number"));
  EXPECT_THAT(ErrorOf("{} {}"), HasSubstr("out of place"));
  EXPECT_EQ(JsonDocument::Parse("{").error().code, ErrorCode::kInvalid);
}

TEST(JsonTest, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(ErrorOf("\"\xff\""), HasSubstr("UTF-8"));
  EXPECT_THAT(ErrorOf("\"\xc0\x80\""), HasSubstr("UTF-8"));          // Overlong.
  EXPECT_THAT(ErrorOf("\"\xed\xa0\x80\""), HasSubstr("UTF-8"));      // A surrogate.
  EXPECT_THAT(ErrorOf("\"\xf4\x90\x80\x80\""), HasSubstr("UTF-8"));  // Beyond U+10FFFF.
}

// Half of a surrogate pair has no UTF-8 form, so accepting it would store invalid text.
TEST(JsonTest, RefusesLoneSurrogates) {
  EXPECT_THAT(ErrorOf(R"("\ud83d")"), HasSubstr("wrong escape"));
  EXPECT_THAT(ErrorOf(R"("\ude00")"), HasSubstr("wrong escape"));
  EXPECT_THAT(ErrorOf(R"("\ud83dx")"), HasSubstr("wrong escape"));
}

// The limit of the depth protects recursive decoders from a stack overflow.
TEST(JsonTest, BoundsTheDepth) {
  EXPECT_EQ(ErrorOf(Nested(kMaxJsonDepth - 1)), "parsed");
  EXPECT_THAT(ErrorOf(Nested(kMaxJsonDepth + 1)), HasSubstr("deeper than"));
  EXPECT_THAT(ErrorOf(std::string(1'000'000, '[')), HasSubstr("not JSON"));
}

// The limit of the depth must still hold after the large buffers of the thread were freed.
TEST(JsonTest, ParsesTextsLargerThanTheKeptBuffer) {
  const std::string large = '"' + std::string(kMaxKeptJsonBufferBytes, 'x') + '"';
  EXPECT_EQ(MustParse(large).root().AsString()->size(), kMaxKeptJsonBufferBytes);
  EXPECT_THAT(ErrorOf(Nested(kMaxJsonDepth + 1)), HasSubstr("deeper than"));
}

TEST(JsonWriterTest, SetsCommasBetweenValues) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("a");
  writer.BeginArray();
  writer.Int(1);
  writer.Bool(true);
  writer.Null();
  writer.BeginObject();
  writer.EndObject();
  writer.EndArray();
  writer.Key("b");
  writer.String("x");
  writer.Key("c");
  writer.Raw("[2]");
  writer.EndObject();
  EXPECT_EQ(text, R"({"a":[1,true,null,{}],"b":"x","c":[2]})");
}

// A text must never end the JSON string that contains it.
TEST(JsonWriterTest, EscapesEveryByteThatNeedsIt) {
  std::string all;
  for (int byte = 0; byte < 0x80; ++byte) all += static_cast<char>(byte);
  all += "é😀";
  std::string text;
  JsonWriter writer(&text);
  writer.String(all);
  EXPECT_THAT(text, HasSubstr(R"(\u0000\u0001)"));
  EXPECT_THAT(text, HasSubstr(R"(\b\t\n\u000b\f\r)"));
  EXPECT_THAT(text, HasSubstr(R"(\")"));
  EXPECT_THAT(text, HasSubstr("é😀"));
  EXPECT_EQ(MustParse(text).root().AsString(), all);
}

// Long texts are measured in blocks, and what is left byte by byte.
TEST(JsonWriterTest, WritesNotMoreThanTextsWereMeasuredFor) {
  for (size_t length = 0; length <= 100; ++length) {
    for (int byte = 0; byte < 0x80; ++byte) {
      std::string text(length, 'a');
      text += static_cast<char>(byte);
      text += std::string(length, static_cast<char>(byte));
      std::string written;
      JsonWriter(&written).String(text);
      const bool is_control = byte < 0x20;
      const size_t most = is_control ? 2 + length + 6 * (length + 1) : written.size();
      ASSERT_EQ(JsonTextBytes(text), most) << "length " << length << ", byte " << byte;
      ASSERT_LE(written.size(), most);
    }
  }
}

TEST(JsonWriterTest, WritesNumbersThatParseToThemselves) {
  for (double value : {0.0, -0.0, 1.0, 0.1, -2.5e-300, 1e22, 1.7976931348623157e308, 5e-324}) {
    std::string text;
    JsonWriter(&text).Double(value);
    const JsonDocument document = MustParse(text);
    EXPECT_EQ(document.root().AsDouble(), value) << text;
    EXPECT_EQ(std::signbit(*document.root().AsDouble()), std::signbit(value)) << text;
    EXPECT_EQ(document.root().AsInt(), std::nullopt) << text;
  }
  std::string text;
  JsonWriter(&text).Int(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(text, "-9223372036854775808");
}

TEST(JsonWriterTest, WritesNullForInfinityAndNan) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginArray();
  writer.Double(std::numeric_limits<double>::infinity());
  writer.Double(std::nan(""));
  writer.EndArray();
  EXPECT_EQ(text, "[null,null]");
}

TEST(JsonTest, ReadsMembersThatMayBeMissing) {
  const auto document = *JsonDocument::Parse(R"({"text":"a","number":7,"flag":true,"none":null})");
  const Json root = document.root();
  EXPECT_EQ(TextIn(root, "text"), "a");
  EXPECT_EQ(IntegerIn(root, "number"), 7);
  EXPECT_TRUE(IsTrueIn(root, "flag"));
  for (const char* other : {"none", "missing", "number", "flag"})
    EXPECT_EQ(TextIn(root, other), "");
  for (const char* other : {"none", "missing", "text", "flag"})
    EXPECT_EQ(IntegerIn(root, other), 0);
  for (const char* other : {"none", "missing", "text", "number"}) {
    EXPECT_FALSE(IsTrueIn(root, other));
  }
}

}  // namespace
}  // namespace tidemark
