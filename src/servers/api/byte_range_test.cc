// A range that is misread gives a client a file with the wrong bytes in the middle.
#include "servers/api/byte_range.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tidemark::api {
namespace {

// "first+size", "whole" or "none".
std::string Of(std::string_view header, uint64_t size) {
  const ByteRange range = ParseByteRange(header, size);
  if (range.kind == ByteRange::Kind::kWhole) return "whole";
  if (range.kind == ByteRange::Kind::kUnsatisfiable) return "none";
  return fmt::format("{}+{}", range.first, range.size);
}

TEST(ByteRangeTest, TakesTheThreeForms) {
  EXPECT_EQ(Of("bytes=0-0", 10), "0+1");
  EXPECT_EQ(Of("bytes=2-5", 10), "2+4");
  EXPECT_EQ(Of("bytes=2-", 10), "2+8");
  EXPECT_EQ(Of("bytes=-3", 10), "7+3");
}

TEST(ByteRangeTest, EndsWhereTheFileEnds) {
  EXPECT_EQ(Of("bytes=5-99", 10), "5+5");
  EXPECT_EQ(Of("bytes=9-10", 10), "9+1");
  EXPECT_EQ(Of("bytes=0-18446744073709551615", 10), "0+10");
  EXPECT_EQ(Of("bytes=-99", 10), "0+10");
}

TEST(ByteRangeTest, RefusesWhatBeginsBehindTheEnd) {
  EXPECT_EQ(Of("bytes=10-", 10), "none");
  EXPECT_EQ(Of("bytes=10-20", 10), "none");
  EXPECT_EQ(Of("bytes=-0", 10), "none");
  EXPECT_EQ(Of("bytes=0-", 0), "none");
  EXPECT_EQ(Of("bytes=-5", 0), "none");
}

// A server may answer any range with the whole, and must when it does not understand it.
TEST(ByteRangeTest, GivesTheWholeForWhatItDoesNotUnderstand) {
  for (const char* header :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "items=0-1", "bytes=0-1,3-4",
        "bytes= 0-1", "bytes=0-1x", "bytes=+0-1", "bytes=--1", "bytes=99999999999999999999-"}) {
    EXPECT_EQ(Of(header, 10), "whole") << header;
  }
}

}  // namespace
}  // namespace tidemark::api
