#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Utf8Test, AcceptsCharactersOfEveryLength) {
  for (const char* text : {"", "plain", "\x7f", "\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf",
                           "\xee\x80\x80", "\xf0\x9f\x8c\x8a", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
}

// With two forms of one character, two different keys could look the same.
TEST(Utf8Test, RefusesInvalidAndOverlongCharacters) {
  for (const char* text : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xe0\x9f\xbf",
                           "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                           "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x8c",
                           "a\xff"
                           "b",
                           "\xc3(", "sixteen bytes and then \xc3"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

// The text is written to logs, answers and terminals.
TEST(Utf8Test, ReplacesTerminalControlCharacters) {
  EXPECT_EQ(Shown("caf\xc3\xa9 \xf0\x9f\x8c\x8a"), "caf\xc3\xa9 \xf0\x9f\x8c\x8a");
  EXPECT_EQ(Shown("a\xff"
                  "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(Shown("\x7f"), "\xef\xbf\xbd");
  // CSI as one character; each of its bytes is replaced.
  EXPECT_EQ(Shown("\xc2\x9b"
                  "2J"),
            "\xef\xbf\xbd\xef\xbf\xbd"
            "2J");
  EXPECT_EQ(Shown("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_TRUE(IsUtf8(Shown("\xed\xa0\x80\xc0\xaf\xf5")));
}

}  // namespace
}  // namespace tidemark
