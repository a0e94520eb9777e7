#include "partiql/batch.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/join.h"
#include "item/size.h"
#include "partiql/translate.h"
#include "tables/add_capacity.h"
#include "tables/limits.h"

namespace tidemark::partiql {

namespace {

using One = BatchReply::One;
using Described = std::map<std::string, Result<tables::TableDescription>>;

Status CheckKinds(const std::vector<BatchStatement>& statements) {
  bool reads = false;
  bool writes = false;
  for (const BatchStatement& one : statements) {
    if (!one.statement) continue;
    (std::holds_alternative<Select>(**one.statement) ? reads : writes) = true;
  }
  if (!reads || !writes) return Done{};
  return Invalid("Read and write requests together in the same batch is not supported.");
}

Described DescribeAll(tables::Tables* tables, const std::vector<BatchStatement>& statements) {
  Described described;
  for (const BatchStatement& one : statements) {
    if (!one.statement) continue;
    const std::string& name = TableOf(**one.statement);
    if (!described.contains(name)) described.emplace(name, Describe(tables, name));
  }
  return described;
}

Status CheckDuplicates(const std::vector<BatchStatement>& statements, const Described& described) {
  std::vector<std::pair<std::string, item::Item>> items;
  for (const BatchStatement& one : statements) {
    if (!one.statement) continue;
    const std::string& name = TableOf(**one.statement);
    const auto& table = described.at(name);
    auto key = table ? KeyOf(**one.statement, *table) : std::nullopt;
    if (!key) continue;
    std::pair target(name, *std::move(key));
    if (std::ranges::find(items, target) != items.end()) {
      return Invalid("Provided list of item keys contains duplicates");
    }
    items.push_back(std::move(target));
  }
  return Done{};
}

One Failed(const Error& error, std::optional<std::string> table = std::nullopt) {
  const std::string_view code = CodeOf(error);
  // The text of an error of the store is not for callers.
  const Failure failure =
      code.empty() ? Failure{.code = "InternalServerError", .message = "Internal server error"}
                   : Failure{.code = std::string(code), .message = error.message};
  return {.failure = failure, .table = std::move(table)};
}

One ReplyTo(const std::string& table, Reply reply, std::vector<tables::Capacity>* capacity) {
  One one{.table = table};
  switch (reply.outcome) {
    case Outcome::kDone:
      if (!reply.items.empty()) one.item = std::move(reply.items.front());
      if (reply.capacity) AddCapacity(*reply.capacity, capacity);
      break;
    case Outcome::kDuplicate:
      one.failure = {.code = "DuplicateItem", .message = std::string(kDuplicateText)};
      break;
    case Outcome::kConditionFailed:
      one.failure = {.code = "ConditionalCheckFailed",
                     .message = std::string(kConditionFailedText),
                     .item = std::move(reply.failed_on)};
      break;
  }
  return one;
}

// A reply larger than one of a batch of gets is not made. What does not fit may be asked for again.
void LimitSize(std::vector<One>* replies) {
  size_t bytes = 0;
  for (One& one : *replies) {
    std::optional<item::Item>& item = one.failure ? one.failure->item : one.item;
    if (!item) continue;
    bytes += item::JsonBytes(*item);
    if (bytes <= tables::kMaxBatchJsonBytes) continue;
    item.reset();
    if (!one.failure) {
      one.failure = {.code = "RequestLimitExceeded",
                     .message =
                         "the items of the batch are too large together: ask for this one "
                         "again, alone"};
    }
  }
}

// Whether the statement fits its table. What does not is not executed.
Status CheckTranslation(const Statement& statement, const tables::TableDescription& table) {
  if (const auto* select = std::get_if<Select>(&statement)) {
    if (TranslateToGet(*select, table)) return Done{};
    return Invalid(
        "Select statements within BatchExecuteStatement must specify the primary key in the where "
        "clause.");
  }
  if (std::holds_alternative<Exists>(statement)) return Invalid(std::string(kExistsText));
  if (const auto* update = std::get_if<Update>(&statement)) TRY(Translate(*update, table));
  if (const auto* gone = std::get_if<Delete>(&statement)) TRY(Translate(*gone, table));
  return Done{};
}

// The statement on its way; or why it cannot be executed.
std::variant<Later<Reply>, One> Start(tables::Tables* tables, const BatchStatement& one,
                                      const Described& described, tables::Measure measure) {
  if (!one.statement) return Failed(one.statement.error());
  const StatementPtr& statement = *one.statement;
  const std::string& name = TableOf(*statement);
  const auto& table = described.at(name);
  if (!table && CodeOf(table.error()).empty()) return Later<Reply>(table.error());
  if (!table) return Failed(table.error(), name);
  if (const Status fits = CheckTranslation(*statement, *table); !fits) return Failed(fits.error());
  Options options = one.options;
  options.measure = measure;
  return ExecuteOn(tables, statement, *table, options);
}

}  // namespace

std::string_view CodeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
      return "ValidationError";
    case ErrorCode::kNotFound:
      return "ResourceNotFound";
    case ErrorCode::kDenied:
      return "AccessDenied";
    case ErrorCode::kConflict:
      return "TransactionConflict";
    case ErrorCode::kThrottled:
      return "ThrottlingError";
    default:
      return "";
  }
}

Later<BatchReply> ExecuteBatch(tables::Tables* tables, std::vector<BatchStatement> statements,
                               tables::Measure measure) {
  if (const Status kinds = CheckKinds(statements); !kinds) return kinds.error();
  const Described described = DescribeAll(tables, statements);
  if (const Status unique = CheckDuplicates(statements, described); !unique) {
    return unique.error();
  }
  std::vector<One> replies(statements.size());
  std::vector<size_t> positions;
  std::vector<Later<Reply>> started;
  for (size_t i = 0; i < statements.size(); ++i) {
    auto start = Start(tables, statements[i], described, measure);
    if (auto* refused = std::get_if<One>(&start)) {
      replies[i] = std::move(*refused);
    } else {
      replies[i].table = TableOf(**statements[i].statement);
      positions.push_back(i);
      started.push_back(std::get<Later<Reply>>(std::move(start)));
    }
  }
  return Join(std::move(started))
      .Then([replies = std::move(replies), positions = std::move(positions)](
                Result<std::vector<Result<Reply>>> answers) mutable -> Result<BatchReply> {
        std::vector<Result<Reply>> all = TRY(std::move(answers));
        BatchReply batch;
        // An error of the store fails the batch, unless a part of it was executed: the caller would
        // repeat that part.
        const bool any_done =
            std::ranges::any_of(all, [](const auto& one) { return one.has_value(); });
        for (const Result<Reply>& one : all) {
          if (!any_done && !one && CodeOf(one.error()).empty()) return one.error();
        }
        for (size_t i = 0; i < all.size(); ++i) {
          One& one = replies[positions[i]];
          const std::string table = *one.table;
          one = all[i] ? ReplyTo(table, *std::move(all[i]), &batch.capacity)
                       : Failed(all[i].error(), table);
        }
        LimitSize(&replies);
        batch.replies = std::move(replies);
        return batch;
      });
}

}  // namespace tidemark::partiql
