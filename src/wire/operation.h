// The operations of DynamoDB's protocol, one value each: the name, and the JSON of the request and
// of the reply, in both directions. The data are the structs of tables/requests.h.
//
//   std::string body = kPutItem.encode_request(request);                 // A client.
//   Result<tables::WriteReply> reply = DecodeReply(kPutItem, message);
//
//   auto request = TRY(kPutItem.decode_request(json, Layer::kOlder));    // A server.
//   Message message = EncodeReply(kPutItem, tables.Put(request), Layer::kOlder);
//
// Names and shapes are DynamoDB's. What the protocol cannot carry is lost on the way: whether a
// token was applied before (TransactWriteReply::replayed), and the types of keys in the description
// of a stream. A query by `partition` is not part of the protocol: write it as a key condition.
// Everything here is constant and may be used from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tables/requests.h"
#include "tables/schema.h"
#include "wire/exception.h"
#include "wire/message.h"
#include "wire/problems.h"

namespace tidemark::wire {

template <typename RequestType, typename ReplyType>
struct Operation {
  using Request = RequestType;
  using Reply = ReplyType;

  std::string_view name;
  Service service = Service::kTables;
  std::string (*encode_request)(const Request& request) = nullptr;
  // The layer chooses the words of an error.
  Result<Request> (*decode_request)(const Json& body, Layer layer) = nullptr;
  // Also outcomes that are exceptions in the protocol.
  Message (*encode_reply)(const Reply& reply) = nullptr;
  // The body of a success.
  Result<Reply> (*decode_reply)(const Json& body) = nullptr;
  // The reply for an exception that is an outcome. nullopt: it is an error.
  std::optional<Result<Reply>> (*decode_outcome)(std::string_view exception,
                                                 const Json& body) = nullptr;
};

// Requests that name one thing only.
struct TableRequest {
  std::string table;
  friend bool operator==(const TableRequest&, const TableRequest&) = default;
};
struct StreamRequest {
  std::string arn;
  std::optional<std::string> after_shard = std::nullopt;  // Only shards after this one.
  friend bool operator==(const StreamRequest&, const StreamRequest&) = default;
};
// What a get costs depends on whether it must be consistent; what it returns does not.
struct GetItemRequest {
  tables::GetRequest get;
  bool consistent = false;
  tables::Measure measure = tables::Measure::kNone;
};
struct GetItemReply {
  std::optional<item::Item> item;
  std::optional<tables::Capacity> capacity = std::nullopt;
};
// The reply of DescribeTimeToLive.
struct TimeToLive {
  std::optional<std::string> attribute;  // nullopt: time to live is off.
  friend bool operator==(const TimeToLive&, const TimeToLive&) = default;
};
// Half of a tables::TagRequest each. `table` is written as it is: the protocol wants an ARN there.
struct TagResourceRequest {
  std::string table;
  tables::Tags tags;
  friend bool operator==(const TagResourceRequest&, const TagResourceRequest&) = default;
};
struct UntagResourceRequest {
  std::string table;
  std::vector<std::string> names;
  friend bool operator==(const UntagResourceRequest&, const UntagResourceRequest&) = default;
};

extern const Operation<tables::CreateTableRequest, tables::TableDescription> kCreateTable;
extern const Operation<TableRequest, tables::TableDescription> kDescribeTable;
extern const Operation<tables::UpdateTableRequest, tables::TableDescription> kUpdateTable;
extern const Operation<TableRequest, tables::TableDescription> kDeleteTable;
extern const Operation<tables::ListTablesRequest, tables::ListTablesReply> kListTables;
// The reply repeats the request.
extern const Operation<tables::SetTimeToLiveRequest, tables::SetTimeToLiveRequest>
    kUpdateTimeToLive;
extern const Operation<TableRequest, TimeToLive> kDescribeTimeToLive;
extern const Operation<TagResourceRequest, Done> kTagResource;
extern const Operation<UntagResourceRequest, Done> kUntagResource;
extern const Operation<TableRequest, tables::Tags> kListTagsOfResource;

extern const Operation<GetItemRequest, GetItemReply> kGetItem;
extern const Operation<tables::PutRequest, tables::WriteReply> kPutItem;
extern const Operation<tables::UpdateRequest, tables::WriteReply> kUpdateItem;
extern const Operation<tables::DeleteRequest, tables::WriteReply> kDeleteItem;
extern const Operation<tables::QueryRequest, tables::Page> kQuery;
extern const Operation<tables::ScanRequest, tables::Page> kScan;
extern const Operation<tables::BatchGetRequest, tables::BatchGetReply> kBatchGetItem;
extern const Operation<tables::BatchWriteRequest, tables::BatchWriteReply> kBatchWriteItem;
extern const Operation<tables::TransactGetRequest, tables::TransactGetReply> kTransactGetItems;
extern const Operation<tables::TransactWriteRequest, tables::TransactWriteReply>
    kTransactWriteItems;

extern const Operation<tables::ListStreamsRequest, tables::ListStreamsReply> kListStreams;
extern const Operation<StreamRequest, tables::StreamDescription> kDescribeStream;
extern const Operation<tables::ShardIteratorRequest, std::string> kGetShardIterator;
extern const Operation<tables::RecordsRequest, tables::RecordsReply> kGetRecords;

// The reply to Select=COUNT has no items, not even an empty list.
Message EncodeCounts(const tables::Page& page);

template <typename Request, typename Reply>
Message EncodeReply(const Operation<Request, Reply>& operation, const Result<Reply>& reply,
                    Layer layer = Layer::kOlder) {
  return reply ? operation.encode_reply(*reply) : EncodeError(InWordsOf(layer, reply.error()));
}

// kUnknown when the reply is not one of the protocol: the operation may or may not have been done.
template <typename Request, typename Reply>
Result<Reply> DecodeReply(const Operation<Request, Reply>& operation, const Message& message) {
  // Some replies have no body.
  const std::string_view body = message.body.empty() ? "{}" : std::string_view(message.body);
  const auto document = JsonDocument::Parse(body);
  if (!document) {
    return Error{
        ErrorCode::kUnknown,
        std::string(operation.name) + ": the reply is not DynamoDB's: " + document.error().message};
  }
  const Json root = document->root();
  if (message.status == 200) {
    Result<Reply> reply = operation.decode_reply(root);
    if (!reply) {
      return Error{
          ErrorCode::kUnknown,
          std::string(operation.name) + ": the reply is not DynamoDB's: " + reply.error().message};
    }
    return reply;
  }
  if (operation.decode_outcome != nullptr) {
    if (auto outcome = operation.decode_outcome(ExceptionIn(root), root)) return *outcome;
  }
  return DecodeError(message.status, root);
}

}  // namespace tidemark::wire
