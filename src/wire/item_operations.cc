// Operations on items.
#include <initializer_list>
#include <limits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tables/limits.h"
#include "wire/bindings.h"
#include "wire/capacity_fields.h"
#include "wire/fields.h"
#include "wire/legacy.h"
#include "wire/names.h"
#include "wire/operation.h"
#include "wire/plain.h"

namespace tidemark::wire {

namespace {

constexpr std::string_view kConditionFailedText = "The conditional request failed";

}  // namespace

// ---- One item ----

template <typename F>
void DescribeAction(F& fields, Ref<F, tables::GetRequest> get) {
  fields.Table("TableName", get.table);
  fields.Required("Key", get.key);
  fields.Optional("ProjectionExpression", get.projection);
  DescribeBindings(fields, get, {});
}

// ---- Capacity ----

template <typename F, typename Request>
void DescribeMeasure(F& fields, Request& request) {
  fields.Default("ReturnConsumedCapacity", request.measure, tables::Measure::kNone);
}

template <typename F, typename Request>
void DescribeCollections(F& fields, Request& request) {
  fields.Default("ReturnItemCollectionMetrics", request.collections, tables::Collections::kNone);
}

// ---- Reads of one item ----

template <typename F>
void Describe(F& fields, Ref<F, GetItemRequest> request) {
  DescribeAction(fields, request.get);
  fields.Default("ConsistentRead", request.consistent, false);
  DescribeMeasure(fields, request);
  if constexpr (std::is_same_v<F, FieldReader>) {
    Legacy legacy(&fields, &request.get.names, nullptr);
    legacy.Projection(&request.get.projection);
    legacy.Finish();
  }
}

template <typename F>
void Describe(F& fields, Ref<F, GetItemReply> reply) {
  fields.Optional("Item", reply.item);
  fields.Optional("ConsumedCapacity", reply.capacity);
}

// What a write has in common with an action of a transaction.
template <typename F, typename Request>
void DescribeWrite(F& fields, Request& request) {
  fields.Optional("ConditionExpression", request.condition);
  if constexpr (requires { request.update; })
    DescribeBindings(fields, request, {"UpdateExpression", "ConditionExpression"});
  else
    DescribeBindings(fields, request, {"ConditionExpression"});
  fields.Default("ReturnValuesOnConditionCheckFailure", request.on_failure,
                 tables::OnConditionFailure::kNone);
}

template <typename F>
void DescribeAction(F& fields, Ref<F, tables::PutRequest> put) {
  fields.Table("TableName", put.table);
  fields.Required("Item", put.item);
  DescribeWrite(fields, put);
}

template <typename F>
void DescribeAction(F& fields, Ref<F, tables::UpdateRequest> update) {
  fields.Table("TableName", update.table);
  fields.Required("Key", update.key);
  fields.Optional("UpdateExpression", update.update);
  DescribeWrite(fields, update);
}

template <typename F>
void DescribeAction(F& fields, Ref<F, tables::DeleteRequest> gone) {
  fields.Table("TableName", gone.table);
  fields.Required("Key", gone.key);
  DescribeWrite(fields, gone);
}

template <typename F>
void DescribeAction(F& fields, Ref<F, tables::ConditionCheck> check) {
  fields.Table("TableName", check.table);
  fields.Required("Key", check.key);
  fields.Required("ConditionExpression", check.condition);
  DescribeBindings(fields, check, {"ConditionExpression"});
  fields.Default("ReturnValuesOnConditionCheckFailure", check.on_failure,
                 tables::OnConditionFailure::kNone);
}

template <typename F, typename Request>
void DescribeSingleWrite(F& fields, Request& request) {
  DescribeAction(fields, request);
  const bool is_update = requires { request.update; };
  if (!is_update) DescribeMeasure(fields, request);
  fields.Default("ReturnValues", request.return_values, tables::ReturnValues::kNone);
  if constexpr (std::is_same_v<F, FieldReader>) {
    if (is_update) fields.place().problems->CloseIfNewer();
  }
  if (is_update) DescribeMeasure(fields, request);
  DescribeCollections(fields, request);
  if constexpr (std::is_same_v<F, FieldReader>) {
    Legacy legacy(&fields, &request.names, &request.values);
    if constexpr (requires { request.update; }) legacy.Update(&request.update);
    legacy.Condition(&request.condition);
    legacy.Finish();
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::PutRequest> request) {
  DescribeSingleWrite(fields, request);
}
template <typename F>
void Describe(F& fields, Ref<F, tables::UpdateRequest> request) {
  DescribeSingleWrite(fields, request);
}
template <typename F>
void Describe(F& fields, Ref<F, tables::DeleteRequest> request) {
  DescribeSingleWrite(fields, request);
}

// ---- Sizes of item collections ----

template <typename F>
void Describe(F& fields, Ref<F, tables::Collection> collection) {
  fields.Required("ItemCollectionKey", collection.key);
  std::vector<double> range = {0, collection.most_gigabytes};
  fields.Required("SizeEstimateRangeGB", range);
  if constexpr (std::is_same_v<F, FieldReader>) {
    if (!range.empty()) collection.most_gigabytes = range.back();
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::WriteReply> reply) {
  fields.Optional("Attributes", reply.attributes);
  fields.Optional("ConsumedCapacity", reply.capacity);
  fields.Optional("ItemCollectionMetrics", reply.collection);
}

// By table.
template <typename F, typename Reply>
void DescribeCollectionsOf(F& fields, Reply& reply) {
  const bool is_read = std::is_same_v<F, FieldReader>;
  if (is_read || !reply.collections.empty()) {
    fields.Always("ItemCollectionMetrics", reply.collections);
  }
}

// One for each table.
template <typename F, typename Reply>
void DescribeCapacities(F& fields, Reply& reply) {
  fields.UnlessEmpty("ConsumedCapacity", reply.capacity);
}

// ---- Many items ----

template <typename F, typename Request>
void DescribeReading(F& fields, Request& request) {
  fields.Table("TableName", request.table);
  fields.Optional("IndexName", request.index);
  fields.Optional("FilterExpression", request.filter);
  fields.Optional("ProjectionExpression", request.projection);
  if constexpr (requires { request.key_condition; })
    DescribeBindings(fields, request, {"FilterExpression", "KeyConditionExpression"});
  else
    DescribeBindings(fields, request, {"FilterExpression"});
  fields.Optional("Select", request.select);
  fields.Default("ConsistentRead", request.consistent, false);
  fields.Optional("Limit", request.limit);
  fields.Optional("ExclusiveStartKey", request.start_after);
  DescribeMeasure(fields, request);
  fields.CheckRange("Limit", request.limit, 1, std::numeric_limits<int32_t>::max());
}

template <typename F>
void Describe(F& fields, Ref<F, tables::QueryRequest> request) {
  DescribeReading(fields, request);
  fields.Default("KeyConditionExpression", request.key_condition, "");
  fields.Default("ScanIndexForward", request.forward, true);
  if constexpr (std::is_same_v<F, FieldReader>) {
    Legacy legacy(&fields, &request.names, &request.values);
    legacy.KeyCondition(&request.key_condition);
    legacy.Filter("QueryFilter", &request.filter);
    legacy.Projection(&request.projection);
    legacy.Finish();
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::ScanRequest> request) {
  DescribeReading(fields, request);
  fields.Optional("Segment", request.segment);
  fields.Optional("TotalSegments", request.total_segments);
  fields.CheckRange("Segment", request.segment, 0, tables::kMaxScanSegments - 1);
  fields.CheckRange("TotalSegments", request.total_segments, 1, tables::kMaxScanSegments);
  if constexpr (std::is_same_v<F, FieldReader>) {
    Legacy legacy(&fields, &request.names, &request.values);
    legacy.Filter("ScanFilter", &request.filter);
    legacy.Projection(&request.projection);
    legacy.Finish();
  }
}

template <typename F>
void DescribeCounts(F& fields, Ref<F, tables::Page> page) {
  fields.Required("Count", page.count);
  fields.Required("ScannedCount", page.scanned);
  fields.Optional("LastEvaluatedKey", page.last);
  fields.Optional("ConsumedCapacity", page.capacity);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::Page> page) {
  DescribeCounts(fields, page);
  // A reply to Select=COUNT has no items.
  const bool is_written = std::is_same_v<F, FieldWriter>;
  if (is_written && page.items.empty() && page.count > 0) return;
  fields.Always("Items", page.items);
}

namespace {

template <typename Parts>
void CheckTableNames(FieldReader& fields, const Parts& parts) {
  for (const auto& [table, part] : parts) {
    if (table.starts_with("arn:") || IsTableName(table)) continue;
    fields.place()
        .Member("RequestItems")
        .Violates(fmt::format("'{}'", ShownInJava(*fields.Find("RequestItems"))),
                  "Map keys must satisfy constraint: [Member must have length less than or equal "
                  "to 255, Member must have length greater than or equal to 3, Member must satisfy "
                  "regular expression pattern: [a-zA-Z0-9_.-]+]");
    return;  // Said once for the whole map.
  }
}

// The tables of a batch may be given as ARNs, too.
template <typename Parts>
void ReadTableNames(FieldReader& fields, Parts& parts) {
  Parts named;
  CheckTableNames(fields, parts);
  for (auto& [table, part] : parts) {
    const bool is_new = named.emplace(TableOfArn(table), std::move(part)).second;
    if (!is_new) {
      fields.Fail(Invalid(fmt::format("the table {} is named twice: by its name and by its ARN",
                                      TableOfArn(table))));
    }
  }
  parts = std::move(named);
}

// DynamoDB's texts for a batch of no writes, and for too many of one table.
void CheckBatch(
    FieldReader& fields,
    const std::map<std::string, std::vector<tables::BatchWriteRequest::Action>>& parts) {
  const std::optional<Json> given = fields.Find("RequestItems");
  if (given && given->IsObject() && given->Size() == 0) {
    fields.FailOfParameters(Invalid("The requestItems parameter is required for BatchWriteItem"));
  }
  for (const auto& [table, actions] : parts) {
    if (!actions.empty() && actions.size() <= tables::kMaxBatchWrites) continue;
    fields.place()
        .Member("RequestItems")
        .Violates(
            fmt::format("'{}'", ShownInJava(*given)),
            fmt::format("Map value must satisfy constraint: [Member must have length less than or "
                        "equal to {}, Member must have length greater than or equal to 1]",
                        tables::kMaxBatchWrites));
    return;  // Said once for the whole map.
  }
}

}  // namespace

template <typename F, typename Parts>
void DescribeTableNames(F& fields, Parts& parts) {
  if constexpr (std::is_same_v<F, FieldReader>) ReadTableNames(fields, parts);
}

template <>
inline constexpr std::string_view kJavaName<tables::BatchGetRequest::Part> = "KeysAndAttributes";
template <typename F>
void Describe(F& fields, Ref<F, tables::BatchGetRequest::Part> part) {
  fields.Required("Keys", part.keys);
  fields.CheckCount("Keys", part.keys, 1, tables::kMaxBatchGetKeys);
  fields.Optional("ProjectionExpression", part.projection);
  DescribeBindings(fields, part, {});
  fields.Default("ConsistentRead", part.consistent, false);
  if constexpr (std::is_same_v<F, FieldReader>) {
    Legacy legacy(&fields, &part.names, nullptr);
    legacy.Projection(&part.projection);
    legacy.Finish();
  }
}

namespace {

// As in DynamoDB: also of different tables.
void RefuseMixture(FieldReader& fields) {
  const std::optional<Json> parts = fields.Find("RequestItems");
  if (!parts) return;
  bool has_expression = false;
  bool has_list = false;
  for (const auto& [table, part] : parts->Members()) {
    has_expression = has_expression || part.Find("ProjectionExpression");
    has_list = has_list || part.Find("AttributesToGet");
  }
  if (!has_expression || !has_list) return;
  fields.FailOfParameters(
      Invalid("Can not use both expression and non-expression parameters in the same request: "
              "Non-expression parameters: {AttributesToGet} Expression parameters: "
              "{ProjectionExpression}"));
}

}  // namespace

template <typename F>
void Describe(F& fields, Ref<F, tables::BatchGetRequest> request) {
  fields.Required("RequestItems", request.tables);
  if constexpr (std::is_same_v<F, FieldReader>) RefuseMixture(fields);
  fields.CheckCount("RequestItems", request.tables, 1, tables::kMaxBatchGetKeys);
  DescribeTableNames(fields, request.tables);
  DescribeMeasure(fields, request);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::BatchGetReply> reply) {
  fields.Always("Responses", reply.items);
  fields.Always("UnprocessedKeys", reply.unprocessed);
  DescribeCapacities(fields, reply);
}

template <>
constexpr std::string_view kActionName<tables::BatchWriteRequest::Put> = "PutRequest";
template <>
constexpr std::string_view kActionName<tables::BatchWriteRequest::Delete> = "DeleteRequest";

template <>
inline constexpr std::string_view kJavaName<tables::BatchWriteRequest::Action> = "WriteRequest";
template <>
constexpr NotOneTexts kNotOne<tables::BatchWriteRequest::Action> = {
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
    "supported datatypes",
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
    "supported datatypes"};

template <typename F>
void DescribeAction(F& fields, Ref<F, tables::BatchWriteRequest::Put> put) {
  fields.Required("Item", put.item);
}
template <typename F>
void DescribeAction(F& fields, Ref<F, tables::BatchWriteRequest::Delete> gone) {
  fields.Required("Key", gone.key);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::BatchWriteRequest> request) {
  fields.Required("RequestItems", request.tables);
  if constexpr (std::is_same_v<F, FieldReader>) CheckBatch(fields, request.tables);
  DescribeTableNames(fields, request.tables);
  DescribeMeasure(fields, request);
  DescribeCollections(fields, request);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::BatchWriteReply> reply) {
  fields.Always("UnprocessedItems", reply.unprocessed);
  DescribeCapacities(fields, reply);
  DescribeCollectionsOf(fields, reply);
}

// ---- Transactions ----

template <>
constexpr std::string_view kActionName<tables::ConditionCheck> = "ConditionCheck";
template <>
constexpr std::string_view kActionName<tables::PutRequest> = "Put";
template <>
constexpr std::string_view kActionName<tables::UpdateRequest> = "Update";
template <>
constexpr std::string_view kActionName<tables::DeleteRequest> = "Delete";
template <>
constexpr std::string_view kActionName<tables::GetRequest> = "Get";

template <>
inline constexpr std::string_view kJavaName<tables::TransactAction> = "TransactWriteItem";
template <>
constexpr NotOneTexts kNotOne<tables::TransactAction> = {
    "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
    "TransactItems can only contain one of Check, Put, Update or Delete"};
using TransactGetAction = std::variant<tables::GetRequest>;
template <>
inline constexpr std::string_view kJavaName<TransactGetAction> = "TransactGetItem";
template <>
constexpr NotOneTexts kNotOne<TransactGetAction> = {
    "Invalid Request: TransactGetRequest should contain a Get request", ""};

namespace {

// Other than UpdateItem, an update of a transaction must have an expression.
void CheckUpdates(FieldReader& fields, const std::vector<tables::TransactAction>& actions) {
  for (size_t i = 0; i < actions.size(); ++i) {
    const auto* update = std::get_if<tables::UpdateRequest>(&actions[i]);
    if (update == nullptr || update->update) continue;
    fields.place()
        .Member("TransactItems")
        .Element(i + 1)
        .Member("Update")
        .Member("UpdateExpression")
        .Missing();
  }
}

}  // namespace

template <typename F>
void Describe(F& fields, Ref<F, tables::TransactWriteRequest> request) {
  fields.Required("TransactItems", request.actions);
  fields.CheckCount("TransactItems", request.actions, 1, tables::kMaxTransactActions);
  fields.Optional("ClientRequestToken", request.token);
  fields.CheckLength("ClientRequestToken", request.token, 1, tables::kMaxTokenLength);
  if constexpr (std::is_same_v<F, FieldReader>) CheckUpdates(fields, request.actions);
  DescribeMeasure(fields, request);
  DescribeCollections(fields, request);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::TransactGetRequest> request) {
  std::vector<TransactGetAction> actions(request.gets.begin(), request.gets.end());
  fields.Required("TransactItems", actions);
  fields.CheckCount("TransactItems", actions, 1, tables::kMaxTransactActions);
  if constexpr (std::is_same_v<F, FieldReader>) {
    for (auto& action : actions) request.gets.push_back(std::get<0>(std::move(action)));
  }
  DescribeMeasure(fields, request);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::TransactGetReply> reply) {
  fields.Required("Responses", reply.items);
  DescribeTransactCapacities(fields, reply.capacity, "ReadCapacityUnits");
}

template <typename F>
void Describe(F& fields, Ref<F, tables::TransactWriteReply> reply) {
  DescribeTransactCapacities(fields, reply.capacity, "WriteCapacityUnits");
  DescribeCollectionsOf(fields, reply);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::CancellationReason> reason) {
  fields.Required("Code", reason.code);
  fields.Default("Message", reason.message, "");
  fields.Optional("Item", reason.item);
}

// ---- Outcomes that are exceptions ----

namespace {

Message EncodeWrite(const tables::WriteReply& reply) {
  if (reply.applied) return {.body = Encode(reply)};
  return EncodeException(kConditionFailed, kConditionFailedText, [&](JsonWriter* writer) {
    FieldWriter fields(writer);
    fields.Optional("Item", reply.failed_on);
  });
}

std::optional<Result<tables::WriteReply>> DecodeRefusedWrite(std::string_view exception,
                                                             const Json& body) {
  if (exception != kConditionFailed) return std::nullopt;
  tables::WriteReply reply{.applied = false};
  const Status read = ReadMembers(body, Kind::kReply, Layer::kOlder, [&](FieldReader& fields) {
    fields.Optional("Item", reply.failed_on);
  });
  if (!read) return Result<tables::WriteReply>(read.error());
  return Result(std::move(reply));
}

Message EncodeCancellation(const std::vector<tables::CancellationReason>& reasons) {
  std::vector<std::string_view> codes;
  for (const tables::CancellationReason& reason : reasons) {
    for (const auto& row : NamesOf<tables::CancellationCode>::kRows) {
      if (row.value == reason.code) codes.push_back(row.name);
    }
  }
  return EncodeCancelled(codes, [&](JsonWriter* writer) {
    FieldWriter(writer).Required("CancellationReasons", reasons);
  });
}

Result<std::vector<tables::CancellationReason>> DecodeReasons(const Json& body) {
  std::vector<tables::CancellationReason> reasons;
  TRY(ReadMembers(body, Kind::kReply, Layer::kOlder,
                  [&](FieldReader& fields) { fields.Always("CancellationReasons", reasons); }));
  return reasons;
}

// DynamoDB finds a key with an empty value before the transaction begins.
std::optional<std::string> EmptyKeyIn(const std::vector<tables::CancellationReason>& reasons) {
  for (const tables::CancellationReason& reason : reasons) {
    if (reason.message.starts_with("One or more parameter values are not valid. ")) {
      return reason.message;
    }
  }
  return std::nullopt;
}

Message EncodeTransactWrite(const tables::TransactWriteReply& reply) {
  if (const auto empty_key = EmptyKeyIn(reply.reasons)) return EncodeError(Invalid(*empty_key));
  switch (reply.outcome) {
    case tables::TransactOutcome::kApplied:
      return {.body = Encode(reply)};
    case tables::TransactOutcome::kCancelled:
      return EncodeCancellation(reply.reasons);
    case tables::TransactOutcome::kTokenMismatch:
      return EncodeTokenMismatch();
  }
  return {};
}

std::optional<Result<tables::TransactWriteReply>> DecodeRefusedTransaction(
    std::string_view exception, const Json& body) {
  if (exception == kTokenMismatch) {
    return Result(tables::TransactWriteReply{.outcome = tables::TransactOutcome::kTokenMismatch});
  }
  if (exception != kTransactionCancelled) return std::nullopt;
  auto reasons = DecodeReasons(body);
  if (!reasons) return Result<tables::TransactWriteReply>(std::move(reasons).error());
  return Result(tables::TransactWriteReply{.outcome = tables::TransactOutcome::kCancelled,
                                           .reasons = *std::move(reasons)});
}

Message EncodeTransactGet(const tables::TransactGetReply& reply) {
  if (const auto empty_key = EmptyKeyIn(reply.reasons)) return EncodeError(Invalid(*empty_key));
  if (reply.cancelled) return EncodeCancellation(reply.reasons);
  return {.body = Encode(reply)};
}

std::optional<Result<tables::TransactGetReply>> DecodeRefusedReading(std::string_view exception,
                                                                     const Json& body) {
  if (exception != kTransactionCancelled) return std::nullopt;
  auto reasons = DecodeReasons(body);
  if (!reasons) return Result<tables::TransactGetReply>(std::move(reasons).error());
  return Result(tables::TransactGetReply{.cancelled = true, .reasons = *std::move(reasons)});
}

template <typename Request>
constexpr Operation<Request, tables::WriteReply> Write(std::string_view name) {
  auto operation = Plain<Request, tables::WriteReply>(name);
  operation.encode_reply = &EncodeWrite;
  operation.decode_outcome = &DecodeRefusedWrite;
  return operation;
}

}  // namespace

Message EncodeCounts(const tables::Page& page) {
  Message message;
  JsonWriter writer(&message.body);
  writer.BeginObject();
  FieldWriter fields(&writer);
  DescribeCounts(fields, page);
  writer.EndObject();
  return message;
}

constinit const Operation<GetItemRequest, GetItemReply> kGetItem =
    Plain<GetItemRequest, GetItemReply>("GetItem");
constinit const Operation<tables::PutRequest, tables::WriteReply> kPutItem =
    Write<tables::PutRequest>("PutItem");
constinit const Operation<tables::UpdateRequest, tables::WriteReply> kUpdateItem =
    Write<tables::UpdateRequest>("UpdateItem");
constinit const Operation<tables::DeleteRequest, tables::WriteReply> kDeleteItem =
    Write<tables::DeleteRequest>("DeleteItem");
constinit const Operation<tables::QueryRequest, tables::Page> kQuery =
    Plain<tables::QueryRequest, tables::Page>("Query");
constinit const Operation<tables::ScanRequest, tables::Page> kScan =
    Plain<tables::ScanRequest, tables::Page>("Scan");
constinit const Operation<tables::BatchGetRequest, tables::BatchGetReply> kBatchGetItem =
    Plain<tables::BatchGetRequest, tables::BatchGetReply>("BatchGetItem");
constinit const Operation<tables::BatchWriteRequest, tables::BatchWriteReply> kBatchWriteItem =
    Plain<tables::BatchWriteRequest, tables::BatchWriteReply>("BatchWriteItem");
constinit const Operation<tables::TransactGetRequest, tables::TransactGetReply> kTransactGetItems =
    {.name = "TransactGetItems",
     .encode_request = &Encode<tables::TransactGetRequest>,
     .decode_request = &DecodeRequest<tables::TransactGetRequest>,
     .encode_reply = &EncodeTransactGet,
     .decode_reply = &DecodeBody<tables::TransactGetReply>,
     .decode_outcome = &DecodeRefusedReading};
constinit const Operation<tables::TransactWriteRequest, tables::TransactWriteReply>
    kTransactWriteItems = {.name = "TransactWriteItems",
                           .encode_request = &Encode<tables::TransactWriteRequest>,
                           .decode_request = &DecodeRequest<tables::TransactWriteRequest>,
                           .encode_reply = &EncodeTransactWrite,
                           .decode_reply = &DecodeBody<tables::TransactWriteReply>,
                           .decode_outcome = &DecodeRefusedTransaction};

}  // namespace tidemark::wire
