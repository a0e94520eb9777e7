#include "apps/dedup/row.h"

#include <gtest/gtest.h>

namespace tidemark::dedup {
namespace {

// Every attribute is read as it was written.
TEST(RowTest, IsReadAsItWasWritten) {
  const Row row{.key = "k",
                .status = RowStatus::kFailed,
                .owner = "n",
                .generation = 3,
                .processed_at = 10,
                .completed_at = 20,
                .lease_until = 30,
                .expires = 40,
                .failures = 5,
                .failure = "why",
                .payload_hash = "aa",
                .result = "r",
                .main_key = "m",
                .metadata = {{"file_id", "F1"}}};
  const item::Item item = EncodeRow(row);
  const Row read = DecodeRow(item);
  EXPECT_EQ(EncodeRow(read), item);
  EXPECT_EQ(read.metadata, row.metadata);
  EXPECT_EQ(read.status, row.status);
  EXPECT_EQ(read.generation, 3);
}

// Other programs may write rows: an attribute of another type counts as missing.
TEST(RowTest, ForeignAttributesAreNotTrusted) {
  const Row row = DecodeRow({{"event_key", "k"},
                             {"status", item::Number::FromInt(1)},
                             {"generation", "3"},
                             {"ttl", "soon"},
                             {"owner", true}});
  EXPECT_EQ(row.status, RowStatus::kDone);
  EXPECT_EQ(row.generation, 0);
  EXPECT_FALSE(row.expires.has_value());
  EXPECT_FALSE(IsExpired(row, 1'000'000'000'000));
  EXPECT_EQ(row.owner, "");
}

// A row is expired from the second of its deadline on.
TEST(RowTest, ExpiresAtItsDeadline) {
  EXPECT_FALSE(IsExpired({.expires = 100}, 99));
  EXPECT_TRUE(IsExpired({.expires = 100}, 100));
}

}  // namespace
}  // namespace tidemark::dedup
