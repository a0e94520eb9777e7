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

// What is read is what was written.
TEST(RecordTest, ComesBackAsItWas) { EXPECT_EQ(DecodeRecord(EncodeRecord(Example())), Example()); }

// A content type that a flipped bit made is not served.
TEST(RecordTest, NoticesEveryChangedByte) {
  const std::string bytes = EncodeRecord(Example());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(DecodeRecord(damaged), std::nullopt) << i;
    EXPECT_EQ(DecodeRecord(bytes.substr(0, i)), std::nullopt) << i;
  }
}

// The front is what sha256sum prints, and the end is the put's own.
TEST(RecordTest, MakesAnEtagOfHashAndNonce) {
  Record record = Example();
  const std::string etag = EtagOf(record);
  EXPECT_EQ(etag.substr(64), "-00000000000000ff");
  record.nonce = 1;
  EXPECT_NE(EtagOf(record), etag);
}

}  // namespace tidemark::directory
