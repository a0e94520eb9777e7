#include "partiql/transaction.h"

#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "partiql/translate.h"

namespace tidemark::partiql {

namespace {

using tables::CancellationCode;
using tables::TransactOutcome;

constexpr std::string_view kNone = "None";

// A statement as a part of a transaction; or why it cancels the transaction.
using Part = std::variant<tables::GetRequest, tables::TransactAction, Failure>;

Result<Part> PartOf(const Select& select, const tables::TableDescription& table) {
  if (select.index) return Invalid("Reads on indices are not supported within transactions.");
  if (auto get = TranslateToGet(select, table)) return Part(*std::move(get));
  return Invalid(
      "Select statements within ExecuteTransaction must specify the primary key in the where "
      "clause.");
}

Result<Part> PartOf(const Insert& insert, const tables::TableDescription& table) {
  return Part(tables::TransactAction(Translate(insert, table)));
}

Result<Part> PartOf(const Exists& exists, const tables::TableDescription& table) {
  return Part(tables::TransactAction(TRY(Translate(exists, table))));
}

// An UPDATE or a DELETE.
template <typename Change>
Result<Part> PartOf(const Change& change, const tables::TableDescription& table) {
  if (change.returning) {
    return Invalid("RETURNING clause is not supported in ExecuteTransaction.");
  }
  return Part(tables::TransactAction(TRY(Translate(change, table))));
}

Result<Part> PartOf(const Statement& statement, const tables::TableDescription& table) {
  auto part = std::visit([&](const auto& one) { return PartOf(one, table); }, statement);
  // Of a write that does not name one item, DynamoDB says what it says of a wrong key.
  const bool has_no_key = !part && part.error().message == kNoWholeKey;
  if (!has_no_key) return part;
  return Part(Failure{.code = "ValidationError",
                      .message = "The provided key element does not match the schema"});
}

// What the statements are together.
struct Plan {
  std::vector<tables::GetRequest> gets;
  std::vector<tables::TransactAction> actions;
  std::vector<Failure> reasons;  // One a statement.
  bool is_cancelled = false;

  void Add(Part part, tables::OnConditionFailure on_failure) {
    reasons.push_back({.code = std::string(kNone)});
    if (auto* get = std::get_if<tables::GetRequest>(&part)) {
      gets.push_back(std::move(*get));
    } else if (auto* action = std::get_if<tables::TransactAction>(&part)) {
      std::visit([&](auto& one) { one.on_failure = on_failure; }, *action);
      actions.push_back(std::move(*action));
    } else {
      reasons.back() = std::get<Failure>(std::move(part));
      is_cancelled = true;
    }
  }
};

Status CheckKinds(const TransactionRequest& request) {
  size_t reads = 0;
  for (const TransactionRequest::One& one : request.statements) {
    if (std::holds_alternative<Select>(*one.statement)) ++reads;
  }
  if (reads == 0 || reads == request.statements.size()) return Done{};
  return Invalid(
      "ExecuteTransaction API does not support both read and write operations in the same "
      "request.");
}

Result<Plan> PlanOf(tables::Tables* tables, const TransactionRequest& request) {
  std::map<std::string, Result<tables::TableDescription>> described;
  Plan plan;
  for (size_t i = 0; i < request.statements.size(); ++i) {
    const Statement& statement = *request.statements[i].statement;
    const std::string& name = TableOf(statement);
    if (!described.contains(name)) described.emplace(name, Describe(tables, name));
    const auto& table = described.at(name);
    if (!table && table.error().code != ErrorCode::kNotFound) return table.error();
    if (!table) {
      plan.Add(Part(Failure{.code = std::string(CodeOf(table.error())),
                            .message = table.error().message}),
               {});
      continue;
    }
    auto part = PartOf(statement, *table);
    if (!part) {
      return Invalid(
          fmt::format("Validation failed in TransactStatements[{}]: {}", i, part.error().message));
    }
    plan.Add(*std::move(part), request.statements[i].on_failure);
  }
  return plan;
}

Failure FailureOf(tables::CancellationReason reason, bool is_insert) {
  switch (reason.code) {
    case CancellationCode::kNone:
      return {.code = std::string(kNone)};
    case CancellationCode::kConditionalCheckFailed:
      if (is_insert) return {.code = "DuplicateItem", .message = std::string(kDuplicateText)};
      return {.code = "ConditionalCheckFailed",
              .message = std::move(reason.message),
              .item = std::move(reason.item)};
    case CancellationCode::kTransactionConflict:
      return {.code = "TransactionConflict", .message = std::move(reason.message)};
    case CancellationCode::kValidationError:
      return {.code = "ValidationError", .message = std::move(reason.message)};
  }
  return {};
}

Later<TransactionReply> Read(tables::Tables* tables, const TransactionRequest& request, Plan plan) {
  return tables
      ->Submit(tables::TransactGetRequest{.gets = std::move(plan.gets), .measure = request.measure},
               request.deadline)
      .Then([statements = request.statements](
                Result<tables::TransactGetReply> answer) -> Result<TransactionReply> {
        tables::TransactGetReply got = TRY(std::move(answer));
        TransactionReply reply{.is_read = true, .capacity = std::move(got.capacity)};
        if (got.cancelled) {
          reply.outcome = TransactOutcome::kCancelled;
          for (auto& reason : got.reasons) {
            reply.reasons.push_back(FailureOf(std::move(reason), /*is_insert=*/false));
          }
          return reply;
        }
        for (size_t i = 0; i < got.items.size(); ++i) {
          std::optional<item::Item>& item = got.items[i];
          const auto& select = std::get<Select>(*statements[i].statement);
          if (item) item = Projected(select, *std::move(item));
          reply.items.push_back(std::move(item));
        }
        return reply;
      });
}

Later<TransactionReply> Write(tables::Tables* tables, const TransactionRequest& request,
                              Plan plan) {
  return tables
      ->Submit(tables::TransactWriteRequest{.actions = std::move(plan.actions),
                                            .token = request.token,
                                            .measure = request.measure},
               request.deadline)
      .Then([statements = request.statements](
                Result<tables::TransactWriteReply> answer) -> Result<TransactionReply> {
        tables::TransactWriteReply written = TRY(std::move(answer));
        TransactionReply reply{.outcome = written.outcome, .capacity = std::move(written.capacity)};
        for (size_t i = 0; i < written.reasons.size(); ++i) {
          const bool is_insert = std::holds_alternative<Insert>(*statements[i].statement);
          reply.reasons.push_back(FailureOf(std::move(written.reasons[i]), is_insert));
        }
        return reply;
      });
}

}  // namespace

Later<TransactionReply> ExecuteTransaction(tables::Tables* tables,
                                           const TransactionRequest& request) {
  if (const Status kinds = CheckKinds(request); !kinds) return kinds.error();
  Result<Plan> plan = PlanOf(tables, request);
  if (!plan) return std::move(plan).error();
  if (plan->is_cancelled) {
    return TransactionReply{.outcome = TransactOutcome::kCancelled,
                            .reasons = std::move(plan->reasons)};
  }
  const bool is_read = !plan->gets.empty();
  return is_read ? Read(tables, request, *std::move(plan))
                 : Write(tables, request, *std::move(plan));
}

}  // namespace tidemark::partiql
