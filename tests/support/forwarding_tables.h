// ForwardingTables passes every call on to other tables. It is the base class of decorators, which
// override FaultIn to let calls fail, or override the calls that they change.
//
//   class SlowTables final : public ForwardingTables {
//     using ForwardingTables::ForwardingTables;
//     std::optional<Fault> FaultIn(Operation) override { Wait(); return std::nullopt; }
//   };
//
// Any thread may call it if the other tables and the decorator allow that.
#pragma once

#include <optional>
#include <string>

#include "tables/tables.h"

namespace tidemark::testing {

enum class Operation { kDescribe, kManage, kGet, kPut, kUpdate, kDelete, kRead, kTransact, kBatch };

inline bool Writes(Operation operation) {
  return operation == Operation::kPut || operation == Operation::kUpdate ||
         operation == Operation::kDelete || operation == Operation::kTransact ||
         operation == Operation::kBatch;
}

struct Fault {
  Error error;
  bool applied = false;  // The call is made; only its reply is lost.
};

class ForwardingTables : public tables::Tables {
 public:
  // `tables` must outlive this.
  explicit ForwardingTables(tables::Tables* inner) : inner_(*inner) {}

  tables::Tables& inner() { return inner_; }

  Result<tables::TableDescription> CreateTable(const tables::CreateTableRequest& request) override;
  Result<tables::TableDescription> DescribeTable(const std::string& table) override;
  Result<tables::TableDescription> UpdateTable(const tables::UpdateTableRequest& request) override;
  Result<tables::TableDescription> DeleteTable(const std::string& table) override;
  Status Writable() override;
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

 protected:
  // Called once before each call. Returns how the call fails, or nullopt.
  virtual std::optional<Fault> FaultIn(Operation) { return std::nullopt; }

 private:
  template <typename Call>
  auto Forward(Operation operation, Call call) -> decltype(call());

  tables::Tables& inner_;
};

}  // namespace tidemark::testing
