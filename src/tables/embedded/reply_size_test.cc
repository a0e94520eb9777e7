// Replies are limited by their JSON too: it may be many times as large as the items.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "item/json.h"
#include "tables/embedded/embedded_tables.h"
#include "tables/limits.h"
#include "tests/support/temp_folder.h"

namespace tidemark::embedded {
namespace {

using item::Item;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// 1E125 takes 2 bytes of an item, and 126 digits of JSON.
constexpr size_t kNumbersOfAMegabyte = 8'000;

Item KeyOf(int id) { return {{"p", "all"}, {"id", item::Number::FromInt(id)}}; }

class ReplySizeTest : public ::testing::Test {
 protected:
  ReplySizeTest() {
    tables_ = EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                    .durability = Durability::kEverySecond,
                                    .background = false})
                  .value();
    CHECK(tables_
              ->CreateTable({.table = "users",
                             .keys = {{"p"}, item::KeyAttribute{"id", item::Type::kNumber}},
                             .stream = tables::StreamView::kNewImage})
              .has_value());
  }

  void Put(int id, size_t numbers) {
    Item item = KeyOf(id);
    item.Set("n", item::List(numbers, *item::Number::Parse("1E125")));
    CHECK(tables_->Put({.table = "users", .item = std::move(item)}).has_value());
  }
  // Items with a megabyte of JSON each.
  void PutMany(int count) {
    for (int id = 0; id < count; ++id) Put(id, kNumbersOfAMegabyte);
  }
  // The pages until the last one; each within the limit, and with something in it.
  template <typename Request>
  size_t CountPages(Request request, Result<tables::Page> (EmbeddedTables::*read)(const Request&)) {
    for (size_t pages = 1;; ++pages) {
      const tables::Page page = (tables_.get()->*read)(request).value();
      EXPECT_THAT(page.items, Not(IsEmpty()));
      if (page.items.size() > 1) {
        EXPECT_LT(JsonOf(page.items), 2 * tables::kMaxPageJsonBytes);
      }
      items_read_ += page.items.size();
      if (!page.last) return pages;
      request.start_after = page.last;
    }
  }
  static size_t JsonOf(const std::vector<Item>& items) {
    size_t bytes = 0;
    for (const Item& item : items) bytes += item::ToJson(item).size();
    return bytes;
  }

  TempFolder folder_;
  std::unique_ptr<EmbeddedTables> tables_;
  size_t items_read_ = 0;
};

TEST_F(ReplySizeTest, APageEndsBeforeItsJsonIsTooLarge) {
  PutMany(10);
  const tables::QueryRequest query{
      .table = "users", .key_condition = "p = :p", .values = {{":p", "all"}}};
  EXPECT_EQ(CountPages(query, &EmbeddedTables::Query), 3u);
  EXPECT_EQ(CountPages(tables::ScanRequest{.table = "users"}, &EmbeddedTables::Scan), 3u);
  EXPECT_EQ(items_read_, 20u);
  // What is not returned does not count.
  tables::QueryRequest keys = query;
  keys.projection = "id";
  EXPECT_EQ(tables_->Query(keys)->items.size(), 10u);
  tables::QueryRequest count = query;
  count.select = tables::Select::kCount;
  EXPECT_EQ(tables_->Query(count)->count, 10u);
}

TEST_F(ReplySizeTest, ABatchLeavesItemsUnprocessedWhenItsJsonIsTooLarge) {
  PutMany(20);
  tables::BatchGetRequest request;
  for (int id = 0; id < 20; ++id) request.tables["users"].keys.push_back(KeyOf(id));
  const tables::BatchGetReply first = tables_->BatchGet(request).value();
  EXPECT_LE(JsonOf(first.items.at("users")), tables::kMaxBatchJsonBytes);
  request.tables = first.unprocessed;
  ASSERT_THAT(request.tables, SizeIs(1));
  const tables::BatchGetReply second = tables_->BatchGet(request).value();
  EXPECT_THAT(second.unprocessed, IsEmpty());
  EXPECT_EQ(first.items.at("users").size() + second.items.at("users").size(), 20u);
}

// Otherwise nobody could read it.
TEST_F(ReplySizeTest, OneItemIsReturnedWhateverItsSize) {
  Put(1, 130'000);
  Put(2, 10);
  const tables::BatchGetReply reply =
      tables_->BatchGet({.tables = {{"users", {.keys = {KeyOf(1), KeyOf(2)}}}}}).value();
  ASSERT_THAT(reply.items.at("users"), SizeIs(1));
  EXPECT_GT(JsonOf(reply.items.at("users")), tables::kMaxBatchJsonBytes);
  EXPECT_EQ(reply.unprocessed.at("users").keys, std::vector<Item>{KeyOf(2)});
  EXPECT_EQ(CountPages(tables::ScanRequest{.table = "users"}, &EmbeddedTables::Scan), 2u);
}

TEST_F(ReplySizeTest, ATransactionThatReadsTooMuchIsCancelled) {
  PutMany(20);
  tables::TransactGetRequest request;
  for (int id = 0; id < 20; ++id) request.gets.push_back({.table = "users", .key = KeyOf(id)});
  const tables::TransactGetReply reply = tables_->TransactGet(request).value();
  EXPECT_TRUE(reply.cancelled);
  EXPECT_THAT(reply.items, IsEmpty());
  ASSERT_THAT(reply.reasons, SizeIs(20));
  EXPECT_EQ(reply.reasons[0].code, tables::CancellationCode::kNone);
  EXPECT_EQ(reply.reasons[15].code, tables::CancellationCode::kValidationError);
  EXPECT_THAT(reply.reasons[15].message, ::testing::HasSubstr("ask for fewer items"));
  request.gets.resize(3);
  EXPECT_FALSE(tables_->TransactGet(request)->cancelled);
}

TEST_F(ReplySizeTest, ACancelledTransactionShowsOnlyTheItemsThatFit) {
  PutMany(20);
  tables::TransactWriteRequest request;
  for (int id = 0; id < 20; ++id) {
    request.actions.emplace_back(
        tables::ConditionCheck{.table = "users",
                               .key = KeyOf(id),
                               .condition = "attribute_not_exists(p)",
                               .on_failure = tables::OnConditionFailure::kAllOld});
  }
  const tables::TransactWriteReply reply = tables_->TransactWrite(request).value();
  ASSERT_THAT(reply.reasons, SizeIs(20));
  EXPECT_TRUE(reply.reasons.front().item.has_value());
  EXPECT_FALSE(reply.reasons.back().item.has_value());
  EXPECT_EQ(reply.reasons.back().code, tables::CancellationCode::kConditionalCheckFailed);
}

TEST_F(ReplySizeTest, APageOfAStreamEndsBeforeItsJsonIsTooLarge) {
  PutMany(10);
  const std::string arn = tables_->DescribeTable("users")->latest_stream->arn;
  const std::string shard = tables_->DescribeStream(arn)->shards[0].id;
  const std::string iterator =
      tables_
          ->GetShardIterator(
              {.arn = arn, .shard = shard, .kind = tables::IteratorKind::kTrimHorizon})
          .value();
  const tables::RecordsReply first = tables_->GetRecords({.iterator = iterator}).value();
  EXPECT_THAT(first.records, SizeIs(4));
  const tables::RecordsReply second = tables_->GetRecords({.iterator = *first.next}).value();
  EXPECT_THAT(second.records, SizeIs(4));
}

}  // namespace
}  // namespace tidemark::embedded
