// The cache's table as it is made: other programs query it by these names.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "apps/documents/row_store.h"
#include "tests/documents/world.h"

namespace tidemark::documents {
namespace {

using item::KeyAttribute;
using item::Type;

// The disk provides encryption at rest, and `tidemark doctor` checks it
// (docs/decisions/0019-documents.md, src/base/disk_encryption_test.cc).
// Spec: 002-75
TEST(TableTest, HasTheKeyTheIndexesTheTimeToLiveAndTheTagOfTheSeed) {
  World world;
  const auto table = *world.tables.DescribeTable(world.options.table);
  EXPECT_EQ(table.name, "ccoe-customer-contact-manager-cache");
  EXPECT_EQ(table.keys.partition, (KeyAttribute{"object_id", Type::kString}));
  EXPECT_FALSE(table.keys.sort.has_value());
  const std::map<std::string, std::string> partitions = {{"TimeRangeIndex", "object_type"},
                                                         {"CustomerTimeIndex", "customer_code"},
                                                         {"StatusTimeIndex", "status"}};
  ASSERT_EQ(table.indexes.size(), partitions.size());
  for (const auto& index : table.indexes) {
    const auto expected = partitions.find(index.spec.name);
    ASSERT_NE(expected, partitions.end()) << index.spec.name;
    EXPECT_EQ(index.spec.keys.partition, (KeyAttribute{expected->second, Type::kString}));
    EXPECT_EQ(index.spec.keys.sort, (KeyAttribute{"created_at", Type::kNumber}));
    EXPECT_EQ(index.spec.projection.kind, tables::ProjectionKind::kAll);
  }
  EXPECT_EQ(table.ttl_attribute, "ttl");
  EXPECT_FALSE(table.throughput.has_value()) << "on demand";
  EXPECT_EQ(world.tables.ListTags(world.options.table)->at("CostCenter"),
            "ccoe-customer-contact-manager");
}

// Spec: 002-75
TEST(TableTest, MakingItAgainChangesNothing) {
  World world;
  world.Store({{"object_id", "kept"}});
  const auto before = *world.tables.DescribeTable(world.options.table);
  ASSERT_TRUE(EnsureCacheTable(world.tables, world.options.table).has_value());
  const auto after = *world.tables.DescribeTable(world.options.table);
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.created_at, before.created_at);
  EXPECT_EQ(after.item_count, 1U);
}

}  // namespace
}  // namespace tidemark::documents
