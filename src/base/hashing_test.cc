#include "base/hashing.h"

#include <utility>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Secret Key(std::string text) { return Secret(std::move(text)); }

// The published test vectors, because hashes are stored and compared with those of other programs.
TEST(HashingTest, GivesThePublishedSha256Vectors) {
  EXPECT_EQ(ToHex(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ToHex(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(HashingTest, HashesZeroBytesAsBytes) {
  EXPECT_NE(Sha256(std::string_view("\0", 1)), Sha256(""));
}

// A file is hashed piece by piece.
TEST(HashingTest, HashingPiecesEqualsHashingTheWhole) {
  Sha256Stream stream;
  for (const char* piece : {"a", "", "bc"}) stream.Add(piece);
  EXPECT_EQ(stream.Finish(), Sha256("abc"));
  EXPECT_EQ(Sha256Stream().Finish(), Sha256(""));
}

// RFC 4231, cases 1, 2 and 6: a short key, and one longer than a block.
TEST(HashingTest, GivesThePublishedHmacVectors) {
  EXPECT_EQ(ToHex(HmacSha256(Key(std::string(20, '\x0b')), {"Hi There"})),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(ToHex(HmacSha256(Key("Jefe"), {"what do ya want for nothing?"})),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(ToHex(HmacSha256(Key(std::string(131, '\xaa')),
                             {"Test Using Larger Than Block-Size Key - Hash Key First"})),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HashingTest, HmacOverPartsEqualsHmacOverTheWhole) {
  EXPECT_EQ(HmacSha256(Key("k"), {"a", "", "bc"}), HmacSha256(Key("k"), {"abc"}));
  EXPECT_NE(HmacSha256(Key("k"), {"abc"}), HmacSha256(Key("l"), {"abc"}));
}

// An empty secret must not crash the check that refuses it.
TEST(HashingTest, HmacTakesAnEmptyKey) {
  EXPECT_EQ(ToHex(HmacSha256(Secret(), {""})),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(HashingTest, ComparesWholeTexts) {
  EXPECT_TRUE(EqualInConstantTime("", ""));
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  EXPECT_FALSE(EqualInConstantTime("abc", "abd"));
  EXPECT_FALSE(EqualInConstantTime("abc", "ab"));
}

// The hash is stored with data, so it must not change with the version of the library.
TEST(HashingTest, TheFastHashIsTheSameInEveryRun) {
  EXPECT_EQ(FastHash(""), 0x2d06800538d394c2U);
  EXPECT_NE(FastHash("a"), FastHash("b"));
}

}  // namespace
}  // namespace tidemark
