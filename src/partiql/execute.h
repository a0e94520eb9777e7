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
#include <string_view>
#include <vector>

#include "base/deadline.h"
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
  std::optional<Deadline> deadline = std::nullopt;  // As of Tables::Submit.
};

// DynamoDB's texts.
inline constexpr std::string_view kConditionFailedText = "The conditional request failed";
inline constexpr std::string_view kExistsText =
    "EXISTS can only be used in ExecuteTransaction write requests.";
inline constexpr std::string_view kDuplicateText = "Duplicate primary key exists in table";

enum class Outcome { kDone, kConditionFailed, kDuplicate };

struct Reply {
  Outcome outcome = Outcome::kDone;
  // Of a SELECT, and of a write with RETURNING.
  std::vector<item::Item> items = {};
  std::optional<std::string> next_token = std::nullopt;  // Set when there may be more.
  std::optional<item::Item> last = std::nullopt;         // The key that the token stands for.
  std::optional<item::Item> failed_on = std::nullopt;    // As on_failure asks.
  std::optional<tables::Capacity> capacity = std::nullopt;
};

using StatementPtr = std::shared_ptr<const Statement>;

Later<Reply> Execute(tables::Tables* tables, StatementPtr statement, const Options& options);
// The same for a caller that has the description of the statement's table.
Later<Reply> ExecuteOn(tables::Tables* tables, StatementPtr statement,
                       const tables::TableDescription& table, const Options& options);

// The description of a table. As for operations on items, the message of an error does not name it.
Result<tables::TableDescription> Describe(tables::Tables* tables, const std::string& name);

}  // namespace tidemark::partiql
