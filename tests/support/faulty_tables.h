// FaultyTables hands every call to other tables, unless the test decides that the call fails:
// before it is applied (throttling, no access), or afterwards (the reply is lost).
//
//   FaultyTables tables(&model);
//   tables.decide = RandomFaults({.seed = 7, .throttled_percent = 20, .lost_percent = 5});
//
// `decide` may do more than decide: let the sweeper run, count, give way to another thread. It is
// set while nothing is being called, and called from whatever thread calls the tables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/random.h"
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
  bool applied = false;  // The call is made all the same; only its reply is lost.
};

inline Fault Throttled() { return {{ErrorCode::kUnavailable, "throttled, for the test"}}; }
inline Fault LostReply() { return {{ErrorCode::kUnknown, "reply lost, for the test"}, true}; }
// The request was lost on the way: the caller cannot tell it from a lost reply.
inline Fault LostRequest() { return {{ErrorCode::kUnknown, "request lost, for the test"}}; }
inline Fault Denied() { return {{ErrorCode::kDenied, "access denied, for the test"}}; }

using Decide = std::function<std::optional<Fault>(Operation)>;

struct RandomFaultsOptions {
  uint64_t seed = 0;
  uint32_t throttled_percent = 0;
  uint32_t lost_percent = 0;  // Of writes; half of them were applied.
};
Decide RandomFaults(const RandomFaultsOptions& options);

class FaultyTables final : public tables::Tables {
 public:
  // What is given outlives this.
  explicit FaultyTables(tables::Tables* inner) : inner_(*inner) {}

  Decide decide;  // Unset: nothing fails.

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
  template <typename Call>
  auto Guarded(Operation operation, Call call) -> decltype(call());

  tables::Tables& inner_;
};

}  // namespace tidemark::testing
