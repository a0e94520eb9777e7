// Executes PartiQL statements as one transaction.
//
//   ExecuteTransaction(&tables, {.statements = {{.statement = statement}}}).Then(…);
//
// All statements must read, or all must write; EXISTS belongs to those that write. Each is about
// one item. As Execute, it may block the calling thread for a moment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/later.h"
#include "item/value.h"
#include "partiql/batch.h"
#include "partiql/execute.h"
#include "tables/requests.h"
#include "tables/tables.h"

namespace tidemark::partiql {

struct TransactionRequest {
  struct One {
    StatementPtr statement;
    tables::OnConditionFailure on_failure = tables::OnConditionFailure::kNone;
  };
  std::vector<One> statements;
  std::optional<std::string> token = std::nullopt;  // As of tables::TransactWriteRequest.
  tables::Measure measure = tables::Measure::kNone;
  std::optional<Deadline> deadline = std::nullopt;  // As of Tables::Submit.
};

struct TransactionReply {
  tables::TransactOutcome outcome = tables::TransactOutcome::kApplied;
  // One a statement when it was cancelled. The code of those that are not the reason is "None".
  std::vector<Failure> reasons = {};
  bool is_read = false;
  std::vector<std::optional<item::Item>> items = {};  // One a statement that reads.
  std::vector<tables::Capacity> capacity = {};        // One a table, when it was measured.
};

Later<TransactionReply> ExecuteTransaction(tables::Tables* tables,
                                           const TransactionRequest& request);

}  // namespace tidemark::partiql
