// BatchExecuteStatement and ExecuteTransaction: lists of PartiQL statements.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "partiql/batch.h"
#include "partiql/parse.h"
#include "partiql/transaction.h"
#include "tables/limits.h"
#include "wire/capacity_fields.h"
#include "wire/exception.h"
#include "wire/fields.h"
#include "wire/names.h"
#include "wire/statement_fields.h"
#include "wire/statements.h"

namespace tidemark::wire {

// ---- Requests ----

struct BatchedStatement {
  StatementText text;
  partiql::Options options;
};
inline void Describe(FieldReader& fields, BatchedStatement& one) {
  DescribeStatement(fields, one.text, one.options.on_failure);
  fields.Default("ConsistentRead", one.options.consistent, false);
}

struct StatementsRequest {
  std::vector<BatchedStatement> statements;
  tables::Measure measure = tables::Measure::kNone;
};
inline void Describe(FieldReader& fields, StatementsRequest& request) {
  fields.Required("Statements", request.statements);
  fields.CheckCount("Statements", request.statements, 1, partiql::kMaxBatchStatements);
  fields.Default("ReturnConsumedCapacity", request.measure, tables::Measure::kNone);
}

struct TransactStatement {
  StatementText text;
  tables::OnConditionFailure on_failure = tables::OnConditionFailure::kNone;
};
inline void Describe(FieldReader& fields, TransactStatement& one) {
  DescribeStatement(fields, one.text, one.on_failure);
}

struct TransactStatementsRequest {
  std::vector<TransactStatement> statements;
  std::optional<std::string> token;
  tables::Measure measure = tables::Measure::kNone;
};
inline void Describe(FieldReader& fields, TransactStatementsRequest& request) {
  fields.Required("TransactStatements", request.statements);
  fields.CheckCount("TransactStatements", request.statements, 1, tables::kMaxTransactActions);
  fields.Optional("ClientRequestToken", request.token);
  fields.CheckLength("ClientRequestToken", request.token, 1, tables::kMaxTokenLength);
  fields.Default("ReturnConsumedCapacity", request.measure, tables::Measure::kNone);
}

// ---- Replies ----

inline void Describe(FieldWriter& fields, const partiql::Failure& failure) {
  fields.Required("Code", failure.code);
  if (!failure.message.empty()) fields.Required("Message", failure.message);
  fields.Optional("Item", failure.item);
}

inline void Describe(FieldWriter& fields, const partiql::BatchReply::One& one) {
  fields.Optional("Error", one.failure);
  fields.Optional("TableName", one.table);
  fields.Optional("Item", one.item);
}

inline void Describe(FieldWriter& fields, const partiql::BatchReply& reply) {
  fields.Required("Responses", reply.replies);
  fields.UnlessEmpty("ConsumedCapacity", reply.capacity);
}

inline void Describe(FieldWriter& fields, const partiql::TransactionReply& reply) {
  fields.Required("Responses", reply.items);
  DescribeTransactCapacities(fields, reply.capacity,
                             reply.is_read ? "ReadCapacityUnits" : "WriteCapacityUnits");
}

namespace {

Message EncodeTransactionReply(const partiql::TransactionReply& reply) {
  switch (reply.outcome) {
    case tables::TransactOutcome::kApplied:
      return {.body = Encode(reply)};
    case tables::TransactOutcome::kTokenMismatch:
      return EncodeTokenMismatch();
    case tables::TransactOutcome::kCancelled:
      break;
  }
  std::vector<std::string_view> codes;
  for (const partiql::Failure& reason : reply.reasons) codes.push_back(reason.code);
  return EncodeCancelled(codes, [&](JsonWriter* writer) {
    FieldWriter(writer).Required("CancellationReasons", reply.reasons);
  });
}

Result<partiql::StatementPtr> ParseText(StatementText text) {
  return std::make_shared<const partiql::Statement>(TRY(partiql::Parse(
      text.statement, text.parameters ? *std::move(text.parameters) : std::vector<item::Value>())));
}

void AddTables(const partiql::Statement& statement, Call* call) {
  call->tables.push_back(partiql::TableOf(statement));
  if (partiql::Writes(statement)) call->changed_tables.push_back(partiql::TableOf(statement));
}

}  // namespace

// A statement that cannot be parsed is refused alone.
Result<Call> DecodeBatchExecuteStatement(const Json& body, Layer layer) {
  StatementsRequest request = TRY(DecodeRequest<StatementsRequest>(body, layer));
  Call call;
  std::vector<partiql::BatchStatement> batch;
  for (BatchedStatement& one : request.statements) {
    batch.push_back({ParseText(std::move(one.text)), one.options});
    if (batch.back().statement) AddTables(**batch.back().statement, &call);
  }
  // Without a table it would seem to be about all of them.
  if (call.tables.empty()) call.tables.emplace_back();
  call.make = [batch = std::move(batch), measure = request.measure, layer](
                  tables::Tables& tables,
                  const std::optional<Deadline>& deadline) -> Later<Message> {
    std::vector<partiql::BatchStatement> with_deadline = batch;
    for (partiql::BatchStatement& one : with_deadline) one.options.deadline = deadline;
    return partiql::ExecuteBatch(&tables, std::move(with_deadline), measure)
        .Then([layer](Result<partiql::BatchReply> reply) {
          return reply ? Message{.body = Encode(*reply)}
                       : EncodeError(InWordsOf(layer, reply.error()));
        });
  };
  return call;
}

Result<Call> DecodeExecuteTransaction(const Json& body, Layer layer) {
  auto request = TRY(DecodeRequest<TransactStatementsRequest>(body, layer));
  Call call;
  const bool has_token = request.token.has_value();
  partiql::TransactionRequest transaction{.token = std::move(request.token),
                                          .measure = request.measure};
  for (TransactStatement& one : request.statements) {
    const partiql::StatementPtr statement = TRY(ParseText(std::move(one.text)));
    AddTables(*statement, &call);
    // A transaction of reads keeps no token, although SDKs always send one.
    call.stores_token |= has_token && !std::holds_alternative<partiql::Select>(*statement);
    transaction.statements.push_back({statement, one.on_failure});
  }
  call.make = [transaction = std::move(transaction), layer](
                  tables::Tables& tables,
                  const std::optional<Deadline>& deadline) -> Later<Message> {
    partiql::TransactionRequest with_deadline = transaction;
    with_deadline.deadline = deadline;
    return partiql::ExecuteTransaction(&tables, with_deadline)
        .Then([layer](Result<partiql::TransactionReply> reply) {
          return reply ? EncodeTransactionReply(*reply)
                       : EncodeError(InWordsOf(layer, reply.error()));
        });
  };
  return call;
}

}  // namespace tidemark::wire
