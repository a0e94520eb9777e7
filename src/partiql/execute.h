// Executes a PartiQL statement on tables.
//
//   auto statement = std::make_shared<Statement>(TRY(Parse(text, parameters)));
//   Execute(&tables, statement, {.limit = 10}).Then(…);
//
// It reads the description of the table on the calling thread, which may block, and submits the
// request after that. The tables outlive the answer. Any thread may call it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/later.h"
#include "item/value.h"
#include "partiql/statement.h"
#include "tables/requests.h"
#include "tables/tables.h"

namespace tidemark::partiql {

struct Options {
  bool consistent = false;
  std::optional<uint32_t> limit = std::nullopt;  // Of items that are read.
  std::optional<std::string> next_token = std::nullopt;
  tables::Measure measure = tables::Measure::kNone;
  tables::OnConditionFailure on_failure = tables::OnConditionFailure::kNone;
};

enum class Outcome { kDone, kConditionFailed, kDuplicate };

struct Reply {
  Outcome outcome = Outcome::kDone;
  // Of a SELECT, and of a write with RETURNING.
  std::optional<std::vector<item::Item>> items = std::nullopt;
  std::optional<std::string> next_token = std::nullopt;  // Set when there may be more.
  std::optional<item::Item> last = std::nullopt;         // The key that the token stands for.
  std::optional<item::Item> failed_on = std::nullopt;    // As on_failure asks.
  std::optional<tables::Capacity> capacity = std::nullopt;
};

Later<Reply> Execute(tables::Tables* tables, std::shared_ptr<const Statement> statement,
                     const Options& options);

}  // namespace tidemark::partiql
