// Operations on items.
#include <utility>
#include <variant>

#include <fmt/format.h>

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

template <typename F, typename Request>
void DescribeNames(F& fields, Request& request) {
  fields.UnlessEmpty("ExpressionAttributeNames", request.names);
}

template <typename F, typename Request>
void DescribeBindings(F& fields, Request& request) {
  DescribeNames(fields, request);
  fields.UnlessEmpty("ExpressionAttributeValues", request.values);
}

template <typename F>
void DescribeAction(F& fields, Ref<F, tables::GetRequest> get) {
  fields.Table("TableName", get.table);
  fields.Required("Key", get.key);
  fields.Optional("ProjectionExpression", get.projection);
  DescribeNames(fields, get);
}

// ---- Capacity ----

template <typename F, typename Request>
void DescribeMeasure(F& fields, Request& request) {
  fields.Default("ReturnConsumedCapacity", request.measure, tables::Measure::kNone);
}

// Sizes of item collections are not reported.
template <typename F>
void DescribeCollections(F& fields) {
  fields.WithoutEffect("ReturnItemCollectionMetrics");
}

// {"CapacityUnits": 1.0}
struct Units {
  double units = 0;
};
template <typename F>
void Describe(F& fields, Ref<F, Units> units) {
  fields.Required("CapacityUnits", units.units);
}

namespace {

using UnitsByName = std::map<std::string, double>;

double SumOf(const UnitsByName& units) {
  double sum = 0;
  for (const auto& [name, one] : units) sum += one;
  return sum;
}

void WriteUnits(FieldWriter& fields, std::string_view member, const UnitsByName& units) {
  std::map<std::string, Units> written;
  for (const auto& [name, one] : units) written[name] = {one};
  fields.UnlessEmpty(member, written);
}

void ReadUnits(FieldReader& fields, std::string_view member, UnitsByName* units) {
  std::map<std::string, Units> read;
  fields.Always(member, read);
  for (const auto& [name, one] : read) (*units)[name] = one.units;
}

void WriteCapacity(FieldWriter& fields, const tables::Capacity& capacity) {
  fields.Required("CapacityUnits", capacity.table_units + SumOf(capacity.global_indexes) +
                                       SumOf(capacity.local_indexes));
  if (capacity.measure != tables::Measure::kIndexes) return;
  fields.Required("Table", Units{capacity.table_units});
  WriteUnits(fields, "GlobalSecondaryIndexes", capacity.global_indexes);
  WriteUnits(fields, "LocalSecondaryIndexes", capacity.local_indexes);
}

void ReadCapacity(FieldReader& fields, tables::Capacity& capacity) {
  fields.Required("CapacityUnits", capacity.table_units);
  std::optional<Units> table;
  fields.Optional("Table", table);
  if (!table) return;
  capacity.measure = tables::Measure::kIndexes;
  capacity.table_units = table->units;
  ReadUnits(fields, "GlobalSecondaryIndexes", &capacity.global_indexes);
  ReadUnits(fields, "LocalSecondaryIndexes", &capacity.local_indexes);
}

}  // namespace

template <typename F>
void Describe(F& fields, Ref<F, tables::Capacity> capacity) {
  fields.Required("TableName", capacity.table);
  if constexpr (std::is_same_v<F, FieldWriter>)
    WriteCapacity(fields, capacity);
  else
    ReadCapacity(fields, capacity);
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
  DescribeBindings(fields, request);
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
  DescribeBindings(fields, check);
  fields.Default("ReturnValuesOnConditionCheckFailure", check.on_failure,
                 tables::OnConditionFailure::kNone);
}

