#include "wire/calls.h"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "item/json.h"
#include "wire/definitions.h"
#include "wire/fields.h"
#include "wire/operation.h"
#include "wire/statements.h"

namespace tidemark::wire {

namespace {

using tables::Tables;

// ---- The tables that a request names ----

using TableNames = std::vector<std::string>;

template <typename Request>
TableNames TablesOf(const Request& request) {
  if constexpr (requires { TableNames{request.table}; }) {
    return {TableOfArn(request.table)};
  } else if constexpr (requires { request.arn; }) {
    return {TableOfArn(request.arn)};
  } else {
    return {};
  }
}
TableNames TablesOf(const GetItemRequest& request) { return {request.get.table}; }
TableNames TablesOf(const tables::ListStreamsRequest& request) {
  return request.table ? TableNames{*request.table} : TableNames();
}
// An iterator begins with the ARN of its stream; the tables check that it is the right one.
TableNames TablesOf(const tables::RecordsRequest& request) {
  const std::string table = TableOfArn(request.iterator);
  return table == request.iterator ? TableNames() : TableNames{table};
}
template <typename Parts>
TableNames NamesIn(const Parts& parts) {
  TableNames names;
  for (const auto& [table, part] : parts) names.push_back(table);
  return names;
}
TableNames TablesOf(const tables::BatchGetRequest& request) { return NamesIn(request.tables); }
TableNames TablesOf(const tables::BatchWriteRequest& request) { return NamesIn(request.tables); }
TableNames TablesOf(const tables::TransactGetRequest& request) {
  TableNames names;
  for (const tables::GetRequest& get : request.gets) names.push_back(get.table);
  return names;
}
TableNames TablesOf(const tables::TransactWriteRequest& request) {
  TableNames names;
  for (const tables::TransactAction& action : request.actions) {
    names.push_back(std::visit([](const auto& one) { return one.table; }, action));
  }
  return names;
}

template <typename Request>
TableNames ChangedTables(const Request& request) {
  return TablesOf(request);
}
TableNames ChangedTables(const tables::TransactWriteRequest& request) {
  TableNames names;
  for (const tables::TransactAction& action : request.actions) {
    if (std::holds_alternative<tables::ConditionCheck>(action)) continue;
    names.push_back(std::visit([](const auto& one) { return one.table; }, action));
  }
  return names;
}

// ---- What each operation does ----

// Operations with a method of Tables that takes the request and blocks.
template <auto method>
constexpr auto kBlocking =
    [](Tables& tables, const auto& request) { return (tables.*method)(request); };

// Others are submitted. A read that has not begun at the deadline is not made; a write always is.
using MaybeDeadline = std::optional<Deadline>;

constexpr auto kSubmitted = [](Tables& tables, auto request, const MaybeDeadline& deadline) {
  return tables.Submit(std::move(request), deadline);
};
constexpr auto kSubmittedWrite = [](Tables& tables, auto request, const MaybeDeadline& deadline) {
  return tables.Submit(Tables::WriteRequest(std::move(request)), deadline);
};

// Of a put in a batch, DynamoDB only says that its key does not fit.
Error OfBatch(Error error) {
  constexpr std::string_view kMissing =
      "One or more parameter values were invalid: Missing the key ";
  constexpr std::string_view kOtherType =
      "One or more parameter values were invalid: Type mismatch for key ";
  if (error.message.starts_with(kMissing) || error.message.starts_with(kOtherType)) {
    error.message = "The provided key element does not match the schema";
  }
  return error;
}
constexpr auto kSubmittedBatch = [](Tables& tables, tables::BatchWriteRequest request,
                                    const MaybeDeadline& deadline) {
  return tables.Submit(std::move(request), deadline)
      .Then([](Result<tables::BatchWriteReply> reply) -> Result<tables::BatchWriteReply> {
        if (!reply) return OfBatch(std::move(reply).error());
        return reply;
      });
};

// What an item costs depends on its size, which only a batch tells.
constexpr auto kGet = [](Tables& tables, const GetItemRequest& request,
                         const MaybeDeadline& deadline) -> Later<GetItemReply> {
  const tables::GetRequest& get = request.get;
  if (request.measure == tables::Measure::kNone) {
    return tables.Submit(get, deadline)
        .Then([](Result<std::optional<item::Item>> item) -> Result<GetItemReply> {
          return GetItemReply{.item = TRY(std::move(item))};
        });
  }
  tables::BatchGetRequest batch{.measure = request.measure};
  batch.tables[get.table] = {.keys = {get.key},
                             .projection = get.projection,
                             .names = get.names,
                             .consistent = request.consistent};
  return tables.Submit(std::move(batch), deadline)
      .Then([table = get.table](Result<tables::BatchGetReply> answer) -> Result<GetItemReply> {
        tables::BatchGetReply reply = TRY(std::move(answer));
        GetItemReply got;
        std::vector<item::Item>& items = reply.items[table];
        if (!items.empty()) got.item = std::move(items.front());
        if (!reply.capacity.empty()) got.capacity = std::move(reply.capacity.front());
        return got;
      });
};

template <typename Make>
constexpr bool kSubmits = std::is_same_v<Make, std::remove_cvref_t<decltype(kSubmitted)>> ||
                          std::is_same_v<Make, std::remove_cvref_t<decltype(kSubmittedWrite)>> ||
                          std::is_same_v<Make, std::remove_cvref_t<decltype(kSubmittedBatch)>> ||
                          std::is_same_v<Make, std::remove_cvref_t<decltype(kGet)>>;

constexpr auto kDescribe = [](Tables& tables, const TableRequest& request) {
  return tables.DescribeTable(request.table);
};
// As in DynamoDB, a reply says what has begun. Here it is done already, as a description shows.
constexpr auto kCreate =
    [](Tables& tables,
       const tables::CreateTableRequest& request) -> Result<tables::TableDescription> {
  tables::TableDescription table = TRY(tables.CreateTable(request));
  table.state = tables::TableState::kCreating;
  for (tables::IndexDescription& index : table.indexes) {
    index.state = tables::IndexState::kCreating;
  }
  return table;
};

Status CheckThroughput(const tables::UpdateTableRequest& request,
                       const tables::TableDescription& table) {
  if (!request.throughput) return Done{};
  if (!table.throughput && !request.provisioned) return ThroughputOnDemand();
  if (request.throughput != table.throughput) return Done{};
  return Invalid(fmt::format(
      "The provisioned throughput for the table will not change. The requested value equals the "
      "current value. Current ReadCapacityUnits provisioned for the table: {0}. Requested "
      "ReadCapacityUnits: {0}. Current WriteCapacityUnits provisioned for the table: {1}. "
      "Requested WriteCapacityUnits: {1}. Refer to the Amazon DynamoDB Developer Guide for current "
      "limits and how to request higher limits.",
      request.throughput->read_units, request.throughput->write_units));
}

constexpr auto kUpdate =
    [](Tables& tables,
       const tables::UpdateTableRequest& request) -> Result<tables::TableDescription> {
  const tables::TableDescription before = TRY(tables.DescribeTable(request.table));
  TRY(CheckThroughput(request, before));
  tables::TableDescription table = TRY(tables.UpdateTable(request));
  table.state = tables::TableState::kUpdating;
  for (tables::IndexDescription index : before.indexes) {
    if (index.spec.name != request.drop_index) continue;
    index.state = tables::IndexState::kDeleting;
    table.indexes.push_back(std::move(index));
  }
  return table;
};

constexpr auto kDrop = [](Tables& tables, const TableRequest& request) {
  return tables.DeleteTable(request.table);
};
constexpr auto kSetTimeToLive =
    [](Tables& tables,
       const tables::SetTimeToLiveRequest& request) -> Result<tables::SetTimeToLiveRequest> {
  TRY(tables.SetTimeToLive(request));
  return request;
};
constexpr auto kShowTimeToLive = [](Tables& tables,
                                    const TableRequest& request) -> Result<TimeToLive> {
  return TimeToLive{TRY(tables.DescribeTable(request.table)).ttl_attribute};
};
// DynamoDB's text for a table that is named by its ARN.
template <typename T>
Result<T> OfResource(const std::string& arn, Result<T> reply) {
  if (reply || reply.error().code != ErrorCode::kNotFound) return reply;
  return Error{ErrorCode::kNotFound,
               fmt::format("Requested resource not found: ResourcArn: {} not found", arn)};
}
constexpr auto kTag = [](Tables& tables, const TagResourceRequest& request) {
  const std::string table = TableOfArn(request.table);
  return OfResource(request.table, tables.Tag({.table = table, .set = request.tags}));
};
constexpr auto kUntag = [](Tables& tables, const UntagResourceRequest& request) {
  const std::string table = TableOfArn(request.table);
  return OfResource(request.table, tables.Tag({.table = table, .remove = request.names}));
};
constexpr auto kListTags = [](Tables& tables, const TableRequest& request) {
  return OfResource(request.table, tables.ListTags(TableOfArn(request.table)));
};
constexpr auto kShowStream = [](Tables& tables,
                                const StreamRequest& request) -> Result<tables::StreamDescription> {
  tables::StreamDescription stream = TRY(tables.DescribeStream(request.arn));
  if (request.after_shard) {
    std::erase_if(stream.shards,
                  [&](const tables::Shard& shard) { return shard.id <= *request.after_shard; });
  }
  return stream;
};

// ---- What is only described ----

Later<Message> Answered(std::string body) { return Message{.body = std::move(body)}; }

// The limits of an account, as AWS has them. Nothing here is limited by them.
Result<Call> DecodeDescribeLimits(const Json& /*body*/, Layer /*layer*/) {
  return Call{.make = [](Tables&, const MaybeDeadline&) {
    return Answered(R"({"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,)"
                    R"("TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000})");
  }};
}

