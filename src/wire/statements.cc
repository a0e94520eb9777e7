#include "wire/statements.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/hashing.h"
#include "partiql/execute.h"
#include "partiql/parse.h"
#include "wire/capacity_fields.h"
#include "wire/exception.h"
#include "wire/fields.h"
#include "wire/names.h"
#include "wire/statement_fields.h"

namespace tidemark::wire {

struct StatementRequest {
  StatementText text;
  partiql::Options options;
};

inline void Describe(FieldReader& fields, StatementRequest& request) {
  partiql::Options& options = request.options;
  DescribeStatement(fields, request.text, options.on_failure);
  fields.Default("ConsistentRead", options.consistent, false);
  fields.Optional("NextToken", options.next_token);
  fields.Default("ReturnConsumedCapacity", options.measure, tables::Measure::kNone);
  fields.Optional("Limit", options.limit);
  fields.CheckRange("Limit", options.limit, 1, std::numeric_limits<int32_t>::max());
}

inline void Describe(FieldWriter& fields, const partiql::Reply& reply) {
  fields.Always("Items", reply.items);
  fields.Optional("NextToken", reply.next_token);
  fields.Optional("LastEvaluatedKey", reply.last);
  fields.Optional("ConsumedCapacity", reply.capacity);
}

namespace {

// A token is good for the statement that it was given for, with the same parameters. It begins with
// this mark of them.
std::string MarkOf(const StatementText& text) {
  std::string whole = text.statement;
  if (text.parameters) whole.append(1, '\0').append(Encode(*text.parameters));
  constexpr size_t kMarkBytes = 12;
  return EncodeBase64(Sha256(whole).substr(0, kMarkBytes));
}

Status TakeMark(const std::string& mark, std::optional<std::string>* token) {
  if (!*token) return Done{};
  if (!(*token)->starts_with(mark)) return Invalid("NextToken does not match request");
  (*token)->erase(0, mark.size());
  return Done{};
}

Message EncodeStatementReply(partiql::Reply reply, const std::string& mark) {
  switch (reply.outcome) {
    case partiql::Outcome::kDone:
      if (reply.next_token) reply.next_token->insert(0, mark);
      return {.body = Encode(reply)};
    case partiql::Outcome::kDuplicate:
      return EncodeException("DuplicateItemException", partiql::kDuplicateText);
    case partiql::Outcome::kConditionFailed:
      return EncodeException(
          kConditionFailed, partiql::kConditionFailedText,
          [&](JsonWriter* writer) { FieldWriter(writer).Optional("Item", reply.failed_on); });
  }
  return {};
}

}  // namespace

Result<Call> DecodeExecuteStatement(const Json& body, Layer layer) {
  StatementRequest request = TRY(DecodeRequest<StatementRequest>(body, layer));
  std::string mark = MarkOf(request.text);
  TRY(TakeMark(mark, &request.options.next_token));
  auto statement = std::make_shared<partiql::Statement>(TRY(partiql::Parse(
      request.text.statement,
      request.text.parameters ? *std::move(request.text.parameters) : std::vector<item::Value>())));
  Call call{.tables = {partiql::TableOf(*statement)}};
  if (partiql::Writes(*statement)) call.changed_tables = call.tables;
  call.make = [statement, options = std::move(request.options), mark = std::move(mark), layer](
                  tables::Tables& tables,
                  const std::optional<Deadline>& deadline) -> Later<Message> {
    partiql::Options with_deadline = options;
    with_deadline.deadline = deadline;
    return partiql::Execute(&tables, statement, with_deadline)
        .Then([layer, mark](Result<partiql::Reply> reply) {
          return reply ? EncodeStatementReply(*reply, mark)
                       : EncodeError(InWordsOf(layer, reply.error()));
        });
  };
  return call;
}

}  // namespace tidemark::wire
