#include "tables/embedded/definition.h"

#include <gtest/gtest.h>

#include "tables/embedded/catalog_encoding.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;

constexpr const char* kDefinitionTable = "things";

tables::CreateTableRequest Things() {
  return {.table = kDefinitionTable,
          .keys = {.partition = {.name = "id"},
                   .sort = item::KeyAttribute{.name = "n", .type = item::Type::kNumber}},
          .indexes = {{.name = "by-owner",
                       .keys = {.partition = {.name = "owner", .type = item::Type::kBinary}},
                       .projection = {.kind = tables::ProjectionKind::kInclude,
                                      .included = {"one", "two"}},
                       .throughput = tables::Throughput{.read_units = 3, .write_units = 4}},
                      {.name = "by-rank",
                       .kind = tables::IndexKind::kLocal,
                       .keys = {.partition = {.name = "id"},
                                .sort = item::KeyAttribute{.name = "rank"}},
                       .projection = {.kind = tables::ProjectionKind::kKeysOnly}},
                      {.name = "several",
                       .keys = {.partition = {.name = "cup"},
                                .sort = item::KeyAttribute{.name = "rank"},
                                .more_partition = {{.name = "region"}},
                                .more_sort = {{.name = "n", .type = item::Type::kNumber}}}}},
          .stream = tables::StreamView::kOldImage,
          .throughput = tables::Throughput{.read_units = 1, .write_units = 2},
          .deletion_protected = true,
          .tags = {{"team", "tides"}}};
}

class DefinitionTest : public ::testing::Test {
 protected:
  void Reopen() {
    tables_.reset();
    tables_ = folder_.Open();
  }
  void CreateSimple(const std::string& table) {
    ASSERT_TRUE(
        tables_->CreateTable({.table = table, .keys = {.partition = {.name = "id"}}}).has_value());
  }
  void Put(const std::string& table, const Item& item) {
    ASSERT_TRUE(tables_->Put({.table = table, .item = item}).has_value());
  }
  uint64_t CountIn(const std::string& table) {
    const auto page = tables_->Scan({.table = table, .select = tables::Select::kCount});
    CHECK(page.has_value());
    return page->count;
  }
  void ExpectWhole() {
    const auto report = tables_->Verify();
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->problems, std::vector<std::string>());
  }

  DataFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_ = folder_.Open();
};

// All settings of a table are the same after a restart.
TEST_F(DefinitionTest, EverythingSurvivesAReopening) {
  ASSERT_TRUE(tables_->CreateTable(Things()).has_value());
  ASSERT_TRUE(tables_->SetTimeToLive({.table = kDefinitionTable, .attribute = "ttl"}).has_value());
  const auto before = tables_->DescribeTable(kDefinitionTable);
  const auto stream_before = tables_->DescribeStream(before->latest_stream->arn);
  Reopen();
  const auto after = tables_->DescribeTable(kDefinitionTable);
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->id, before->id);
  EXPECT_EQ(after->keys, before->keys);
  ASSERT_EQ(after->indexes.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(after->indexes[i].spec, Things().indexes[i]);
  EXPECT_EQ(after->throughput, before->throughput);
  EXPECT_TRUE(after->deletion_protected);
  EXPECT_EQ(after->created_at, before->created_at);
  EXPECT_EQ(after->ttl_attribute, "ttl");
  EXPECT_EQ(after->latest_stream->arn, before->latest_stream->arn);
  EXPECT_EQ(after->latest_stream->view, tables::StreamView::kOldImage);
  EXPECT_EQ(*tables_->ListTags(kDefinitionTable), Things().tags);
  const auto stream_after = tables_->DescribeStream(after->latest_stream->arn);
  EXPECT_EQ(stream_after->keys, stream_before->keys);
  EXPECT_EQ(stream_after->shards[0].id, stream_before->shards[0].id);
}

