#include "base/base64.h"

#include <utility>

#include <gtest/gtest.h>

#include "base/random.h"

namespace tidemark {
namespace {

// The examples of RFC 4648, section 10, because other programs read our output.
TEST(Base64Test, EncodesAndDecodesTheStandardsExamples) {
  const std::pair<std::string_view, std::string_view> examples[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
}

TEST(Base64Test, UsesTheStandardAlphabet) {
  EXPECT_EQ(EncodeBase64("\xfb\xff\xfe"), "+//+");
  EXPECT_EQ(DecodeBase64("+//+"), "\xfb\xff\xfe");
  EXPECT_EQ(DecodeBase64("-__-"), std::nullopt);
}

TEST(Base64Test, ReturnsEveryByteStringUnchanged) {
  SeededRandom random(4648);
  for (size_t length = 0; length < 200; ++length) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(random.Next());
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes) << "seed 4648, length " << length;
  }
}

// Two texts for the same bytes would make equal binary keys look different.
TEST(Base64Test, RefusesEverySpellingButTheCanonical) {
  for (std::string_view text :
       {"Zg", "Zg=", "Zg===", "Z", "=", "====", "Zm9v=", "Zm9v====", "Zh==", "Zm9=", "Z===",
        "Zg==Zg==", "Zm 9", "Zm9v\n", " Zm9v", "Z=g=", "\xc3\xa9\xc3\xa9"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
  EXPECT_EQ(DecodeBase64(std::string_view("Zm\0v", 4)), std::nullopt);
}

TEST(Base64Test, AppendsToWhatIsThere) {
  std::string text = "B:";
  AppendBase64("foo", &text);
  EXPECT_EQ(text, "B:Zm9v");
}

}  // namespace
}  // namespace tidemark