// A table has no backups of AWS's kind.
Result<Call> DecodeDescribeContinuousBackups(const Json& body, Layer layer) {
  const auto request = TRY(kDescribeTable.decode_request(body, layer));
  return Call{
      .tables = {request.table},
      .make = [request](Tables& tables, const MaybeDeadline&) -> Later<Message> {
        if (const auto found = tables.DescribeTable(request.table); !found) {
          if (found.error().code != ErrorCode::kNotFound) return EncodeError(found.error());
          return EncodeException("TableNotFoundException", "Table not found: " + request.table);
        }
        return Answered(R"({"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",)"
                        R"("PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":)"
                        R"("DISABLED"}}})");
      }};
}

// ---- The table ----

enum class Effect { kReads, kChanges };

// A proxy or a check in front of this server may have read the other one of the two.
Status RefuseRepeatedNames(const Json& body) {
  const std::optional<std::string_view> repeated = RepeatedName(body);
  if (!repeated) return Done{};
  return Invalid(fmt::format("{}the field '{}' is given twice in one object: leave one out",
                             item::kSerializationPrefix, *repeated));
}

template <auto decode>
Result<Call> Checked(const Json& body, Layer layer) {
  TRY(RefuseRepeatedNames(body));
  return decode(body, layer);
}

template <typename Request>
bool OnlyCounts(const Request& request) {
  if constexpr (requires { request.select; }) return request.select == tables::Select::kCount;
  return false;
}

