#include "http/range.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark::http {
namespace {

using Kind = Range::Kind;

Range Find(const std::string& range, uint64_t total = 1000) {
  return FindRange({.headers = {{"Range", range}}}, total, "e");
}

Range PartOf(uint64_t offset, uint64_t size) {
  return {.kind = Kind::kPart, .offset = offset, .size = size};
}

const Range kWhole{.kind = Kind::kWhole, .offset = 0, .size = 1000};

// The three forms, each cut at the end of the body.
TEST(RangeTest, FindsOneRange) {
  EXPECT_EQ(Find("bytes=0-0"), PartOf(0, 1));
  EXPECT_EQ(Find("bytes=10-19"), PartOf(10, 10));
  EXPECT_EQ(Find("BYTES=10-19"), PartOf(10, 10));
  EXPECT_EQ(Find("bytes=990-2000"), PartOf(990, 10));
  EXPECT_EQ(Find("bytes=990-99999999999999999999999"), PartOf(990, 10));
  EXPECT_EQ(Find("bytes=990-18446744073709551615"), PartOf(990, 10));
  EXPECT_EQ(Find("bytes=990-"), PartOf(990, 10));
  EXPECT_EQ(Find("bytes=-10"), PartOf(990, 10));
  EXPECT_EQ(Find("bytes=-5000"), PartOf(0, 1000));
}

// A range after the end is refused, not answered with an empty body.
TEST(RangeTest, RefusesARangeThatBeginsAfterTheEnd) {
  for (const char* range : {"bytes=1000-", "bytes=1000-1001", "bytes=-0",
                            "bytes=99999999999999999999999-", "bytes=18446744073709551615-"}) {
    EXPECT_EQ(Find(range).kind, Kind::kUnsatisfiable) << range;
  }
  EXPECT_EQ(Find("bytes=0-", 0).kind, Kind::kUnsatisfiable);
  EXPECT_EQ(Find("bytes=-1", 0).kind, Kind::kUnsatisfiable);
}

// HTTP lets a server ignore the header; guessing would send the wrong bytes.
TEST(RangeTest, IgnoresRangesItDoesNotServe) {
  for (const char* range :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5", "bytes=9-5", "bytes=0-1,5-6",
        "bytes= 0-1", "bytes=+1-2", "bytes=1--2", "lines=1-2", "bytes=0x1-2"}) {
    EXPECT_EQ(Find(range), kWhole) << range;
  }
  EXPECT_EQ(FindRange({}, 1000, "e"), kWhole);
  EXPECT_EQ(FindRange({.method = Method::kHead, .headers = {{"Range", "bytes=0-1"}}}, 1000, "e"),
            kWhole);
  EXPECT_EQ(FindRange({.headers = {{"Range", "bytes=0-1"}, {"Range", "bytes=2-3"}}}, 1000, "e"),
            kWhole);
}

// A download must be resumed with the same version of the object.
TEST(RangeTest, SendsTheWholeBodyForAnotherVersion) {
  const auto find = [](const char* condition) {
    return FindRange({.headers = {{"Range", "bytes=0-1"}, {"If-Range", condition}}}, 1000, "e")
        .kind;
  };
  EXPECT_EQ(find("\"e\""), Kind::kPart);
  EXPECT_EQ(find("\"other\""), Kind::kWhole);
  EXPECT_EQ(find("W/\"e\""), Kind::kWhole);
  EXPECT_EQ(find("Sun, 15 Nov 2026 10:00:00 GMT"), Kind::kWhole);
}

// The header tells the client which bytes it got.
TEST(RangeTest, WritesContentRange) {
  EXPECT_EQ(ContentRange(PartOf(10, 10), 1000), "bytes 10-19/1000");
  EXPECT_EQ(ContentRange({.kind = Kind::kUnsatisfiable}, 1000), "bytes */1000");
}

}  // namespace
}  // namespace tidemark::http
