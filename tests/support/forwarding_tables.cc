#include "tests/support/forwarding_tables.h"

namespace tidemark::testing {

template <typename Call>
auto ForwardingTables::Forward(Operation operation, Call call) -> decltype(call()) {
  const std::optional<Fault> fault = FaultIn(operation);
  if (!fault) return call();
  if (fault->applied) static_cast<void>(call());
  return fault->error;
}

Result<tables::TableDescription> ForwardingTables::CreateTable(
    const tables::CreateTableRequest& request) {
  return Forward(Operation::kManage, [&] { return inner_.CreateTable(request); });
}
Result<tables::TableDescription> ForwardingTables::DescribeTable(const std::string& table) {
  return Forward(Operation::kDescribe, [&] { return inner_.DescribeTable(table); });
}
Result<tables::TableDescription> ForwardingTables::UpdateTable(
    const tables::UpdateTableRequest& request) {
  return Forward(Operation::kManage, [&] { return inner_.UpdateTable(request); });
}
Result<tables::TableDescription> ForwardingTables::DeleteTable(const std::string& table) {
  return Forward(Operation::kManage, [&] { return inner_.DeleteTable(table); });
}
// Where a put fails, nothing can be written.
Status ForwardingTables::Writable() {
  return Forward(Operation::kPut, [&] { return inner_.Writable(); });
}
Result<tables::ListTablesReply> ForwardingTables::ListTables(
    const tables::ListTablesRequest& request) {
  return Forward(Operation::kDescribe, [&] { return inner_.ListTables(request); });
}
Status ForwardingTables::SetTimeToLive(const tables::SetTimeToLiveRequest& request) {
  return Forward(Operation::kManage, [&] { return inner_.SetTimeToLive(request); });
}
Status ForwardingTables::Tag(const tables::TagRequest& request) {
  return Forward(Operation::kManage, [&] { return inner_.Tag(request); });
}
Result<tables::Tags> ForwardingTables::ListTags(const std::string& table) {
  return Forward(Operation::kDescribe, [&] { return inner_.ListTags(table); });
}
Result<std::optional<item::Item>> ForwardingTables::Get(const tables::GetRequest& request) {
  return Forward(Operation::kGet, [&] { return inner_.Get(request); });
}
Result<tables::WriteReply> ForwardingTables::Put(const tables::PutRequest& request) {
  return Forward(Operation::kPut, [&] { return inner_.Put(request); });
}
Result<tables::WriteReply> ForwardingTables::Update(const tables::UpdateRequest& request) {
  return Forward(Operation::kUpdate, [&] { return inner_.Update(request); });
}
Result<tables::WriteReply> ForwardingTables::Delete(const tables::DeleteRequest& request) {
  return Forward(Operation::kDelete, [&] { return inner_.Delete(request); });
}
Result<tables::Page> ForwardingTables::Query(const tables::QueryRequest& request) {
  return Forward(Operation::kRead, [&] { return inner_.Query(request); });
}
Result<tables::Page> ForwardingTables::Scan(const tables::ScanRequest& request) {
  return Forward(Operation::kRead, [&] { return inner_.Scan(request); });
}
Result<tables::BatchGetReply> ForwardingTables::BatchGet(const tables::BatchGetRequest& request) {
  return Forward(Operation::kRead, [&] { return inner_.BatchGet(request); });
}
Result<tables::BatchWriteReply> ForwardingTables::BatchWrite(
    const tables::BatchWriteRequest& request) {
  return Forward(Operation::kBatch, [&] { return inner_.BatchWrite(request); });
}
Result<tables::TransactGetReply> ForwardingTables::TransactGet(
    const tables::TransactGetRequest& request) {
  return Forward(Operation::kRead, [&] { return inner_.TransactGet(request); });
}
Result<tables::TransactWriteReply> ForwardingTables::TransactWrite(
    const tables::TransactWriteRequest& request) {
  return Forward(Operation::kTransact, [&] { return inner_.TransactWrite(request); });
}
Result<tables::ListStreamsReply> ForwardingTables::ListStreams(
    const tables::ListStreamsRequest& request) {
  return Forward(Operation::kRead, [&] { return inner_.ListStreams(request); });
}
Result<tables::StreamDescription> ForwardingTables::DescribeStream(const std::string& arn) {
  return Forward(Operation::kDescribe, [&] { return inner_.DescribeStream(arn); });
}
Result<std::string> ForwardingTables::GetShardIterator(
    const tables::ShardIteratorRequest& request) {
  return Forward(Operation::kRead, [&] { return inner_.GetShardIterator(request); });
}
Result<tables::RecordsReply> ForwardingTables::GetRecords(const tables::RecordsRequest& request) {
  return Forward(Operation::kRead, [&] { return inner_.GetRecords(request); });
}

}  // namespace tidemark::testing
