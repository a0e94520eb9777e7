#include "objects/directory/record.h"

#include <gtest/gtest.h>

namespace tidemark::directory {

namespace {

Record Example() {
  return {.modified = std::chrono::milliseconds(1'700'000'000'123),
          .size = 3,
          .sha256 = std::string(32, 'h'),
          .nonce = 255,
          .content_type = "text/plain",
          .metadata = {{"a", "1"}, {"b", ""}}};
}

}  // namespace

// Decoding returns what was encoded.
TEST(RecordTest, DecodesWhatItEncoded) {
  EXPECT_EQ(DecodeRecord(EncodeRecord(Example())), Example());
}

// A record with a flipped bit is not used.
TEST(RecordTest, NoticesEveryChangedByte) {
  const std::string bytes = EncodeRecord(Example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(DecodeRecord(damaged), std::nullopt) << i;
    EXPECT_EQ(DecodeRecord(bytes.substr(0, i)), std::nullopt) << i;
  }
}

// The first part is what sha256sum prints, and the second is different for each put.
TEST(RecordTest, MakesAnEtagOfHashAndNonce) {
  Record record = Example();
  const std::string etag = EtagOf(record);
  EXPECT_EQ(etag.substr(64), "-00000000000000ff");
  record.nonce = 1;
  EXPECT_NE(EtagOf(record), etag);
}

}  // namespace tidemark::directory
