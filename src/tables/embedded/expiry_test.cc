#include "tables/embedded/expiry.h"

#include <gtest/gtest.h>

#include "tables/limits.h"

namespace tidemark::embedded {
namespace {

constexpr EpochSeconds kNow = 1'700'000'000;
const ExpiryList kByTtl{.attribute = "ttl", .keyspace = 1, .fill = {}};

item::Item ExpiringAt(const char* seconds) {
  return {{"id", "a"}, {"ttl", *item::Number::Parse(seconds)}};
}

// An item is live while now < ttl, also for fractions of a second.
TEST(ExpiryTest, ExpiresInTheSecondOfTheDeadline) {
  EXPECT_FALSE(IsExpired(kByTtl, ExpiringAt("1700000001"), kNow));
  EXPECT_TRUE(IsExpired(kByTtl, ExpiringAt("1700000000"), kNow));
  EXPECT_TRUE(IsExpired(kByTtl, ExpiringAt("1699999999.5"), kNow));
  EXPECT_FALSE(IsExpired(kByTtl, ExpiringAt("1700000000.5"), kNow));
}

// A time in milliseconds, or a date of the last century, is a mistake. It must not delete the item.
TEST(ExpiryTest, IgnoresADeadlineOfYearsAgo) {
  const EpochSeconds oldest = kNow - tables::kOldestTimeToLive.count();
  const auto at = [](EpochSeconds ttl) {
    return item::Item{{"id", "a"}, {"ttl", item::Number::FromInt(ttl)}};
  };
  EXPECT_FALSE(IsExpired(kByTtl, at(oldest), kNow));
  EXPECT_TRUE(IsExpired(kByTtl, at(oldest + 1), kNow));
}

TEST(ExpiryTest, OnlyNumbersOfSecondsCount) {
  EXPECT_EQ(TimeToLive(kByTtl, {{"id", "a"}}), std::nullopt);
  EXPECT_EQ(TimeToLive(kByTtl, {{"id", "a"}, {"ttl", "1700000000"}}), std::nullopt);
  EXPECT_EQ(TimeToLive(kByTtl, ExpiringAt("-1")), std::nullopt);
  EXPECT_EQ(TimeToLive(kByTtl, ExpiringAt("1e100")), std::nullopt);
  EXPECT_EQ(TimeToLive(kByTtl, ExpiringAt("12.5")), 13);
  EXPECT_EQ(TimeToLive(kByTtl, ExpiringAt("0")), 0);
}

}  // namespace
}  // namespace tidemark::embedded
