#include "tests/support/faulty_tables.h"

#include <memory>

namespace tidemark::testing {

Decide RandomFaults(const RandomFaultsOptions& options) {
  auto random = std::make_shared<SeededRandom>(options.seed);
  return [options, random](Operation operation) -> std::optional<Fault> {
    const uint64_t drawn = random->Below(100);
    if (drawn < options.throttled_percent) return Throttled();
    if (!Writes(operation) || drawn >= options.throttled_percent + options.lost_percent) {
      return std::nullopt;
    }
    return random->Below(2) == 0 ? LostReply() : LostRequest();
  };
}

template <typename Call>
auto FaultyTables::Guarded(Operation operation, Call call) -> decltype(call()) {
  const std::optional<Fault> fault = decide ? decide(operation) : std::nullopt;
  if (!fault) return call();
  if (fault->applied) static_cast<void>(call());
  return fault->error;
}

Result<tables::TableDescription> FaultyTables::CreateTable(
    const tables::CreateTableRequest& request) {
  return Guarded(Operation::kManage, [&] { return inner_.CreateTable(request); });
}
Result<tables::TableDescription> FaultyTables::DescribeTable(const std::string& table) {
  return Guarded(Operation::kDescribe, [&] { return inner_.DescribeTable(table); });
}
Result<tables::TableDescription> FaultyTables::UpdateTable(
    const tables::UpdateTableRequest& request) {
  return Guarded(Operation::kManage, [&] { return inner_.UpdateTable(request); });
}
Result<tables::TableDescription> FaultyTables::DeleteTable(const std::string& table) {
  return Guarded(Operation::kManage, [&] { return inner_.DeleteTable(table); });
}
Result<tables::ListTablesReply> FaultyTables::ListTables(const tables::ListTablesRequest& request) {
  return Guarded(Operation::kDescribe, [&] { return inner_.ListTables(request); });
}
Status FaultyTables::SetTimeToLive(const tables::SetTimeToLiveRequest& request) {
  return Guarded(Operation::kManage, [&] { return inner_.SetTimeToLive(request); });
}
Status FaultyTables::Tag(const tables::TagRequest& request) {
  return Guarded(Operation::kManage, [&] { return inner_.Tag(request); });
}
Result<tables::Tags> FaultyTables::ListTags(const std::string& table) {
  return Guarded(Operation::kDescribe, [&] { return inner_.ListTags(table); });
}
Result<std::optional<item::Item>> FaultyTables::Get(const tables::GetRequest& request) {
  return Guarded(Operation::kGet, [&] { return inner_.Get(request); });
}
Result<tables::WriteReply> FaultyTables::Put(const tables::PutRequest& request) {
  return Guarded(Operation::kPut, [&] { return inner_.Put(request); });
}
Result<tables::WriteReply> FaultyTables::Update(const tables::UpdateRequest& request) {
  return Guarded(Operation::kUpdate, [&] { return inner_.Update(request); });
}
Result<tables::WriteReply> FaultyTables::Delete(const tables::DeleteRequest& request) {
  return Guarded(Operation::kDelete, [&] { return inner_.Delete(request); });
}
Result<tables::Page> FaultyTables::Query(const tables::QueryRequest& request) {
  return Guarded(Operation::kRead, [&] { return inner_.Query(request); });
}
Result<tables::Page> FaultyTables::Scan(const tables::ScanRequest& request) {
  return Guarded(Operation::kRead, [&] { return inner_.Scan(request); });
}
Result<tables::BatchGetReply> FaultyTables::BatchGet(const tables::BatchGetRequest& request) {
  return Guarded(Operation::kRead, [&] { return inner_.BatchGet(request); });
}
Result<tables::BatchWriteReply> FaultyTables::BatchWrite(const tables::BatchWriteRequest& request) {
  return Guarded(Operation::kBatch, [&] { return inner_.BatchWrite(request); });
}
Result<tables::TransactGetReply> FaultyTables::TransactGet(
    const tables::TransactGetRequest& request) {
  return Guarded(Operation::kRead, [&] { return inner_.TransactGet(request); });
}
Result<tables::TransactWriteReply> FaultyTables::TransactWrite(
    const tables::TransactWriteRequest& request) {
  return Guarded(Operation::kTransact, [&] { return inner_.TransactWrite(request); });
}
Result<tables::ListStreamsReply> FaultyTables::ListStreams(
    const tables::ListStreamsRequest& request) {
  return Guarded(Operation::kRead, [&] { return inner_.ListStreams(request); });
}
Result<tables::StreamDescription> FaultyTables::DescribeStream(const std::string& arn) {
  return Guarded(Operation::kDescribe, [&] { return inner_.DescribeStream(arn); });
}
Result<std::string> FaultyTables::GetShardIterator(const tables::ShardIteratorRequest& request) {
  return Guarded(Operation::kRead, [&] { return inner_.GetShardIterator(request); });
}
Result<tables::RecordsReply> FaultyTables::GetRecords(const tables::RecordsRequest& request) {
  return Guarded(Operation::kRead, [&] { return inner_.GetRecords(request); });
}

}  // namespace tidemark::testing
