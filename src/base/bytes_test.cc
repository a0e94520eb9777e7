#include "base/bytes.h"

#include <limits>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

std::string Varint(uint64_t value) {
  std::string bytes;
  AppendVarint(value, &bytes);
  return bytes;
}

// Stored formats are made of these, so their bytes may never change.
TEST(BytesTest, WritesTheDocumentedBytes) {
  std::string bytes;
  AppendFixed32(0x01020304, &bytes);
  AppendFixed64(0x05060708090a0b0c, &bytes);
  AppendText("hi", &bytes);
  EXPECT_EQ(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x02hi");
  EXPECT_EQ(Varint(0), std::string("\0", 1));
  EXPECT_EQ(Varint(127), "\x7f");
  EXPECT_EQ(Varint(300), "\xac\x02");
}

// Keys are compared as bytes: the order of numbers has to be the order of their bytes.
TEST(BytesTest, KeepsTheOrderOfNumbers) {
  const uint64_t numbers[] = {0, 1, 255, 256, 1u << 31, 1ull << 63};
  for (uint64_t left : numbers) {
    for (uint64_t right : numbers) {
      std::string left_bytes, right_bytes;
      AppendFixed64(left, &left_bytes);
      AppendFixed64(right, &right_bytes);
      EXPECT_EQ(left < right, left_bytes < right_bytes) << left << " " << right;
    }
  }
}

TEST(BytesTest, ReadsBackWhatWasWritten) {
  const uint64_t numbers[] = {
      0, 127, 128, 16383, 16384, 1ull << 63, std::numeric_limits<uint64_t>::max()};
  std::string bytes;
  for (uint64_t number : numbers) {
    AppendVarint(number, &bytes);
    AppendFixed64(number, &bytes);
    AppendFixed32(static_cast<uint32_t>(number), &bytes);
  }
  Reader reader(bytes);
  for (uint64_t number : numbers) {
    EXPECT_EQ(reader.Varint(), number);
    EXPECT_EQ(reader.Fixed64(), number);
    EXPECT_EQ(reader.Fixed32(), static_cast<uint32_t>(number));
  }
  EXPECT_TRUE(reader.AtEnd());
}

// Damaged bytes must fail, and stay failed, wherever they were cut.
TEST(ReaderTest, FailsAtEveryCut) {
  std::string bytes;
  AppendFixed32(7, &bytes);
  AppendText("text", &bytes);
  AppendFixed64(9, &bytes);
  for (size_t length = 0; length < bytes.size(); ++length) {
    Reader reader(std::string_view(bytes).substr(0, length));
    reader.Fixed32();
    reader.Text();
    reader.Fixed64();
    EXPECT_FALSE(reader.ok()) << length;
    EXPECT_FALSE(reader.AtEnd()) << length;
    EXPECT_EQ(reader.Byte(), 0);
  }
}

TEST(ReaderTest, RefusesALengthLargerThanTheRest) {
  std::string bytes = Varint(std::numeric_limits<uint64_t>::max()) + "text";
  Reader reader(bytes);
  EXPECT_EQ(reader.Text(), "");
  EXPECT_FALSE(reader.ok());
}

// A number with two forms would give two encodings of one item.
TEST(ReaderTest, TakesOnlyTheShortestVarint) {
  for (std::string_view bytes :
       {std::string_view("\x80\x00", 2), std::string_view("\xff\x80\x00", 3)}) {
    Reader reader(bytes);
    reader.Varint();
    EXPECT_FALSE(reader.ok());
  }
}

TEST(ReaderTest, RefusesAVarintBeyondSixtyFourBits) {
  Reader largest(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_EQ(largest.Varint(), std::numeric_limits<uint64_t>::max());
  Reader larger(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
  larger.Varint();
  EXPECT_FALSE(larger.ok());
  Reader longer(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  longer.Varint();
  EXPECT_FALSE(longer.ok());
}

TEST(ReaderTest, IsAtTheEndOnlyWhenNothingIsLeft) {
  Reader reader("ab");
  EXPECT_EQ(reader.Byte(), 'a');
  EXPECT_FALSE(reader.AtEnd());
  EXPECT_EQ(reader.rest(), "b");
  EXPECT_EQ(reader.Take(1), "b");
  EXPECT_TRUE(reader.AtEnd());
}

}  // namespace
}  // namespace tidemark
