#include "tests/follower/hooked_tables.h"

namespace tidemark::testing {

Result<tables::TableDescription> HookedTables::CreateTable(
    const tables::CreateTableRequest& request) {
  return inner_.CreateTable(request);
}

Result<tables::TableDescription> HookedTables::DescribeTable(const std::string& table) {
  return inner_.DescribeTable(table);
}

Result<tables::TableDescription> HookedTables::UpdateTable(
    const tables::UpdateTableRequest& request) {
  return inner_.UpdateTable(request);
}

Result<tables::TableDescription> HookedTables::DeleteTable(const std::string& table) {
  return inner_.DeleteTable(table);
}

Result<tables::ListTablesReply> HookedTables::ListTables(const tables::ListTablesRequest& request) {
  return inner_.ListTables(request);
}

Status HookedTables::SetTimeToLive(const tables::SetTimeToLiveRequest& request) {
  return inner_.SetTimeToLive(request);
}

Status HookedTables::Tag(const tables::TagRequest& request) { return inner_.Tag(request); }

Result<tables::Tags> HookedTables::ListTags(const std::string& table) {
  return inner_.ListTags(table);
}

Result<std::optional<item::Item>> HookedTables::Get(const tables::GetRequest& request) {
  return inner_.Get(request);
}

Result<tables::WriteReply> HookedTables::Put(const tables::PutRequest& request) {
  return on_put ? on_put(request) : inner_.Put(request);
}

Result<tables::WriteReply> HookedTables::Update(const tables::UpdateRequest& request) {
  return inner_.Update(request);
}

Result<tables::WriteReply> HookedTables::Delete(const tables::DeleteRequest& request) {
  return inner_.Delete(request);
}

Result<tables::Page> HookedTables::Query(const tables::QueryRequest& request) {
  return inner_.Query(request);
}

Result<tables::Page> HookedTables::Scan(const tables::ScanRequest& request) {
  return inner_.Scan(request);
}

Result<tables::BatchGetReply> HookedTables::BatchGet(const tables::BatchGetRequest& request) {
  return inner_.BatchGet(request);
}

Result<tables::BatchWriteReply> HookedTables::BatchWrite(const tables::BatchWriteRequest& request) {
  return inner_.BatchWrite(request);
}

Result<tables::TransactGetReply> HookedTables::TransactGet(
    const tables::TransactGetRequest& request) {
  return inner_.TransactGet(request);
}

Result<tables::TransactWriteReply> HookedTables::TransactWrite(
    const tables::TransactWriteRequest& request) {
  return inner_.TransactWrite(request);
}

Result<tables::ListStreamsReply> HookedTables::ListStreams(
    const tables::ListStreamsRequest& request) {
  return inner_.ListStreams(request);
}

Result<tables::StreamDescription> HookedTables::DescribeStream(const std::string& arn) {
  return inner_.DescribeStream(arn);
}

Result<std::string> HookedTables::GetShardIterator(const tables::ShardIteratorRequest& request) {
  return inner_.GetShardIterator(request);
}

Result<tables::RecordsReply> HookedTables::GetRecords(const tables::RecordsRequest& request) {
  return on_records ? on_records(request) : inner_.GetRecords(request);
}

}  // namespace tidemark::testing
