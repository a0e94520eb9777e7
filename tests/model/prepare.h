// The checks of a request that need no table, and its parsed expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "expression/condition.h"
#include "expression/key_condition.h"
#include "expression/path.h"
#include "expression/update.h"
#include "tables/requests.h"

namespace tidemark::model {

using Projection = std::optional<std::vector<expression::Path>>;

// The error that DynamoDB gives for most parameters.
Error InvalidParameter(const std::string& what);

enum class WriteKind { kCheck, kPut, kUpdate, kDelete };

struct PreparedWrite {
  WriteKind kind = WriteKind::kPut;
  std::string table;
  item::Item item;  // For a put the whole item, otherwise the key.
  std::optional<expression::Condition> condition = std::nullopt;
  std::optional<expression::Update> update = std::nullopt;
  tables::ReturnValues return_values = tables::ReturnValues::kNone;
  tables::OnConditionFailure on_failure = tables::OnConditionFailure::kNone;
};

Result<PreparedWrite> Prepare(const tables::PutRequest& request);
Result<PreparedWrite> Prepare(const tables::UpdateRequest& request);
Result<PreparedWrite> Prepare(const tables::DeleteRequest& request);
Result<PreparedWrite> Prepare(const tables::ConditionCheck& request);
Result<PreparedWrite> Prepare(const tables::TransactAction& action);

// All of a transaction, in its order; its count and its size too.
Result<std::vector<PreparedWrite>> Prepare(const tables::TransactWriteRequest& request);
// Equal for requests with equal actions.
std::string Fingerprint(const tables::TransactWriteRequest& request);

Result<Projection> PrepareProjection(const std::optional<std::string>& projection,
                                     const tables::Names& names);

// What queries and scans have in common.
struct ReadOptions {
  std::optional<std::string> index;
  std::optional<tables::Select> select;
  bool consistent = false;
  std::optional<uint32_t> limit;
  std::optional<item::Item> start_after;
};
ReadOptions OptionsOf(const tables::QueryRequest& request);
ReadOptions OptionsOf(const tables::ScanRequest& request);

struct PreparedRead {
  std::optional<expression::ParsedKeyCondition> key_condition;
  std::optional<expression::Condition> filter;
  Projection projection;
};
Result<PreparedRead> Prepare(const tables::QueryRequest& request);
Result<PreparedRead> Prepare(const tables::ScanRequest& request);

Status Check(const tables::CreateTableRequest& request);
Status CheckThroughput(const std::optional<tables::Throughput>& throughput);
// The indexes of one table, all together.
Status CheckIndexes(const item::KeySchema& table_keys,
                    const std::vector<tables::IndexSpec>& indexes);
Status CheckTags(const tables::Tags& tags);

}  // namespace tidemark::model
