#include "base/hashing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

std::string Hex(std::string_view bytes) {
  std::string text;
  for (char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return text;
}

// The published vectors: hashes are stored and compared with other programs'.
TEST(HashingTest, GivesThePublishedSha256Vectors) {
  EXPECT_EQ(Hex(Sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(Sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(HashingTest, HashesZeroBytesAsBytes) {
  EXPECT_NE(Sha256(std::string_view("\0", 1)), Sha256(""));
}

}  // namespace
}  // namespace tidemark
