#include "tables/remote/remote_tables.h"

#include <utility>

#include "wire/operation.h"

namespace tidemark::remote {

namespace {

// The protocol knows key conditions only.
Result<tables::QueryRequest> WithKeyCondition(tables::QueryRequest request) {
  constexpr char kName[] = "#tidemark_partition";
  constexpr char kValue[] = ":tidemark_partition";
  if (!request.key_condition.empty()) {
    return Invalid("A query has either a partition or a key condition, not both");
  }
  const bool has_expressions = request.filter || request.projection;
  if (!has_expressions && !request.values.empty()) {
    return Invalid("ExpressionAttributeValues can only be specified when using expressions");
  }
  if (!has_expressions && !request.names.empty()) {
    return Invalid("ExpressionAttributeNames can only be specified when using expressions");
  }
  request.key_condition = std::string(kName) + " = " + kValue;
  request.names[kName] = request.partition->name;
  request.values[kValue] = request.partition->value;
  request.partition.reset();
  return request;
}

}  // namespace

template <typename Operation>
Result<typename Operation::Reply> RemoteTables::Call(const Operation& operation,
                                                     const typename Operation::Request& request) {
  const wire::Message reply = TRY(send_(operation.name, operation.encode_request(request)));
  return wire::DecodeReply(operation, reply);
}

Result<tables::TableDescription> RemoteTables::WithTimeToLive(
    Result<tables::TableDescription> described) {
  if (!described) return described;
  auto expiry = Call(wire::kDescribeTimeToLive, {described->name});
  if (!expiry) return std::move(expiry).error();
  described->ttl_attribute = expiry->attribute;
  return described;
}

Result<tables::TableDescription> RemoteTables::CreateTable(
    const tables::CreateTableRequest& request) {
  return Call(wire::kCreateTable, request);
}

Result<tables::TableDescription> RemoteTables::DescribeTable(const std::string& table) {
  return WithTimeToLive(Call(wire::kDescribeTable, {table}));
}

Result<tables::TableDescription> RemoteTables::UpdateTable(
    const tables::UpdateTableRequest& request) {
  // The protocol has no words for this.
  if (request.add_index && request.add_index->kind == tables::IndexKind::kLocal) {
    return Invalid("a local index can only be made together with its table");
  }
  return WithTimeToLive(Call(wire::kUpdateTable, request));
}

Result<tables::TableDescription> RemoteTables::DeleteTable(const std::string& table) {
  return Call(wire::kDeleteTable, {table});
}

Result<tables::ListTablesReply> RemoteTables::ListTables(const tables::ListTablesRequest& request) {
  return Call(wire::kListTables, request);
}

Status RemoteTables::SetTimeToLive(const tables::SetTimeToLiveRequest& request) {
  TRY(Call(wire::kUpdateTimeToLive, request));
  return Done{};
}

Status RemoteTables::Tag(const tables::TagRequest& request) {
  const std::string arn = TRY(Call(wire::kDescribeTable, {request.table})).arn;
  const bool only_sets = request.remove.empty();
  if (!only_sets) TRY(Call(wire::kUntagResource, {arn, request.remove}));
  if (only_sets || !request.set.empty()) TRY(Call(wire::kTagResource, {arn, request.set}));
  return Done{};
}

Result<tables::Tags> RemoteTables::ListTags(const std::string& table) {
  const std::string arn = TRY(Call(wire::kDescribeTable, {table})).arn;
  return Call(wire::kListTagsOfResource, {arn});
}

Result<std::optional<item::Item>> RemoteTables::Get(const tables::GetRequest& request) {
  return TRY(Call(wire::kGetItem, {.get = request})).item;
}

Result<tables::WriteReply> RemoteTables::Put(const tables::PutRequest& request) {
  return Call(wire::kPutItem, request);
}

Result<tables::WriteReply> RemoteTables::Update(const tables::UpdateRequest& request) {
  return Call(wire::kUpdateItem, request);
}

Result<tables::WriteReply> RemoteTables::Delete(const tables::DeleteRequest& request) {
  return Call(wire::kDeleteItem, request);
}

Result<tables::Page> RemoteTables::Query(const tables::QueryRequest& request) {
  if (!request.partition) return Call(wire::kQuery, request);
  return Call(wire::kQuery, TRY(WithKeyCondition(request)));
}

Result<tables::Page> RemoteTables::Scan(const tables::ScanRequest& request) {
  return Call(wire::kScan, request);
}

Result<tables::BatchGetReply> RemoteTables::BatchGet(const tables::BatchGetRequest& request) {
  return Call(wire::kBatchGetItem, request);
}

Result<tables::BatchWriteReply> RemoteTables::BatchWrite(const tables::BatchWriteRequest& request) {
  return Call(wire::kBatchWriteItem, request);
}

Result<tables::TransactGetReply> RemoteTables::TransactGet(
    const tables::TransactGetRequest& request) {
  return Call(wire::kTransactGetItems, request);
}

Result<tables::TransactWriteReply> RemoteTables::TransactWrite(
    const tables::TransactWriteRequest& request) {
  return Call(wire::kTransactWriteItems, request);
}

Result<tables::ListStreamsReply> RemoteTables::ListStreams(
    const tables::ListStreamsRequest& request) {
  return Call(wire::kListStreams, request);
}

Result<tables::StreamDescription> RemoteTables::DescribeStream(const std::string& arn) {
  return Call(wire::kDescribeStream, {arn});
}

Result<std::string> RemoteTables::GetShardIterator(const tables::ShardIteratorRequest& request) {
  return Call(wire::kGetShardIterator, request);
}

Result<tables::RecordsReply> RemoteTables::GetRecords(const tables::RecordsRequest& request) {
  return Call(wire::kGetRecords, request);
}

}  // namespace tidemark::remote
