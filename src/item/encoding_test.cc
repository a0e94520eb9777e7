#include "item/encoding.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::item {
namespace {

using std::string_literals::operator""s;

std::string Encoded(const Item& item) {
  std::string bytes;
  EncodeItem(item, &bytes);
  return bytes;
}

Number EncodedNumber(std::string_view text) { return *Number::Parse(text); }

const Item& OneOfEverything() {
  static const Item item{
      {"b", Binary{"\0\xff"s}},
      {"bools", List{true, false}},
      {"bs", BinarySet({Binary{""}, Binary{"x"}})},
      {"empty", ""},
      {"emptylist", List{}},
      {"emptymap", Map{}},
      {"m", Map{{"inner", Map{{"deep", List{Null{}, "x", EncodedNumber("1.5")}}}}}},
      {"n", EncodedNumber("-123.456e-20")},
      {"ns", NumberSet({EncodedNumber("3"), EncodedNumber("-1e125"), EncodedNumber("0")})},
      {"s", "h\xc3\xa9"},
      {"ss", StringSet({"", "a", "b"})},
  };
  return item;
}

TEST(EncodingTest, WritesTheDocumentedBytes) {
  EXPECT_EQ(Encoded(Item{{"id", "a"}, {"n", EncodedNumber("7")}}),
            "\x01\x02\x02id\x01\x01"
            "a\x01n\x02\x01\x07"s);
  EXPECT_EQ(Encoded(Item{}), "\x01\x00"s);
}

TEST(EncodingTest, ReadsBackEveryType) {
  EXPECT_EQ(*DecodeItem(Encoded(OneOfEverything())), OneOfEverything());
}

TEST(EncodingTest, ReadsAnItemFromTheMiddleOfARecord) {
  const std::string bytes = Encoded(OneOfEverything()) + "rest";
  Reader reader(bytes);
  EXPECT_EQ(DecodeItem(&reader), OneOfEverything());
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.rest(), "rest");
}

// Equal items have equal bytes, in any order of setting their attributes.
TEST(EncodingTest, EqualItemsHaveEqualBytes) {
  Item item;
  item.Set("z", StringSet({"b", "a"}));
  item.Set("a", EncodedNumber("1e3"));
  EXPECT_EQ(Encoded(item),
            Encoded(Item{{"a", EncodedNumber("1000")}, {"z", StringSet({"a", "b"})}}));
}

// A record that was only partly written is noticed, at every byte where it may end.
TEST(EncodingTest, RefusesEveryTruncationAndAnyExtraByte) {
  const std::string bytes = Encoded(OneOfEverything());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<Item> item = DecodeItem(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(item.has_value()) << size;
    EXPECT_EQ(item.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(DecodeItem(bytes + '\0').has_value());
}

TEST(EncodingTest, RefusesBytesThatAreNotCanonical) {
  const std::vector<std::string> cases = {
      "\x02\x00"s,                                          // Another version.
      "\x01\x01\x01"s + "a\x0c",                            // An unknown type.
      "\x01\x01\x01"s + "a\x00"s,                           // No type.
      "\x01\x02\x01"s + "b\x06\x01"s + "a\x06",             // Names out of order.
      "\x01\x02\x01"s + "a\x06\x01"s + "a\x06",             // A name twice.
      "\x01\x01\x01"s + "a\x07\x02\x01"s + "b\x01"s + "a",  // Members out of order.
      "\x01\x01\x01"s + "a\x07\x02\x01"s + "a\x01"s + "a",  // A member twice.
      "\x01\x01\x01"s + "a\x02\x01\x0a",                    // 10 with a trailing zero.
      "\x01\x81\x00\x01"s + "a\x06",                        // A padded varint.
  };
  for (const std::string& bytes : cases) {
    EXPECT_FALSE(DecodeItem(bytes).has_value()) << ::testing::PrintToString(bytes);
  }
}

// A damaged count must not make the decoder reserve more memory than the bytes can fill.
TEST(EncodingTest, RefusesCountsThatTheBytesCannotHold) {
  for (const std::string& type : {"\x07"s, "\x08"s, "\x09"s, "\x0a"s, "\x0b"s}) {
    EXPECT_FALSE(DecodeItem("\x01\x01\x01"s + "a" + type + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
                     .has_value());
    EXPECT_FALSE(DecodeItem("\x01\x01\x01"s + "a" + type + "\x7f").has_value());
  }
  EXPECT_FALSE(DecodeItem("\x01\xff\xff\xff\xff\x0f"s).has_value());
}

TEST(EncodingTest, LimitsTheNestingThatItReads) {
  const auto nested = [](size_t lists) {
    std::string bytes = "\x01\x01\x01"s + "a";
    for (size_t i = 0; i < lists; ++i) bytes += "\x0a\x01";
    return bytes + "\x06";
  };
  EXPECT_TRUE(DecodeItem(nested(63)).has_value());
  EXPECT_FALSE(DecodeItem(nested(64)).has_value());
  EXPECT_FALSE(DecodeItem(nested(1'000'000)).has_value());
}

}  // namespace
}  // namespace tidemark::item
