// HookedTables hands every call to other tables, and lets a test stand between: to lose a
// reply, to refuse a write, to say that an iterator expired.
//
// Hooks are set while nothing is being called.
#pragma once

#include <functional>
#include <string>

#include "tables/tables.h"

namespace tidemark::testing {

class HookedTables final : public tables::Tables {
 public:
  // What is given must outlive this.
  explicit HookedTables(tables::Tables& inner) : inner_(inner) {}

  // Called instead of inner().Put and inner().GetRecords, when set.
  std::function<Result<tables::WriteReply>(const tables::PutRequest&)> on_put;
  std::function<Result<tables::RecordsReply>(const tables::RecordsRequest&)> on_records;

  tables::Tables& inner() { return inner_; }

  Result<tables::TableDescription> CreateTable(const tables::CreateTableRequest& request) override;
  Result<tables::TableDescription> DescribeTable(const std::string& table) override;
  Result<tables::TableDescription> UpdateTable(const tables::UpdateTableRequest& request) override;
  Result<tables::TableDescription> DeleteTable(const std::string& table) override;
  Result<tables::ListTablesReply> ListTables(const tables::ListTablesRequest& request) override;
  Status SetTimeToLive(const tables::SetTimeToLiveRequest& request) override;
  Status Tag(const tables::TagRequest& request) override;
  Result<tables::Tags> ListTags(const std::string& table) override;
  Result<std::optional<item::Item>> Get(const tables::GetRequest& request) override;
  Result<tables::WriteReply> Put(const tables::PutRequest& request) override;
  Result<tables::WriteReply> Update(const tables::UpdateRequest& request) override;
  Result<tables::WriteReply> Delete(const tables::DeleteRequest& request) override;
  Result<tables::Page> Query(const tables::QueryRequest& request) override;
  Result<tables::Page> Scan(const tables::ScanRequest& request) override;
  Result<tables::BatchGetReply> BatchGet(const tables::BatchGetRequest& request) override;
  Result<tables::BatchWriteReply> BatchWrite(const tables::BatchWriteRequest& request) override;
  Result<tables::TransactGetReply> TransactGet(const tables::TransactGetRequest& request) override;
  Result<tables::TransactWriteReply> TransactWrite(
      const tables::TransactWriteRequest& request) override;
  Result<tables::ListStreamsReply> ListStreams(const tables::ListStreamsRequest& request) override;
  Result<tables::StreamDescription> DescribeStream(const std::string& arn) override;
  Result<std::string> GetShardIterator(const tables::ShardIteratorRequest& request) override;
  Result<tables::RecordsReply> GetRecords(const tables::RecordsRequest& request) override;

 private:
  tables::Tables& inner_;
};

}  // namespace tidemark::testing
