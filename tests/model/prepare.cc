#include "tests/model/prepare.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "expression/bindings.h"
#include "expression/projection.h"
#include "item/json.h"
#include "item/limits.h"
#include "item/size.h"
#include "tables/limits.h"

namespace tidemark::model {

namespace {

using expression::Bindings;
using tables::IndexKind;
using tables::IndexSpec;
using tables::ProjectionKind;
using tables::ReturnValues;
using tables::Select;

Error Constraint(const std::string& member, const std::string& constraint) {
  return Invalid("1 validation error detected: Value at '" + member +
                 "' failed to satisfy constraint: " + constraint);
}

// ---- Expressions ----

Result<std::optional<expression::Condition>> ParseOptional(const std::optional<std::string>& text,
                                                           std::string_view kind,
                                                           Bindings* bindings) {
  if (!text) return std::optional<expression::Condition>();
  return std::optional(TRY(expression::ParseCondition(*text, kind, bindings)));
}

Result<Projection> ParseOptionalProjection(const std::optional<std::string>& text,
                                           Bindings* bindings) {
  if (!text) return Projection();
  return Projection(TRY(expression::ParseProjection(*text, bindings)));
}

Status CheckReturnsOldOrNone(ReturnValues return_values) {
  if (return_values == ReturnValues::kNone || return_values == ReturnValues::kAllOld) return Done{};
  return Invalid("ReturnValues can only be ALL_OLD or NONE");
}

item::Item ItemOf(const tables::Values& values) {
  item::Item item;
  for (const auto& [name, value] : values) item.Set(name, value);
  return item;
}

// ---- Transactions ----

struct ActionSize {
  size_t operator()(const tables::PutRequest& put) const { return Size(put.item, put.values); }
  template <typename Action>
  size_t operator()(const Action& action) const {
    return Size(action.key, action.values);
  }
  static size_t Size(const item::Item& item, const tables::Values& values) {
    return item::SizeBytes(item) + item::SizeBytes(ItemOf(values));
  }
};

// All parts of an action as text, each on its own line.
struct ActionText {
  std::string operator()(const tables::ConditionCheck& check) const {
    return "check\n" + Text(check, check.key, check.condition);
  }
  std::string operator()(const tables::PutRequest& put) const {
    return "put\n" + Text(put, put.item, put.condition.value_or(""));
  }
  std::string operator()(const tables::UpdateRequest& update) const {
    return "update\n" + update.update.value_or("") + "\n" +
           Text(update, update.key, update.condition.value_or(""));
  }
  std::string operator()(const tables::DeleteRequest& erase) const {
    return "delete\n" + Text(erase, erase.key, erase.condition.value_or(""));
  }
  template <typename Action>
  static std::string Text(const Action& action, const item::Item& item,
                          const std::string& condition) {
    std::string text = action.table + "\n" + item::ToJson(item) + "\n" + condition + "\n";
    for (const auto& [reference, name] : action.names) text += reference + "=" + name + "\n";
    return text + item::ToJson(ItemOf(action.values)) + "\n";
  }
};

// ---- Schemas ----

Status CheckName(const std::string& name, const std::string& member) {
  if (name.size() < tables::kMinTableNameLength || name.size() > tables::kMaxTableNameLength) {
    return Invalid(member + " must be at least 3 characters long and at most 255 characters long");
  }
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '.' || letter == '-';
  });
  if (plain) return Done{};
  return Constraint(member, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
}

Status CheckKeyAttribute(const item::KeyAttribute& attribute) {
  if (attribute.name.empty() || attribute.name.size() > item::kMaxKeyAttributeNameBytes) {
    return Constraint("attributeName", "Member must have length between 1 and 255");
  }
  if (attribute.type != item::Type::kString && attribute.type != item::Type::kNumber &&
      attribute.type != item::Type::kBinary) {
    return Constraint("attributeType", "Member must satisfy enum value set: [B, N, S]");
  }
  return Done{};
}

Status CheckKeySchema(const item::KeySchema& keys) {
  TRY(CheckKeyAttribute(keys.partition));
  if (!keys.sort) return Done{};
  TRY(CheckKeyAttribute(*keys.sort));
  if (keys.sort->name == keys.partition.name) {
    return Invalid(
        "Both the Hash Key and the Range Key element in the KeySchema have the same name");
  }
  return Done{};
}

// Only the keys of global indexes may have several attributes.
Status CheckSeveral(const item::KeySchema& keys, bool is_global) {
  const size_t more = keys.more_partition.size() + keys.more_sort.size();
  if (more > 0 && !is_global) {
    return Constraint("keySchema", "Member must have length less than or equal to 2");
  }
  if (keys.more_partition.size() >= tables::kMaxKeyAttributes) {
    return Invalid("The KeySchema exceeds the maximum allowed number of HASH key attributes");
  }
  if (keys.more_sort.size() >= tables::kMaxKeyAttributes) {
    return Invalid("The KeySchema exceeds the maximum allowed number of RANGE key attributes");
  }
  std::set<std::string> names;
  for (const item::KeyAttribute* attribute : item::AttributesOf(keys)) {
    TRY(CheckKeyAttribute(*attribute));
    if (names.insert(attribute->name).second) continue;
    return Invalid("The KeySchema contains multiple key attributes with the same name");
  }
  return Done{};
}

Status CheckLocal(const item::KeySchema& table_keys, const IndexSpec& index) {
  if (index.kind != IndexKind::kLocal) return Done{};
  if (!table_keys.sort) {
    return InvalidParameter(
        "Table KeySchema does not have a range key, which is required when specifying a "
        "LocalSecondaryIndex");
  }
  if (!index.keys.sort) {
    return InvalidParameter("Index KeySchema does not have a range key for index: " + index.name);
  }
  if (index.keys.partition.name != table_keys.partition.name) {
    return InvalidParameter(
        "Index KeySchema does not have the same leading hash key as table KeySchema for index: " +
        index.name + ". index hash key: " + index.keys.partition.name +
        ", table hash key: " + table_keys.partition.name);
  }
  return Done{};
}

Status CheckProjection(const tables::IndexProjection& projection) {
  const bool includes = projection.kind == ProjectionKind::kInclude;
  if (includes && projection.included.empty()) {
    return InvalidParameter("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
  }
  if (!includes && !projection.included.empty()) {
    const std::string kind = projection.kind == ProjectionKind::kAll ? "ALL" : "KEYS_ONLY";
    return InvalidParameter("ProjectionType is " + kind + ", but NonKeyAttributes is specified");
  }
  return Done{};
}

Status CheckCounts(const std::vector<IndexSpec>& indexes) {
  size_t local = 0;
  size_t included = 0;
  for (const IndexSpec& index : indexes) {
    local += index.kind == IndexKind::kLocal ? 1 : 0;
    included += index.projection.included.size();
  }
  if (local > tables::kMaxLocalIndexes) {
    return InvalidParameter("Number of LocalSecondaryIndexes exceeds per-table limit of 5");
  }
  if (indexes.size() - local > tables::kMaxGlobalIndexes) {
    return InvalidParameter("GlobalSecondaryIndex count exceeds the per-table limit of 20");
  }
  if (included > tables::kMaxIncludedAttributes) {
    return InvalidParameter("Number of NonKeyAttributes exceeds the per-table limit of 100");
  }
  return Done{};
}

// An attribute must have the same type in every key that uses it.
Status CheckOneTypeEach(const item::KeySchema& table_keys, const std::vector<IndexSpec>& indexes) {
  std::map<std::string, item::Type> types;
  std::vector<item::KeySchema> schemas{table_keys};
  for (const IndexSpec& index : indexes) schemas.push_back(index.keys);
  for (const item::KeySchema& keys : schemas) {
    for (const item::KeyAttribute* attribute : item::AttributesOf(keys)) {
      if (types.emplace(attribute->name, attribute->type).first->second != attribute->type) {
        return InvalidParameter("Key attribute " + attribute->name + " is given two types");
      }
    }
  }
  return Done{};
}

// ---- Reads ----

Status CheckLimit(std::optional<uint32_t> limit) {
  if (limit != 0U) return Done{};
  return Constraint("limit", "Member must have value greater than or equal to 1");
}

Status CheckSelect(const ReadOptions& options, bool has_projection) {
  if (options.select == Select::kSpecificAttributes && !has_projection) {
    return Invalid(
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES");
  }
  if (options.select && options.select != Select::kSpecificAttributes && has_projection) {
    return Invalid("Cannot specify the ProjectionExpression with this Select");
  }
  if (options.select == Select::kAllProjectedAttributes && !options.index) {
    return Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  return Done{};
}

Status CheckSegments(const tables::ScanRequest& request) {
  if (request.segment && !request.total_segments) {
    return Invalid(
        "The TotalSegments parameter is required but was not present in the request "
        "when Segment parameter is present");
  }
  if (!request.total_segments) return Done{};
  if (!request.segment) {
    return Invalid(
        "The Segment parameter is required but was not present in the request when "
        "parameter TotalSegments is present");
  }
  if (*request.total_segments == 0 || *request.total_segments > tables::kMaxScanSegments) {
    return Constraint("totalSegments", "Member must have value between 1 and 1000000");
  }
  if (*request.segment >= *request.total_segments) {
    return Invalid(
        "The Segment parameter is zero-based and must be less than parameter "
        "TotalSegments: Segment: " +
        std::to_string(*request.segment) +
        " is not less than TotalSegments: " + std::to_string(*request.total_segments));
  }
  return Done{};
}

}  // namespace

Error InvalidParameter(const std::string& what) {
  return Invalid("One or more parameter values were invalid: " + what);
}

Result<PreparedWrite> Prepare(const tables::PutRequest& request) {
  TRY(CheckReturnsOldOrNone(request.return_values));
  Bindings bindings =
      TRY(Bindings::Make(request.names, request.values, request.condition.has_value()));
  auto condition = TRY(ParseOptional(request.condition, "ConditionExpression", &bindings));
  TRY(bindings.AllUsed());
  if (item::SizeBytes(request.item) > item::kMaxItemBytes) {
    return Invalid("Item size has exceeded the maximum allowed size");
  }
  return PreparedWrite{.kind = WriteKind::kPut,
                       .table = request.table,
                       .item = request.item,
                       .condition = std::move(condition),
                       .return_values = request.return_values,
                       .on_failure = request.on_failure};
}

Result<PreparedWrite> Prepare(const tables::UpdateRequest& request) {
  const bool has_expression = request.condition.has_value() || request.update.has_value();
  Bindings bindings = TRY(Bindings::Make(request.names, request.values, has_expression));
  std::optional<expression::Update> update;
  if (request.update) update = TRY(expression::ParseUpdate(*request.update, &bindings));
  auto condition = TRY(ParseOptional(request.condition, "ConditionExpression", &bindings));
  TRY(bindings.AllUsed());
  return PreparedWrite{.kind = WriteKind::kUpdate,
                       .table = request.table,
                       .item = request.key,
                       .condition = std::move(condition),
                       .update = std::move(update),
                       .return_values = request.return_values,
                       .on_failure = request.on_failure};
}

Result<PreparedWrite> Prepare(const tables::DeleteRequest& request) {
  TRY(CheckReturnsOldOrNone(request.return_values));
  Bindings bindings =
      TRY(Bindings::Make(request.names, request.values, request.condition.has_value()));
  auto condition = TRY(ParseOptional(request.condition, "ConditionExpression", &bindings));
  TRY(bindings.AllUsed());
  return PreparedWrite{.kind = WriteKind::kDelete,
                       .table = request.table,
                       .item = request.key,
                       .condition = std::move(condition),
                       .return_values = request.return_values,
                       .on_failure = request.on_failure};
}

Result<PreparedWrite> Prepare(const tables::ConditionCheck& request) {
  Bindings bindings = TRY(Bindings::Make(request.names, request.values, true));
  auto condition =
      TRY(expression::ParseCondition(request.condition, "ConditionExpression", &bindings));
  TRY(bindings.AllUsed());
  return PreparedWrite{.kind = WriteKind::kCheck,
                       .table = request.table,
                       .item = request.key,
                       .condition = std::move(condition),
                       .on_failure = request.on_failure};
}

Result<PreparedWrite> Prepare(const tables::TransactAction& action) {
  return std::visit([](const auto& request) { return Prepare(request); }, action);
}

Result<std::vector<PreparedWrite>> Prepare(const tables::TransactWriteRequest& request) {
  if (request.actions.empty()) {
    return Constraint("transactItems", "Member must have length greater than or equal to 1");
  }
  if (request.actions.size() > tables::kMaxTransactActions) {
    return Constraint("transactItems", "Member must have length less than or equal to 100");
  }
  if (request.token &&
      (request.token->empty() || request.token->size() > tables::kMaxTokenLength)) {
    return Constraint("clientRequestToken", "Member must have length between 1 and 36");
  }
  std::vector<PreparedWrite> writes;
  size_t size_bytes = 0;
  for (const tables::TransactAction& action : request.actions) {
    size_bytes += std::visit(ActionSize{}, action);
    writes.push_back(TRY(Prepare(action)));
  }
  if (size_bytes > tables::kMaxTransactBytes) {
    return Invalid("Transaction request size has exceeded the maximum of 4 MB");
  }
  return writes;
}

std::string Fingerprint(const tables::TransactWriteRequest& request) {
  std::string text;
  for (const tables::TransactAction& action : request.actions) {
    text += std::visit(ActionText{}, action);
  }
  return text;
}

Result<Projection> PrepareProjection(const std::optional<std::string>& projection,
                                     const tables::Names& names) {
  const tables::Values no_values;
  Bindings bindings = TRY(Bindings::Make(names, no_values, projection.has_value()));
  Projection paths = TRY(ParseOptionalProjection(projection, &bindings));
  TRY(bindings.AllUsed());
  return paths;
}

ReadOptions OptionsOf(const tables::QueryRequest& request) {
  return {request.index, request.select, request.consistent, request.limit, request.start_after};
}

ReadOptions OptionsOf(const tables::ScanRequest& request) {
  return {request.index, request.select, request.consistent, request.limit, request.start_after};
}

Result<PreparedRead> Prepare(const tables::QueryRequest& request) {
  TRY(CheckLimit(request.limit));
  TRY(CheckSelect(OptionsOf(request), request.projection.has_value()));
  const bool has_expression =
      !request.partition || !request.key_condition.empty() || request.filter || request.projection;
  Bindings bindings = TRY(Bindings::Make(request.names, request.values, has_expression));
  PreparedRead read;
  if (request.partition) {
    if (!request.key_condition.empty())
      return Invalid("A query has either a partition or a key condition, not both");
    read.key_condition = expression::WholePartition(*request.partition);
  } else {
    read.key_condition = TRY(expression::ParseKeyCondition(request.key_condition, &bindings));
  }
  read.filter = TRY(ParseOptional(request.filter, "FilterExpression", &bindings));
  read.projection = TRY(ParseOptionalProjection(request.projection, &bindings));
  TRY(bindings.AllUsed());
  return read;
}

Result<PreparedRead> Prepare(const tables::ScanRequest& request) {
  TRY(CheckLimit(request.limit));
  TRY(CheckSegments(request));
  TRY(CheckSelect(OptionsOf(request), request.projection.has_value()));
  const bool has_expression = request.filter.has_value() || request.projection.has_value();
  Bindings bindings = TRY(Bindings::Make(request.names, request.values, has_expression));
  PreparedRead read;
  read.filter = TRY(ParseOptional(request.filter, "FilterExpression", &bindings));
  read.projection = TRY(ParseOptionalProjection(request.projection, &bindings));
  TRY(bindings.AllUsed());
  return read;
}

Status CheckThroughput(const std::optional<tables::Throughput>& throughput) {
  if (!throughput || (throughput->read_units >= 1 && throughput->write_units >= 1)) return Done{};
  return Constraint("provisionedThroughput", "Member must have value greater than or equal to 1");
}

Status CheckIndexes(const item::KeySchema& table_keys, const std::vector<IndexSpec>& indexes) {
  std::set<std::string> names;
  for (const IndexSpec& index : indexes) {
    TRY(CheckName(index.name, "IndexName"));
    TRY(CheckKeySchema(index.keys));
    TRY(CheckSeveral(index.keys, index.kind == IndexKind::kGlobal));
    TRY(CheckLocal(table_keys, index));
    TRY(CheckProjection(index.projection));
    TRY(CheckThroughput(index.throughput));
    if (!names.insert(index.name).second) {
      return InvalidParameter("Duplicate index name: " + index.name);
    }
  }
  TRY(CheckCounts(indexes));
  return CheckOneTypeEach(table_keys, indexes);
}

Status CheckTags(const tables::Tags& tags) {
  if (tags.size() > tables::kMaxTags) return InvalidParameter("Too many tags: at most 50");
  return Done{};
}

Status Check(const tables::CreateTableRequest& request) {
  TRY(CheckName(request.table, "TableName"));
  TRY(CheckKeySchema(request.keys));
  TRY(CheckSeveral(request.keys, /*is_global=*/false));
  TRY(CheckThroughput(request.throughput));
  TRY(CheckIndexes(request.keys, request.indexes));
  return CheckTags(request.tags);
}

}  // namespace tidemark::model
