#include "tables/embedded/verify.h"

#include <functional>

#include <gtest/gtest.h>

#include "item/encoding.h"
#include "tables/embedded/expiry.h"
#include "tables/embedded/index.h"
#include "tables/embedded/stream_record.h"
#include "tests/support/data_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;

constexpr const char* kVerifyTable = "things";

Item Thing() {
  return {{"id", "a"}, {"owner", "o"}, {"ttl", item::Number::FromInt(1'800'000'000)}};
}

std::string Encoded(const Item& item) {
  std::string value;
  item::EncodeItem(item, &value);
  return value;
}

// A folder with two items. The tests damage its rows, as a disk or a bug could.
class VerifyTest : public ::testing::Test {
 protected:
  VerifyTest() {
    auto tables = folder_.Open();
    CHECK(tables
              ->CreateTable(
                  {.table = kVerifyTable,
                   .keys = {.partition = {.name = "id"}},
                   .indexes = {{.name = "by-owner", .keys = {.partition = {.name = "owner"}}}},
                   .stream = tables::StreamView::kKeysOnly})
              .has_value());
    CHECK(tables->SetTimeToLive({.table = kVerifyTable, .attribute = "ttl"}).has_value());
    CHECK(tables->Maintain().has_value());
    CHECK(tables->Put({.table = kVerifyTable, .item = Thing()}).has_value());
    CHECK(tables->Put({.table = kVerifyTable, .item = {{"id", "b"}}}).has_value());
    CHECK(tables->Put({.table = kVerifyTable, .item = {{"id", "c"}}}).has_value());
  }

  using Damage = std::function<void(const Table&, Batch*)>;
  void Plant(const Damage& damage) {
    auto store = Store::Open(folder_.options());
    CHECK(store.has_value());
    auto catalog = Catalog::Load(**store, "local");
    CHECK(catalog.has_value());
    Batch batch = (*store)->NewBatch();
    damage(*(*catalog)->Find(kVerifyTable), &batch);
    CHECK((*store)->Write(&batch, Store::Sync::kYes).has_value());
  }

  std::vector<std::string> Problems() {
    const auto report = folder_.Open()->Verify();
    CHECK(report.has_value());
    return report->problems;
  }

  void ExpectProblem(const std::string& fragment) {
    const auto problems = Problems();
    ASSERT_FALSE(problems.empty());
    EXPECT_NE(problems[0].find(fragment), std::string::npos) << problems[0];
  }

  static std::string RowKey(const Table& table, const char* id) {
    return ItemRowKey(table.keyspace, {.partition = id, .sort = std::nullopt});
  }
  static IndexRow IndexRowOfThing(const Table& table) {
    return *IndexRowOf(table, table.indexes[0], {.partition = "a", .sort = std::nullopt}, Thing());
  }

  DataFolder folder_;
};

TEST_F(VerifyTest, FindsNothingInAWholeFolder) {
  const auto tables = folder_.Open();
  const auto report = tables->Verify();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->problems, std::vector<std::string>());
  EXPECT_EQ(report->tables, 1u);
  EXPECT_EQ(report->items, 3u);
  EXPECT_EQ(report->index_rows, 1u);
  EXPECT_EQ(report->stream_records, 3u);
}

TEST_F(VerifyTest, FindsAMissingIndexRow) {
  Plant([](const Table& table, Batch* batch) {
    batch->Delete(Family::kRows, IndexRowOfThing(table).key);
  });
  ExpectProblem("the row of an item is missing");
}

TEST_F(VerifyTest, FindsAnIndexRowThatDiffersFromItsItem) {
  Plant([](const Table& table, Batch* batch) {
    batch->Put(Family::kRows, IndexRowOfThing(table).key, Encoded({{"id", "a"}, {"owner", "o"}}));
  });
  ExpectProblem("differs from its item");
}

TEST_F(VerifyTest, FindsAnIndexRowTooMany) {
  Plant([](const Table& table, Batch* batch) {
    const Item old{{"id", "b"}, {"owner", "before"}};
    const auto row =
        IndexRowOf(table, table.indexes[0], {.partition = "b", .sort = std::nullopt}, old);
    batch->Put(Family::kRows, row->key, Encoded(row->item));
  });
  ExpectProblem("2 rows for 1 items");
}

TEST_F(VerifyTest, FindsAnItemUnderAnotherKey) {
  Plant([](const Table& table, Batch* batch) {
    batch->Put(Family::kRows, RowKey(table, "b"), Encoded({{"id", "elsewhere"}}));
  });
  ExpectProblem("does not belong to its row's key");
}

TEST_F(VerifyTest, FindsWrongCounts) {
  Plant([](const Table& table, Batch* batch) {
    batch->Put(Family::kRows, RowKey(table, "d"), Encoded({{"id", "d"}}));
  });
  ExpectProblem("the counts say 3 items");
}

TEST_F(VerifyTest, FindsAMissingExpiryRow) {
  Plant([](const Table& table, Batch* batch) {
    batch->Delete(Family::kRows,
                  ExpiryRowKey(table.expiry->keyspace, *TimeToLive(*table.expiry, Thing()),
                               RowKey(table, "a")));
  });
  ExpectProblem("has no expiry row");
}

TEST_F(VerifyTest, FindsAnExpiryRowTooMany) {
  Plant([](const Table& table, Batch* batch) {
    batch->Put(Family::kRows, ExpiryRowKey(table.expiry->keyspace, 1, RowKey(table, "b")), "");
  });
  ExpectProblem("2 expiry rows for 1 items");
}

TEST_F(VerifyTest, FindsAGapInAStream) {
  Plant([](const Table& table, Batch* batch) {
    batch->Delete(Family::kStreams, StreamRowKey(table.stream->id, 2));
  });
  ExpectProblem("record 3 follows where 2 must");
}

TEST_F(VerifyTest, FindsRowsOfNoTable) {
  Plant([](const Table&, Batch* batch) {
    batch->Put(Family::kRows, ItemRowKey(12'345, {.partition = "x", .sort = std::nullopt}), "");
  });
  ExpectProblem("belong to no table");
}

// Bytes that cannot be decoded are reported as damage, not skipped.
TEST_F(VerifyTest, FailsOnBytesThatAreNoItem) {
  Plant([](const Table& table, Batch* batch) {
    batch->Put(Family::kRows, RowKey(table, "b"), "\xff\xff garbage");
  });
  const auto tables = folder_.Open();
  const auto report = tables->Verify();
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kCorrupt);
  const auto item = tables->Get({.table = kVerifyTable, .key = {{"id", "b"}}});
  ASSERT_FALSE(item.has_value());
  EXPECT_EQ(item.error().code, ErrorCode::kCorrupt);
}

// A server that is told to stop does not read all rows first, which may take hours.
TEST_F(VerifyTest, EndsWhenItIsToldToStop) {
  const auto tables = folder_.Open();
  const std::atomic<bool> stop = true;
  const auto report = tables->Verify(&stop);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  const std::string copy = folder_.path() + "-copy";
  const Status backup = tables->Backup(copy, &stop);
  ASSERT_FALSE(backup.has_value());
  EXPECT_EQ(backup.error().code, ErrorCode::kCancelled);
}

// A backup that cannot be restored is worse than no backup.
TEST_F(VerifyTest, ABackupOfADamagedFolderIsRefused) {
  Plant([](const Table& table, Batch* batch) {
    batch->Delete(Family::kRows, IndexRowOfThing(table).key);
  });
  const auto tables = folder_.Open();
  const Status status = tables->Backup(folder_.path() + "-copy");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(status.error().message.find("do not use it"), std::string::npos);
}

TEST_F(VerifyTest, ABackupIsAFolderWithTheSameItems) {
  const std::string copy = folder_.path() + "-copy";
  {
    const auto tables = folder_.Open();
    const Status status = tables->Backup(copy);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  Options options = folder_.options();
  options.folder = copy;
  const auto restored = DataFolder::Open(options);
  EXPECT_EQ(**restored->Get({.table = kVerifyTable, .key = {{"id", "a"}}}), Thing());
}

}  // namespace
}  // namespace tidemark::embedded
