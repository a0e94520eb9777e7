// A store that answers only a part of what it was asked for, as DynamoDB does when it throttles.
#include <gtest/gtest.h>

#include "apps/gate/cache_rows.h"
#include "tests/gate/stage.h"

namespace tidemark::gate {

using namespace tables;

// Reads nothing and says so; does nothing else.
class PartialTables final : public Tables {
 public:
  Result<BatchGetReply> BatchGet(const BatchGetRequest& request) override {
    return BatchGetReply{.unprocessed = request.tables};
  }

  Result<TableDescription> CreateTable(const CreateTableRequest&) override { return none_; }
  Result<TableDescription> DescribeTable(const std::string&) override { return none_; }
  Result<TableDescription> UpdateTable(const UpdateTableRequest&) override { return none_; }
  Result<TableDescription> DeleteTable(const std::string&) override { return none_; }
  Result<ListTablesReply> ListTables(const ListTablesRequest&) override { return none_; }
  Status SetTimeToLive(const SetTimeToLiveRequest&) override { return none_; }
  Status Tag(const TagRequest&) override { return none_; }
  Result<Tags> ListTags(const std::string&) override { return none_; }
  Result<std::optional<item::Item>> Get(const GetRequest&) override { return none_; }
  Result<WriteReply> Put(const PutRequest&) override { return none_; }
  Result<WriteReply> Update(const UpdateRequest&) override { return none_; }
  Result<WriteReply> Delete(const DeleteRequest&) override { return none_; }
  Result<Page> Query(const QueryRequest&) override { return none_; }
  Result<Page> Scan(const ScanRequest&) override { return none_; }
  Result<BatchWriteReply> BatchWrite(const BatchWriteRequest&) override { return none_; }
  Result<TransactGetReply> TransactGet(const TransactGetRequest&) override { return none_; }
  Result<TransactWriteReply> TransactWrite(const TransactWriteRequest&) override { return none_; }
  Result<ListStreamsReply> ListStreams(const ListStreamsRequest&) override { return none_; }
  Result<StreamDescription> DescribeStream(const std::string&) override { return none_; }
  Result<std::string> GetShardIterator(const ShardIteratorRequest&) override { return none_; }
  Result<RecordsReply> GetRecords(const RecordsRequest&) override { return none_; }

 private:
  const Error none_{ErrorCode::kInternal, "not part of the test"};
};

// A generation that was not read may have been raised: it must not be taken for none.
TEST(PartialReadTest, WhatWasNotReadIsNotTakenForAbsent) {
  PartialTables tables;
  ManualClock clock;
  CacheRows rows("cache", &tables, &clock);
  EXPECT_EQ(rows.Read({"generation#U1"}).error().code, ErrorCode::kUnavailable);
}

}  // namespace tidemark::gate