template <const auto& operation, typename Reply>
Message EncodeAnswer(const Result<Reply>& answer, Layer layer, bool only_counts) {
  if constexpr (std::is_same_v<Reply, tables::Page>) {
    if (only_counts && answer) return EncodeCounts(*answer);
  }
  return EncodeReply(operation, answer, layer);
}

template <const auto& operation, Effect effect, typename Make>
Result<Call> DecodeCall(const Json& body, Layer layer) {
  using Reply = typename std::remove_cvref_t<decltype(operation)>::Reply;
  auto request = TRY(operation.decode_request(body, layer));
  Call call{.tables = TablesOf(request)};
  if constexpr (effect == Effect::kChanges) call.changed_tables = ChangedTables(request);
  if constexpr (requires { request.token; }) call.stores_token = request.token.has_value();
  call.make = [request = std::move(request), layer](
                  Tables& tables, const MaybeDeadline& deadline) -> Later<Message> {
    Later<Reply> reply = [&]() -> Later<Reply> {
      if constexpr (kSubmits<Make>)
        return Make()(tables, request, deadline);
      else
        return Make()(tables, request);
    }();
    return std::move(reply).Then([layer, only_counts = OnlyCounts(request)](Result<Reply> answer) {
      return EncodeAnswer<operation>(answer, layer, only_counts);
    });
  };
  return call;
}

