#include "base/shown_text.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace tidemark {
namespace {

// Review: A13
TEST(ShownTextTest, NothingChangesWhatIsAroundIt) {
  EXPECT_EQ(WithoutDisplayChanges("a\x1b[2J\x7f"
                                  "b"),
            "a [2J b");
  EXPECT_EQ(WithoutDisplayChanges("\u009b1m \u202egpj.exe \u2028 \u2029 \u200f \u2066 \u061c"),
            " 1m  gpj.exe          ");
  EXPECT_EQ(WithoutDisplayChanges("a\x9b"
                                  "b\xe2\x80"),
            "a b  ");  // Not UTF-8.
}

TEST(ShownTextTest, LettersAndEmojiStayAsTheyAre) {
  const std::string text = "Grüße, こんにちは, \U0001F469\u200D\U0001F4BB ٣";
  EXPECT_EQ(WithoutDisplayChanges(text), text);
  EXPECT_EQ(EscapeDisplayChanges(text), text);
}

// A program that reads the JSON gets the same text.
// Review: A13
TEST(ShownTextTest, EscapedJsonHasTheSameValue) {
  const std::string json = "{\"text\":\"\u009b1m\u202e\u2028 ü\"}";
  const std::string escaped = EscapeDisplayChanges(json);
  EXPECT_EQ(escaped, "{\"text\":\"\\u009b1m\\u202e\\u2028 ü\"}");
  EXPECT_EQ(JsonDocument::Parse(escaped)->root().Find("text")->AsString(),
            JsonDocument::Parse(json)->root().Find("text")->AsString());
}

}  // namespace
}  // namespace tidemark
