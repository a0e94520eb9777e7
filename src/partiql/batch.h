// Executes a batch of PartiQL statements: each on its own, and all at once.
//
//   ExecuteBatch(&tables, {{.statement = Parse(text, {}), .options = {}}}, Measure::kNone).Then(…);
//
// All must read or all must write, each one item, and no item twice. An error of one statement is
// its reply, and not that of the batch. An error of the store is that of the batch if no statement
// was executed, and otherwise an InternalServerError of its statement. As Execute, it may block the
// calling thread for a moment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/later.h"
#include "base/result.h"
#include "item/value.h"
#include "partiql/execute.h"
#include "tables/requests.h"
#include "tables/tables.h"

namespace tidemark::partiql {

inline constexpr size_t kMaxBatchStatements = 25;

struct BatchStatement {
  Result<StatementPtr> statement;  // An error of the parser.
  Options options = {};
};

// Why one statement was not executed, with DynamoDB's short code, such as "DuplicateItem".
struct Failure {
  std::string code;
  std::string message;
  std::optional<item::Item> item = std::nullopt;  // As on_failure asks.
  friend bool operator==(const Failure&, const Failure&) = default;
};

struct BatchReply {
  struct One {
    std::optional<Failure> failure = std::nullopt;
    std::optional<std::string> table = std::nullopt;  // If the statement came as far as its table.
    std::optional<item::Item> item = std::nullopt;
  };
  std::vector<One> replies;                     // In the order of the statements.
  std::vector<tables::Capacity> capacity = {};  // One a table, when it was measured.
};

Later<BatchReply> ExecuteBatch(tables::Tables* tables, std::vector<BatchStatement> statements,
                               tables::Measure measure);

// The short code for an error; empty: it is one of the store.
std::string_view CodeOf(const Error& error);

}  // namespace tidemark::partiql