template <const auto& operation, Effect effect, typename Make>
CallRow Row(Make /*make*/, Layer layer = Layer::kOlder) {
  return {.name = operation.name,
          .service = operation.service,
          .blocks = !kSubmits<Make>,
          .layer = layer,
          .decode = &Checked<&DecodeCall<operation, effect, Make>>};
}

const auto kCalls = std::to_array<CallRow>({
    CallRow{.name = "BatchExecuteStatement",
            .blocks = true,
            .decode = &Checked<&DecodeBatchExecuteStatement>},
    Row<kBatchGetItem, Effect::kReads>(kSubmitted, Layer::kNewer),
    Row<kBatchWriteItem, Effect::kChanges>(kSubmittedBatch),
    Row<kCreateTable, Effect::kChanges>(kCreate),
    Row<kDeleteItem, Effect::kChanges>(kSubmittedWrite, Layer::kEnveloping),
    Row<kDeleteTable, Effect::kChanges>(kDrop),
    CallRow{.name = "DescribeContinuousBackups",
            .blocks = true,
            .decode = &Checked<&DecodeDescribeContinuousBackups>},
    CallRow{.name = "DescribeLimits", .decode = &Checked<&DecodeDescribeLimits>},
    Row<kDescribeStream, Effect::kReads>(kShowStream),
    Row<kDescribeTable, Effect::kReads>(kDescribe),
    Row<kDescribeTimeToLive, Effect::kReads>(kShowTimeToLive),
    CallRow{
        .name = "ExecuteStatement", .blocks = true, .decode = &Checked<&DecodeExecuteStatement>},
    CallRow{.name = "ExecuteTransaction",
            .blocks = true,
            .decode = &Checked<&DecodeExecuteTransaction>},
    Row<kGetItem, Effect::kReads>(kGet, Layer::kNewer),
    Row<kGetRecords, Effect::kReads>(kSubmitted),
    Row<kGetShardIterator, Effect::kReads>(kBlocking<&Tables::GetShardIterator>),
    Row<kListStreams, Effect::kReads>(kBlocking<&Tables::ListStreams>),
    Row<kListTables, Effect::kReads>(kBlocking<&Tables::ListTables>),
    Row<kListTagsOfResource, Effect::kReads>(kListTags),
    Row<kPutItem, Effect::kChanges>(kSubmittedWrite, Layer::kEnveloping),
    Row<kQuery, Effect::kReads>(kSubmitted, Layer::kNewer),
    Row<kScan, Effect::kReads>(kSubmitted),
    Row<kTagResource, Effect::kChanges>(kTag),
    Row<kTransactGetItems, Effect::kReads>(kSubmitted),
    Row<kTransactWriteItems, Effect::kChanges>(kSubmitted),
    Row<kUntagResource, Effect::kChanges>(kUntag),
    Row<kUpdateItem, Effect::kChanges>(kSubmittedWrite, Layer::kEnveloping),
    Row<kUpdateTable, Effect::kChanges>(kUpdate),
    Row<kUpdateTimeToLive, Effect::kChanges>(kSetTimeToLive),
});

}  // namespace

std::span<const CallRow> Calls() { return kCalls; }

const CallRow* FindCall(std::string_view name) {
  const auto* found = std::ranges::find(kCalls, name, &CallRow::name);
  return found == kCalls.end() ? nullptr : found;
}

}  // namespace tidemark::wire