// The rows of a deleted table must not appear in a new table of the same name, and they must be
// removed from the disk.
// An older program does not know such keys, and would write wrong rows for them. It finds no
// "partition" and refuses the folder.
TEST_F(DefinitionTest, AnOlderProgramRefusesKeysOfSeveralAttributes) {
  Table table{.name = "t", .id = "i", .keys = {.partition = {.name = "id"}}};
  table.indexes.push_back({.spec = Things().indexes[2]});
  const Item row = EncodeTable(table);
  const auto& index = *(*row.Find("indexes")->As<item::List>())[0].As<item::Map>();
  EXPECT_FALSE(index.Find("keys")->As<item::Map>()->Contains("partition"));
  const auto decoded = DecodeTable(row, {});
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->indexes[0].spec, table.indexes[0].spec);
  // All others are as they were.
  EXPECT_TRUE(row.Find("keys")->As<item::Map>()->Contains("partition"));
}

TEST_F(DefinitionTest, ATableThatIsCreatedAgainIsEmpty) {
  CreateSimple(kDefinitionTable);
  Put(kDefinitionTable, {{"id", "a"}});
  const std::string id = tables_->DescribeTable(kDefinitionTable)->id;
  ASSERT_TRUE(tables_->DeleteTable(kDefinitionTable).has_value());
  CreateSimple(kDefinitionTable);
  EXPECT_NE(tables_->DescribeTable(kDefinitionTable)->id, id);
  EXPECT_EQ(CountIn(kDefinitionTable), 0u);
  EXPECT_EQ(tables_->DescribeTable(kDefinitionTable)->item_count, 0u);
  ExpectWhole();
}

// Each table has rows of its own, also those made after a restart.
TEST_F(DefinitionTest, TablesNeverShareRows) {
  CreateSimple("first");
  Put("first", {{"id", "a"}});
  Reopen();
  CreateSimple("second");
  EXPECT_EQ(CountIn("second"), 0u);
  Put("second", {{"id", "b"}});
  EXPECT_EQ(CountIn("first"), 1u);
  EXPECT_EQ(CountIn("second"), 1u);
  ExpectWhole();
}

TEST_F(DefinitionTest, ADroppedIndexLeavesNoRows) {
  CreateSimple(kDefinitionTable);
  Put(kDefinitionTable, {{"id", "a"}, {"owner", "o"}});
  const tables::IndexSpec index{.name = "by-owner", .keys = {.partition = {.name = "owner"}}};
  ASSERT_TRUE(tables_->UpdateTable({.table = kDefinitionTable, .add_index = index}).has_value());
  ASSERT_TRUE(tables_->Maintain().has_value());
  EXPECT_EQ(tables_->DescribeTable(kDefinitionTable)->indexes[0].item_count, 1u);
  ASSERT_TRUE(
      tables_->UpdateTable({.table = kDefinitionTable, .drop_index = "by-owner"}).has_value());
  EXPECT_TRUE(tables_->DescribeTable(kDefinitionTable)->indexes.empty());
  ExpectWhole();
}

// Two streams of a table that are created in the same millisecond have different names.
TEST_F(DefinitionTest, StreamsOfOneMomentHaveDifferentNames) {
  CreateSimple(kDefinitionTable);
  const auto set_stream = [&](bool enabled) {
    const auto updated = tables_->UpdateTable(
        {.table = kDefinitionTable, .stream = tables::UpdateStream{.enabled = enabled}});
    CHECK(updated.has_value());
    return updated->latest_stream->arn;
  };
  const std::string first = set_stream(true);
  EXPECT_EQ(set_stream(false), first);
  const std::string second = set_stream(true);
  EXPECT_NE(first, second);
  EXPECT_EQ(tables_->ListStreams({.table = kDefinitionTable})->streams.size(), 2u);
}

TEST_F(DefinitionTest, ProtectedTablesAreNotDeleted) {
  ASSERT_TRUE(tables_->CreateTable(Things()).has_value());
  const auto refused = tables_->DeleteTable(kDefinitionTable);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  ASSERT_TRUE(
      tables_->UpdateTable({.table = kDefinitionTable, .deletion_protected = false}).has_value());
  EXPECT_TRUE(tables_->DeleteTable(kDefinitionTable).has_value());
}

}  // namespace
}  // namespace tidemark::embedded
