#include "base/gzip.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

constexpr size_t kMost = 1 << 20;

TEST(GzipTest, UnpacksWhatItPacked) {
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(300'000, 'x'), std::string("\0\xff", 2)}) {
    const std::string packed = Gzip(text);
    const auto unpacked = Gunzip(packed, kMost);
    ASSERT_TRUE(unpacked.has_value()) << unpacked.error().message;
    EXPECT_EQ(*unpacked, text);
  }
}

TEST(GzipTest, RefusesWhatIsNotWhole) {
  const std::string packed = Gzip("a text that is long enough to be cut at many places");
  for (size_t size = 0; size < packed.size(); ++size) {
    EXPECT_FALSE(Gunzip(packed.substr(0, size), kMost)) << size;
  }
  std::string damaged = packed;
  damaged[packed.size() - 6] ^= 1;  // In the checksum.
  EXPECT_FALSE(Gunzip(damaged, kMost));
  EXPECT_FALSE(Gunzip(packed + "x", kMost));
  EXPECT_FALSE(Gunzip("plain", kMost));
}

TEST(GzipTest, EndsAtTheLimit) {
  const std::string packed = Gzip(std::string(kMost, 'x'));
  EXPECT_TRUE(Gunzip(packed, kMost));
  const auto too_large = Gunzip(Gzip(std::string(kMost + 1, 'x')), kMost);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, ErrorCode::kThrottled);
}

// The value of the CRC catalogue for "123456789".
TEST(Crc32Test, IsThatOfZlib) {
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(Crc32(""), 0U);
}

}  // namespace
}  // namespace tidemark
