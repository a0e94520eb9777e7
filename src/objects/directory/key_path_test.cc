#include "objects/directory/key_path.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "objects/validate.h"

namespace tidemark::directory {

namespace {

size_t LongestName(const std::string& path) {
  size_t longest = 0;
  for (size_t start = 0; start <= path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  return longest;
}

}  // namespace

// The examples of docs/formats/objects.md.
TEST(KeyPathTest, WritesKeysAsDocumented) {
  const std::vector<std::pair<std::string, std::string>> examples = {
      {"slack/T1/F2/plan.pdf", "slack/T1/F2/plan.pdf"},
      {"notes/README", "notes/README%"},
      {"v1.2/plan.pdf", "v1.2%/plan.pdf"},
      {"a", "a%"},
      {"a/b", "a/b%"},
      {"a/", "a/%"},
      {"a//b", "a/%%/b%"},
      {"/b", "%%/b%"},
      {".tidemark/lock", "%2Etidemark%/lock%"},
      {"...", "%2E.."},
      {"100%.txt", "100%25.txt"},
      {std::string("\0\x7f.x", 4), "%00%7F.x"},
      {"caf\xc3\xa9.txt", "caf\xc3\xa9.txt"},
  };
  for (const auto& [key, path] : examples) {
    EXPECT_EQ(PathOfKey(key), path);
    EXPECT_EQ(KeyOfPath(path), key) << path;
  }
}

// A name has at most 255 bytes and a key of S3 1,024. No character is cut in two.
TEST(KeyPathTest, CutsLongParts) {
  for (const std::string& unit : {std::string("k"), std::string("%"), std::string("\x01"),
                                  std::string("\xc3\xa9"), std::string("\xe2\x82\xac")}) {
    std::string key;
    while (key.size() + unit.size() <= objects::kMaxKeyBytes) key += unit;
    const std::string path = PathOfKey(key);
    EXPECT_LE(LongestName(path), 255U);
    EXPECT_LT(path.size(), 4096U);
    EXPECT_EQ(KeyOfPath(path), key);
    EXPECT_TRUE(unit[0] != '\xc3' || path.find("\xc3%") == std::string::npos);
  }
}

// Each piece is a name too, and must not lead out of its folder.
TEST(KeyPathTest, EscapesADotAtTheBeginningOfAPiece) {
  const std::string long_part(240, 'x');
  EXPECT_EQ(PathOfKey(long_part + "."), long_part + "%+/%2E");
  EXPECT_EQ(PathOfKey(long_part + "../a"), long_part + "%+/%2E.%/a%");
  EXPECT_EQ(KeyOfPath(long_part + "%+/%2E.%/a%"), long_part + "../a");
}

// Two paths for one key would be two objects.
TEST(KeyPathTest, ReadsOnlyThePathThatItWrites) {
  for (const char* path : {"", "README", "v1.2/plan.pdf", "a/plan.pdf%", "a%/b.c", "%41.x",
                           "a//b.c", "/b.c", ".hidden", "..", "../a.b", "%2E", "%2E.", "a%+/b.c",
                           "%2e..", "x%GG.y", "x%2", "\xff.x", "a/"}) {
    EXPECT_EQ(KeyOfPath(path), std::nullopt) << path;
  }
}

// Random keys with difficult bytes.
TEST(KeyPathTest, DecodesEveryPathToItsKey) {
  SeededRandom random(17);
  const std::string bytes = std::string("./%+aA\x01", 8) + std::string(1, '\0');
  for (int round = 0; round < 20'000; ++round) {
    std::string key;
    for (uint64_t left = 1 + random.Below(12); left > 0; --left) {
      key += bytes[random.Below(bytes.size())];
    }
    if (!objects::ValidateKey(key)) continue;
    const std::string path = PathOfKey(key);
    ASSERT_EQ(KeyOfPath(path), key) << path;
    ASSERT_EQ(path.find("//"), std::string::npos);
    ASSERT_FALSE(path.starts_with('.') || path.starts_with('/'));
    ASSERT_EQ(path.find("/."), std::string::npos);
  }
}

}  // namespace tidemark::directory
