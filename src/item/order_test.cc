#include "item/order.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::item {
namespace {

using std::string_literals::operator""s;

std::string Ordered(const Value& value) {
  std::string bytes;
  EncodeOrdered(value, &bytes);
  return bytes;
}

std::string Prefix(const Value& value) {
  std::string bytes;
  EncodeOrderedPrefix(value, &bytes);
  return bytes;
}

Number OrderedNumber(std::string_view text) { return *Number::Parse(text); }

// In ascending order of unsigned bytes. The texts contain the bytes that escaping could get wrong.
const std::vector<std::string> kAscending = {"",          "\0"s,
                                             "\0\0"s,     "\0\1"s,
                                             "\0\xfe"s,   "\0\xff"s,
                                             "\0\xff\0"s, "\1"s,
                                             "a",         "a\0"s,
                                             "a\0b"s,     "a\0\xff"s,
                                             "a\1"s,      "a\1\0"s,
                                             "aa",        "ab",
                                             "b",         "z",
                                             "\x7f"s,     "\x80"s,
                                             "\xc3\xa9"s, "\xf0\x9f\x8c\x8a"s,
                                             "\xff"s,     "\xff\0"s,
                                             "\xff\xff"s};

// A comparison by signed characters would put accents and emoji before "a".
TEST(OrderTest, ComparesTextsByUnsignedBytes) {
  for (size_t i = 0; i < kAscending.size(); ++i) {
    for (size_t j = 0; j < kAscending.size(); ++j) {
      EXPECT_EQ(Compare(kAscending[i], kAscending[j]), i <=> j) << i << " " << j;
      EXPECT_EQ(Compare(Binary{kAscending[i]}, Binary{kAscending[j]}), i <=> j);
    }
  }
}

TEST(OrderTest, ComparesNumbersByValue) {
  EXPECT_EQ(Compare(OrderedNumber("10"), OrderedNumber("9")), std::partial_ordering::greater);
  EXPECT_EQ(Compare(OrderedNumber("-10"), OrderedNumber("9")), std::partial_ordering::less);
  EXPECT_EQ(Compare(OrderedNumber("1e3"), OrderedNumber("1000")),
            std::partial_ordering::equivalent);
}

// Conditions on mixed types are false in both directions, so there must be no order at all.
TEST(OrderTest, HasNoOrderAcrossTypesAndForOtherTypes) {
  EXPECT_EQ(Compare("1", OrderedNumber("1")), std::partial_ordering::unordered);
  EXPECT_EQ(Compare("1", Binary{"1"}), std::partial_ordering::unordered);
  EXPECT_EQ(Compare(true, true), std::partial_ordering::unordered);
  EXPECT_EQ(Compare(Null{}, Null{}), std::partial_ordering::unordered);
  EXPECT_EQ(Compare(List{}, List{}), std::partial_ordering::unordered);
  EXPECT_EQ(Compare(StringSet({"a"}), StringSet({"a"})), std::partial_ordering::unordered);
}

TEST(OrderTest, EncodedTextsSortAsTheTextsDo) {
  for (size_t i = 0; i < kAscending.size(); ++i) {
    for (size_t j = 0; j < kAscending.size(); ++j) {
      // In the key of a row other bytes follow. They must not change the order.
      const std::string left = Ordered(kAscending[i]) + "\xff";
      const std::string right = Ordered(kAscending[j]) + "\0"s;
      if (i == j) continue;
      EXPECT_EQ(left <=> right, i <=> j) << i << " " << j;
    }
  }
}

// The parts of a key are written one after another, so each part must show where it ends.
TEST(OrderTest, ReadsValuesThatAreWrittenOneAfterAnother) {
  for (const std::string& text : kAscending) {
    const std::string bytes =
        Ordered(text) + Ordered(OrderedNumber("-12.5")) + Ordered(Binary{text}) + "rest";
    Reader reader(bytes);
    EXPECT_EQ(DecodeOrdered(Type::kString, &reader), Value(text));
    EXPECT_EQ(DecodeOrdered(Type::kNumber, &reader), Value(OrderedNumber("-12.5")));
    EXPECT_EQ(DecodeOrdered(Type::kBinary, &reader), Value(Binary{text}));
    EXPECT_EQ(reader.rest(), "rest");
  }
}

TEST(OrderTest, WritesTheDocumentedBytes) {
  EXPECT_EQ(Ordered("a\0b"s),
            "a\0\xff"
            "b\0\0"s);
  EXPECT_EQ(Prefix("a\0"s), "a\0\xff"s);
}

// begins_with reads all rows from the prefix on: these must be all texts that begin with it, and no
// others.
TEST(OrderTest, ThePrefixFindsExactlyTheTextsThatBeginWithIt) {
  for (const std::string& prefix : kAscending) {
    for (const std::string& text : kAscending) {
      EXPECT_EQ(Ordered(text).starts_with(Prefix(prefix)), text.starts_with(prefix))
          << ::testing::PrintToString(prefix) << " " << ::testing::PrintToString(text);
    }
  }
}

TEST(OrderTest, RefusesTextsThatDoNotEndOrHaveAnUnknownMark) {
  for (const std::string& bytes : {""s, "a"s, "a\0"s, "a\0\1"s, "a\0\xff"s, "a\0\xfe\0\0"s}) {
    Reader reader(bytes);
    EXPECT_EQ(DecodeOrdered(Type::kString, &reader), Value(""));
    EXPECT_FALSE(reader.ok()) << ::testing::PrintToString(bytes);
  }
}

TEST(OrderTest, RefusesTypesThatCannotBeKeys) {
  const std::string bytes = Ordered("a");
  for (Type type : {Type::kBool, Type::kNull, Type::kList, Type::kMap, Type::kStringSet}) {
    Reader reader(bytes);
    DecodeOrdered(type, &reader);
    EXPECT_FALSE(reader.ok());
  }
}

}  // namespace
}  // namespace tidemark::item