template <typename F, typename Request>
void DescribeSingleWrite(F& fields, Request& request) {
  DescribeAction(fields, request);
  fields.Default("ReturnValues", request.return_values, tables::ReturnValues::kNone);
  DescribeMeasure(fields, request);
  DescribeCollections(fields);
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

template <typename F>
void Describe(F& fields, Ref<F, tables::WriteReply> reply) {
  fields.Optional("Attributes", reply.attributes);
  fields.Optional("ConsumedCapacity", reply.capacity);
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
  DescribeBindings(fields, request);
  fields.Optional("Select", request.select);
  fields.Default("ConsistentRead", request.consistent, false);
  fields.Optional("Limit", request.limit);
  fields.Optional("ExclusiveStartKey", request.start_after);
  DescribeMeasure(fields, request);
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
  if constexpr (std::is_same_v<F, FieldReader>) {
    Legacy legacy(&fields, &request.names, &request.values);
    legacy.Filter("ScanFilter", &request.filter);
    legacy.Projection(&request.projection);
    legacy.Finish();
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::Page> page) {
  fields.Required("Count", page.count);
  fields.Required("ScannedCount", page.scanned);
  fields.Optional("LastEvaluatedKey", page.last);
  fields.Optional("ConsumedCapacity", page.capacity);
  // A reply to Select=COUNT has no items.
  const bool is_written = std::is_same_v<F, FieldWriter>;
  if (is_written && page.items.empty() && page.count > 0) return;
  fields.Always("Items", page.items);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::BatchGetRequest::Part> part) {
  fields.Required("Keys", part.keys);
  fields.Optional("ProjectionExpression", part.projection);
  DescribeNames(fields, part);
  fields.Default("ConsistentRead", part.consistent, false);
  if constexpr (std::is_same_v<F, FieldReader>) {
    Legacy legacy(&fields, &part.names, nullptr);
    legacy.Projection(&part.projection);
    legacy.Finish();
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::BatchGetRequest> request) {
  fields.Required("RequestItems", request.tables);
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
  DescribeMeasure(fields, request);
  DescribeCollections(fields);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::BatchWriteReply> reply) {
  fields.Always("UnprocessedItems", reply.unprocessed);
  DescribeCapacities(fields, reply);
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

// In transactions DynamoDB says once more which kind of units they are.
struct TransactCapacity {
  tables::Capacity capacity;
  std::string_view kind;
};
template <typename F>
void Describe(F& fields, Ref<F, TransactCapacity> of_table) {
  Describe(fields, of_table.capacity);
  if constexpr (std::is_same_v<F, FieldWriter>) {
    const tables::Capacity& capacity = of_table.capacity;
    fields.Required(of_table.kind, capacity.table_units + SumOf(capacity.global_indexes) +
                                       SumOf(capacity.local_indexes));
  }
}

template <typename F, typename Capacities>
void DescribeTransactCapacities(F& fields, Capacities& capacities, std::string_view kind) {
  std::vector<TransactCapacity> list;
  for (const tables::Capacity& capacity : capacities) list.push_back({capacity, kind});
  fields.UnlessEmpty("ConsumedCapacity", list);
  if constexpr (std::is_same_v<F, FieldReader>) {
    for (TransactCapacity& one : list) capacities.push_back(std::move(one.capacity));
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::TransactWriteRequest> request) {
  fields.Required("TransactItems", request.actions);
  fields.Optional("ClientRequestToken", request.token);
  DescribeMeasure(fields, request);
  DescribeCollections(fields);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::TransactGetRequest> request) {
  std::vector<std::variant<tables::GetRequest>> actions(request.gets.begin(), request.gets.end());
  fields.Required("TransactItems", actions);
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
  FieldReader fields(body, Unknown::kIgnored);
  fields.Optional("Item", reply.failed_on);
  if (Status read = fields.Finish(); !read) return Result<tables::WriteReply>(read.error());
  return Result(std::move(reply));
}

Message EncodeCancellation(const std::vector<tables::CancellationReason>& reasons) {
  std::string codes;
  for (const tables::CancellationReason& reason : reasons) {
    for (const auto& row : NamesOf<tables::CancellationCode>::kRows) {
      if (row.value == reason.code) codes.append(codes.empty() ? "" : ", ").append(row.name);
    }
  }
  const std::string message = fmt::format(
      "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]", codes);
  return EncodeException(kTransactionCancelled, message, [&](JsonWriter* writer) {
    FieldWriter(writer).Required("CancellationReasons", reasons);
  });
}

Result<std::vector<tables::CancellationReason>> DecodeReasons(const Json& body) {
  std::vector<tables::CancellationReason> reasons;
  FieldReader fields(body, Unknown::kIgnored);
  fields.Always("CancellationReasons", reasons);
  TRY(fields.Finish());
  return reasons;
}

Message EncodeTransactWrite(const tables::TransactWriteReply& reply) {
  switch (reply.outcome) {
    case tables::TransactOutcome::kApplied:
      return {.body = Encode(reply)};
    case tables::TransactOutcome::kCancelled:
      return EncodeCancellation(reply.reasons);
    case tables::TransactOutcome::kTokenMismatch:
      return EncodeException(kTokenMismatch,
                             "The provided client token does not match the original request: a "
                             "token identifies one set of actions");
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
     .decode_request = &Decode<tables::TransactGetRequest, Unknown::kRefused>,
     .encode_reply = &EncodeTransactGet,
     .decode_reply = &Decode<tables::TransactGetReply, Unknown::kIgnored>,
     .decode_outcome = &DecodeRefusedReading};
constinit const Operation<tables::TransactWriteRequest, tables::TransactWriteReply>
    kTransactWriteItems = {
        .name = "TransactWriteItems",
        .encode_request = &Encode<tables::TransactWriteRequest>,
        .decode_request = &Decode<tables::TransactWriteRequest, Unknown::kRefused>,
        .encode_reply = &EncodeTransactWrite,
        .decode_reply = &Decode<tables::TransactWriteReply, Unknown::kIgnored>,
        .decode_outcome = &DecodeRefusedTransaction};

}  // namespace tidemark::wire
