#include "tests/linearizability/table_client.h"

#include <array>
#include <utility>
#include <variant>

namespace tidemark::testing {
namespace {

constexpr const char* kTable = "registers";
constexpr uint64_t kKeys = 5;

item::Value NumberOf(int64_t value) { return item::Number::FromInt(value); }

item::Item KeyOf(const Operation& operation) { return {{"id", operation.key}}; }

item::Item ItemOf(const Operation& operation) {
  return {{"id", operation.key}, {"n", NumberOf(operation.argument)}};
}

Value ValueOf(const std::optional<item::Item>& item) {
  if (!item) return std::nullopt;
  const item::Value* value = item->Find("n");
  CHECK(value != nullptr && value->As<item::Number>() != nullptr);
  return value->As<item::Number>()->Floor();
}

tables::UpdateRequest IncrementOf(const Operation& operation) {
  return {.table = kTable,
          .key = KeyOf(operation),
          .update = "ADD n :amount",
          .values = {{":amount", NumberOf(operation.argument)}}};
}

tables::PutRequest PutOf(const Operation& operation) {
  tables::PutRequest request{.table = kTable, .item = ItemOf(operation)};
  if (operation.kind == Kind::kPutIfAbsent) request.condition = "attribute_not_exists(id)";
  if (operation.kind == Kind::kPutIfEquals) {
    request.condition = "n = :expected";
    request.values = {{":expected", NumberOf(operation.expected)}};
  }
  return request;
}

tables::DeleteRequest DeleteOf(const Operation& operation) {
  tables::DeleteRequest request{.table = kTable, .key = KeyOf(operation)};
  if (operation.kind == Kind::kDeleteIfEquals) {
    request.condition = "n = :expected";
    request.values = {{":expected", NumberOf(operation.expected)}};
  }
  return request;
}

tables::TransactAction ActionOf(const Operation& operation) {
  switch (operation.kind) {
    case Kind::kIncrement:
      return IncrementOf(operation);
    case Kind::kDelete:
    case Kind::kDeleteIfEquals:
      return DeleteOf(operation);
    default:
      return PutOf(operation);
  }
}

// Asks for the value: after an update, before a put or delete.
void AskForValue(tables::PutRequest& request) {
  request.return_values = tables::ReturnValues::kAllOld;
  request.on_failure = tables::OnConditionFailure::kAllOld;
}
void AskForValue(tables::DeleteRequest& request) {
  request.return_values = tables::ReturnValues::kAllOld;
  request.on_failure = tables::OnConditionFailure::kAllOld;
}
void AskForValue(tables::UpdateRequest& request) {
  request.return_values = tables::ReturnValues::kUpdatedNew;
}
void AskForValue(tables::ConditionCheck&) {}

Result<tables::WriteReply> Send(tables::Tables& tables, const tables::PutRequest& request) {
  return tables.Put(request);
}
Result<tables::WriteReply> Send(tables::Tables& tables, const tables::DeleteRequest& request) {
  return tables.Delete(request);
}
Result<tables::WriteReply> Send(tables::Tables& tables, const tables::UpdateRequest& request) {
  return tables.Update(request);
}
Result<tables::WriteReply> Send(tables::Tables&, const tables::ConditionCheck&) {
  return Invalid("a condition check is no operation of its own");
}

}  // namespace

tables::CreateTableRequest TableClient::Table() {
  return {.table = kTable, .keys = {.partition = {.name = "id"}}};
}

TableClient::TableClient(ClientOptions options, Recorder<Operation>* recorder)
    : options_(std::move(options)),
      recorder_(recorder),
      random_(options_.seed * 1'000 + static_cast<uint64_t>(options_.number)) {}

Status TableClient::Step(tables::Tables& tables) {
  Operation operation = Next();
  operation.called = recorder_->Now();
  options_.meet();
  Result<Answer> answer = Do(tables, operation);
  if (!answer) {
    const ErrorCode code = answer.error().code;
    if (code != ErrorCode::kUnavailable && code != ErrorCode::kConflict) recorder_->Add(operation);
    return answer.error();
  }
  operation.outcome = answer->outcome;
  operation.seen = answer->seen;
  if (operation.seen && *operation.seen) last_seen_[operation.key] = **operation.seen;
  recorder_->Add(std::move(operation));
  return Done{};
}

Operation TableClient::Next() {
  static constexpr std::array kKinds = {
      Kind::kGet,         Kind::kGet,       Kind::kGet,       Kind::kPut,    Kind::kPutIfAbsent,
      Kind::kPutIfEquals, Kind::kIncrement, Kind::kIncrement, Kind::kDelete, Kind::kDeleteIfEquals};
  Operation operation{.client = options_.number,
                      .key = "k" + std::to_string(random_.Below(kKeys)),
                      .kind = kKinds[random_.Below(kKinds.size())]};
  // The values are far apart, so that a value shows which put of which client it comes from.
  const int64_t value = (options_.number * int64_t{10'000} + ++puts_) * 1'000;
  operation.argument = operation.kind == Kind::kIncrement ? 1 : value;
  operation.expected = last_seen_[operation.key];
  return operation;
}

Result<TableClient::Answer> TableClient::Do(tables::Tables& tables, const Operation& operation) {
  const bool in_two_steps = options_.increments == Increments::kReadThenWrite;
  if (operation.kind == Kind::kIncrement && in_two_steps) {
    return IncrementInTwoSteps(tables, operation);
  }
  Result<Answer> answer =
      operation.kind == Kind::kGet ? Get(tables, operation) : Write(tables, operation);
  if (in_two_steps) options_.meet();
  return answer;
}

Result<TableClient::Answer> TableClient::Get(tables::Tables& tables, const Operation& operation) {
  const tables::GetRequest get{.table = kTable, .key = KeyOf(operation)};
  std::optional<item::Item> item;
  switch (random_.Below(6)) {
    case 0:
      item = TRY(tables.TransactGet({.gets = {get}})).items.at(0);
      break;
    case 1: {
      tables::BatchGetReply reply =
          TRY(tables.BatchGet({.tables = {{kTable, {.keys = {get.key}}}}}));
      if (!reply.items[kTable].empty()) item = reply.items[kTable][0];
      break;
    }
    case 2: {
      tables::Page page = TRY(tables.Query({.table = kTable,
                                            .key_condition = "id = :id",
                                            .values = {{":id", operation.key}},
                                            .consistent = true}));
      if (!page.items.empty()) item = page.items[0];
      break;
    }
    default:
      item = TRY(tables.Get(get));
  }
  return Answer{.seen = ValueOf(item)};
}

Result<TableClient::Answer> TableClient::Write(tables::Tables& tables, const Operation& operation) {
  const bool unconditional = operation.kind == Kind::kPut || operation.kind == Kind::kDelete;
  const uint64_t road = random_.Below(8);
  if (road == 0) return WriteInTransaction(tables, ActionOf(operation));
  if (road == 1 && unconditional) return WriteInBatch(tables, operation);
  return WriteAlone(tables, ActionOf(operation));
}

Result<TableClient::Answer> TableClient::WriteAlone(tables::Tables& tables,
                                                    tables::TransactAction action) {
  // In half of the cases the reply only says whether the write was applied, as for most callers.
  const bool asks = random_.Below(2) == 0;
  if (asks) std::visit([](auto& request) { AskForValue(request); }, action);
  const tables::WriteReply reply =
      TRY(std::visit([&](const auto& request) { return Send(tables, request); }, action));
  Answer answer{.outcome = reply.applied ? Outcome::kApplied : Outcome::kNotApplied};
  if (asks) answer.seen = ValueOf(reply.applied ? reply.attributes : reply.failed_on);
  return answer;
}

Result<TableClient::Answer> TableClient::WriteInBatch(tables::Tables& tables,
                                                      const Operation& operation) {
  using Batch = tables::BatchWriteRequest;
  const Batch::Action action = operation.kind == Kind::kPut
                                   ? Batch::Action(Batch::Put{ItemOf(operation)})
                                   : Batch::Action(Batch::Delete{KeyOf(operation)});
  const tables::BatchWriteReply reply = TRY(tables.BatchWrite({.tables = {{kTable, {action}}}}));
  if (!reply.unprocessed.empty()) return Error{ErrorCode::kUnavailable, "left unprocessed"};
  return Answer{};
}

Result<TableClient::Answer> TableClient::WriteInTransaction(tables::Tables& tables,
                                                            tables::TransactAction action) {
  const tables::TransactWriteReply reply = TRY(tables.TransactWrite({.actions = {action}}));
  if (reply.outcome == tables::TransactOutcome::kApplied) return Answer{};
  if (reply.reasons.at(0).code != tables::CancellationCode::kConditionalCheckFailed) {
    return Error{ErrorCode::kConflict, reply.reasons[0].message};
  }
  return Answer{.outcome = Outcome::kNotApplied};
}

Result<TableClient::Answer> TableClient::IncrementInTwoSteps(tables::Tables& tables,
                                                             const Operation& operation) {
  const auto before = ValueOf(TRY(tables.Get({.table = kTable, .key = KeyOf(operation)})));
  options_.meet();
  Operation put = operation;
  put.argument = before.value_or(0) + operation.argument;
  TRY(tables.Put(PutOf(put)));
  return Answer{.seen = Value(put.argument)};
}

}  // namespace tidemark::testing
