#include "apps/dedup/simhash.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark::dedup {
namespace {

std::string Words(int count, const std::string& stem = "word") {
  std::string text;
  for (int i = 0; i < count; ++i) text += stem + std::to_string(i * 7919 % 1009) + " ";
  return text;
}

TEST(SimHashTest, EqualTextsHaveOneHash) {
  EXPECT_EQ(SimHash(Words(100)), SimHash(Words(100)));
  EXPECT_EQ(SimHash("One, two: THREE four"), SimHash("one two three; four!"));
  EXPECT_EQ(SimHash(""), 0u);
  EXPECT_EQ(SimHash(" ,.- "), 0u);
}

// A word more in a long text moves few bits; another text moves about half of them.
TEST(SimHashTest, NearTextsAreNearAndOthersAreNot) {
  const std::string text = Words(500);
  EXPECT_LE(Distance(SimHash(text), SimHash(text + "one more")), 3);
  EXPECT_GT(Distance(SimHash(text), SimHash(Words(500, "other"))), 12);
}

// Japanese has no spaces between words.
TEST(SimHashTest, CharactersOutsideOfAsciiAreWords) {
  EXPECT_NE(SimHash("議事録を添付します"), 0u);
  EXPECT_NE(SimHash("議事録を添付します"), SimHash("請求書を送付します"));
}

// Bytes that are no UTF-8 are harmless.
TEST(SimHashTest, TakesAnyBytes) { EXPECT_NE(SimHash("\xff\xfe\x80\x80 a \xe3"), SimHash("b")); }

}  // namespace
}  // namespace tidemark::dedup
