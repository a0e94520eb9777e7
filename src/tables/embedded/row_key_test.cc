#include "tables/embedded/row_key.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::embedded {
namespace {

using expression::KeyCondition;
using expression::SortCondition;
using expression::SortOperator;
using item::Number;
using item::Type;

constexpr Keyspace kKeyspace = 7;

item::KeySchema Schema(Type partition, std::optional<Type> sort = std::nullopt) {
  item::KeySchema schema{.partition = {.name = "p", .type = partition}};
  if (sort) schema.sort = item::KeyAttribute{.name = "s", .type = *sort};
  return schema;
}

item::Key KeyOf(item::Value partition, std::optional<item::Value> sort = std::nullopt) {
  return {.partition = std::move(partition), .sort = std::move(sort)};
}

bool Contains(const Range& range, const std::string& key) {
  return range.low <= key && key < range.high;
}

// ---- Round trips ----

// Decoding returns every kind of key that was encoded. Indexes and Verify depend on this.
TEST(RowKeyTest, DecodesEncodedItemKeys) {
  const std::vector<std::pair<item::KeySchema, item::Key>> cases = {
      {Schema(Type::kString), KeyOf("a")},
      {Schema(Type::kNumber), KeyOf(Number::FromInt(-12))},
      {Schema(Type::kBinary), KeyOf(item::Binary{std::string("\0\xff\0", 3)})},
      {Schema(Type::kString, Type::kNumber), KeyOf("a", Number::FromInt(0))},
      {Schema(Type::kBinary, Type::kString), KeyOf(item::Binary{"x"}, "\x01y")},
  };
  for (const auto& [schema, key] : cases) {
    const auto decoded = DecodeItemRowKey(ItemRowKey(kKeyspace, key), schema);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(*decoded, key);
  }
}

// Several items may have the same index key. Each of them needs a row of its own, and all rows are
// found under the index key.
TEST(RowKeyTest, ItemsWithOneIndexKeyHaveRowsOfTheirOwn) {
  const item::Key index_key = KeyOf(Number::FromInt(3), "later");
  const std::string first = IndexRowKey(kKeyspace, index_key, KeyOf("a", "bc"));
  const std::string second = IndexRowKey(kKeyspace, index_key, KeyOf("ab", "c"));
  EXPECT_NE(first, second);
  EXPECT_TRUE(first.starts_with(ItemRowKey(kKeyspace, index_key)));
  EXPECT_TRUE(second.starts_with(ItemRowKey(kKeyspace, index_key)));
}

TEST(RowKeyTest, ExpiryKeysComeBackWithTheirRows) {
  const std::string row_key = ItemRowKey(kKeyspace, KeyOf("a"));
  const std::string key = ExpiryRowKey(9, 1'700'000'000, row_key);
  const auto parts = DecodeExpiryRowKey(key);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->ttl, 1'700'000'000);
  EXPECT_EQ(parts->item_row_key, row_key);
}

// ---- Damage ----

// A scan would find a row with a wrong hash, but a get would not.
TEST(RowKeyTest, RefusesAHashThatIsNotThePartitions) {
  std::string key = ItemRowKey(kKeyspace, KeyOf("a"));
  key[5] = static_cast<char>(key[5] ^ 1);
  const auto decoded = DecodeItemRowKey(key, Schema(Type::kString));
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
}

// A key that is too short or too long is refused, and nothing is read after its end.
TEST(RowKeyTest, RefusesKeysCutShortOrTooLong) {
  const item::KeySchema schema = Schema(Type::kString, Type::kNumber);
  const std::string key = ItemRowKey(kKeyspace, KeyOf("abc", Number::FromInt(12)));
  for (size_t length = 0; length < key.size(); ++length) {
    EXPECT_FALSE(DecodeItemRowKey(key.substr(0, length), schema).has_value()) << length;
  }
  EXPECT_FALSE(DecodeItemRowKey(key + '\0', schema).has_value());
  EXPECT_FALSE(DecodeExpiryRowKey("short").has_value());
  // A time to live that no encoder writes: it does not fit into signed seconds.
  EXPECT_FALSE(DecodeExpiryRowKey(std::string(12, '\xff')).has_value());
}

// ---- Ranges ----

TEST(RowKeyTest, AKeyspaceHoldsItsRowsAndNoOthers) {
  const item::Key key = KeyOf("a");
  const Range range = KeyspaceRange(kKeyspace);
  EXPECT_TRUE(Contains(range, ItemRowKey(kKeyspace, key)));
  EXPECT_FALSE(Contains(range, ItemRowKey(kKeyspace - 1, key)));
  EXPECT_FALSE(Contains(range, ItemRowKey(kKeyspace + 1, key)));
}

// The segments of a parallel scan cover the whole range without overlap.
TEST(RowKeyTest, SegmentsFollowEachOtherWithoutGapOrOverlap) {
  for (uint32_t total : {1u, 2u, 3u, 7u, 1'000u, 999'983u}) {
    std::string low = SegmentRange(kKeyspace, 0, total).low;
    EXPECT_EQ(low.compare(0, 4, KeyspaceRange(kKeyspace).low), 0);
    for (uint32_t segment = 0; segment < total; ++segment) {
      const Range range = SegmentRange(kKeyspace, segment, total);
      ASSERT_EQ(range.low, low);
      ASSERT_LT(range.low, range.high);
      low = range.high;
    }
    EXPECT_EQ(low, KeyspaceRange(kKeyspace).high);
  }
}

// The sort values among -5, 0, 3, 3.5 and 10 that the condition selects of partition "a".
std::vector<std::string> Selected(const SortCondition& sort) {
  const Range range = ConditionRange(kKeyspace, KeyCondition{.partition = "a", .sort = sort});
  std::vector<std::string> selected;
  for (const char* text : {"-5", "0", "3", "3.5", "10"}) {
    const Number number = *Number::Parse(text);
    if (Contains(range, ItemRowKey(kKeyspace, KeyOf("a", number)))) selected.emplace_back(text);
    EXPECT_FALSE(Contains(range, ItemRowKey(kKeyspace, KeyOf("b", number))));
  }
  return selected;
}

TEST(RowKeyTest, ConditionsOnTheSortKeySelectByValue) {
  using Texts = std::vector<std::string>;
  const Number three = Number::FromInt(3);
  EXPECT_EQ(Selected({.op = SortOperator::kEqual, .low = three}), Texts{"3"});
  EXPECT_EQ(Selected({.op = SortOperator::kLess, .low = three}), (Texts{"-5", "0"}));
  EXPECT_EQ(Selected({.op = SortOperator::kLessOrEqual, .low = three}), (Texts{"-5", "0", "3"}));
  EXPECT_EQ(Selected({.op = SortOperator::kGreater, .low = three}), (Texts{"3.5", "10"}));
  EXPECT_EQ(Selected({.op = SortOperator::kGreaterOrEqual, .low = three}),
            (Texts{"3", "3.5", "10"}));
  EXPECT_EQ(Selected({.op = SortOperator::kBetween, .low = Number::FromInt(0), .high = three}),
            (Texts{"0", "3"}));
  // A range whose low end is above its high end is empty.
  EXPECT_EQ(Selected({.op = SortOperator::kBetween, .low = three, .high = Number::FromInt(0)}),
            Texts{});
}

TEST(RowKeyTest, BeginsWithSelectsByTheFirstBytes) {
  const Range range = ConditionRange(
      kKeyspace, KeyCondition{.partition = "a",
                              .sort = SortCondition{.op = SortOperator::kBeginsWith, .low = "ab"}});
  const auto selects = [&](const char* sort) {
    return Contains(range, ItemRowKey(kKeyspace, KeyOf("a", sort)));
  };
  EXPECT_TRUE(selects("ab"));
  EXPECT_TRUE(selects("abc"));
  EXPECT_TRUE(selects("ab\xff"));
  EXPECT_FALSE(selects("a"));
  EXPECT_FALSE(selects("ac"));
}

// A row is expired from the second of its deadline on, unless the deadline is too old to be real.
TEST(RowKeyTest, TheExpiredRangeEndsWithTheSecondOfTheDeadline) {
  constexpr EpochSeconds kSecond = 1'700'000'000;
  const Range range = ExpiredRange(kKeyspace, kSecond, 100);
  const auto expired = [&](EpochSeconds ttl) {
    return Contains(range, ExpiryRowKey(kKeyspace, ttl, "row"));
  };
  EXPECT_TRUE(expired(kSecond));
  EXPECT_TRUE(expired(kSecond - 99));
  EXPECT_FALSE(expired(kSecond + 1));
  EXPECT_FALSE(expired(kSecond - 100));
}

}  // namespace
}  // namespace tidemark::embedded
