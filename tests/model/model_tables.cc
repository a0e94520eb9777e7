// The tables of the model: create, alter, describe, drop, and housekeeping.
#include "tests/model/model_tables.h"

#include <algorithm>
#include <utility>

#include "base/expiry.h"
#include "item/order.h"
#include "item/size.h"
#include "tables/limits.h"

namespace tidemark::model {

namespace {

using tables::IndexKind;
using tables::IndexSpec;
using tables::IndexState;
using tables::TableDescription;
using tables::TableState;

// Whether the sweeper deletes the item: its attribute is a time in the past, but not so long ago
// that it must be a mistake.
bool IsExpired(const item::Item& item, const std::string& attribute, EpochSeconds now) {
  const item::Value* value = item.Find(attribute);
  const item::Number* number = value ? value->As<item::Number>() : nullptr;
  const std::optional<EpochSeconds> ttl = number ? number->Floor() : std::nullopt;
  return ttl && !IsLive(*ttl, now) && *ttl >= now - tables::kOldestTimeToLive.count();
}

std::vector<item::Value> ValuesOf(const item::Key& key) {
  std::vector<item::Value> values = {key.partition};
  values.insert(values.end(), key.more_partition.begin(), key.more_partition.end());
  if (key.sort) values.push_back(*key.sort);
  values.insert(values.end(), key.more_sort.begin(), key.more_sort.end());
  return values;
}

bool IsChanging(IndexState state) { return state != IndexState::kActive; }

}  // namespace

bool ModelTables::KeyOrder::operator()(const item::Key& left, const item::Key& right) const {
  const std::vector<item::Value> lefts = ValuesOf(left);
  const std::vector<item::Value> rights = ValuesOf(right);
  for (size_t i = 0; i < lefts.size(); ++i) {
    const std::partial_ordering order = item::Compare(lefts[i], rights[i]);
    if (order != std::partial_ordering::equivalent) return order == std::partial_ordering::less;
  }
  return false;
}

Result<ModelTables::Table*> ModelTables::Find(const std::string& name) {
  auto place = tables_.find(name);
  if (place == tables_.end()) return Error{ErrorCode::kNotFound, "Requested resource not found"};
  return &place->second;
}

Result<ModelTables::Table*> ModelTables::FindForChange(const std::string& name) {
  auto table = Find(name);
  if (table) return table;
  return Error{ErrorCode::kNotFound, "Requested resource not found: Table: " + name + " not found"};
}

std::string ModelTables::ArnOf(const Table& table) {
  return "arn:aws:dynamodb:local:000000000000:table/" + table.name;
}

TableDescription ModelTables::Describe(const Table& table) const {
  TableDescription description{.name = table.name,
                               .arn = ArnOf(table),
                               .id = table.id,
                               .keys = table.keys,
                               .ttl_attribute = table.ttl_attribute,
                               .throughput = table.throughput,
                               .deletion_protected = table.deletion_protected,
                               .created_at = table.created_at,
                               .item_count = table.items.size()};
  for (const auto& [key, item] : table.items) description.size_bytes += item::SizeBytes(item);
  for (const Index& index : table.indexes) {
    const std::vector<Row> rows = RowsOf({.table = &table, .index = &index});
    tables::IndexDescription of_index{.spec = index.spec, .state = index.state};
    of_index.backfilling = index.state == IndexState::kCreating;
    of_index.item_count = rows.size();
    for (const Row& row : rows) of_index.size_bytes += item::SizeBytes(row.item);
    if (IsChanging(index.state)) description.state = TableState::kUpdating;
    description.indexes.push_back(std::move(of_index));
  }
  if (const Stream* stream = LatestStream(table)) {
    description.latest_stream = {stream->arn, stream->label, stream->view, !stream->closed_at};
  }
  return description;
}

Result<TableDescription> ModelTables::CreateTable(const tables::CreateTableRequest& request) {
  const std::lock_guard lock(mutex_);
  TRY(Check(request));
  if (tables_.contains(request.table)) {
    return Error{ErrorCode::kInUse, "Table already exists: " + request.table};
  }
  Table& table = tables_[request.table];
  table.name = request.table;
  table.id = "table-" + std::to_string(next_id_++);
  table.keys = request.keys;
  for (const IndexSpec& spec : request.indexes) table.indexes.push_back({spec});
  table.throughput = request.throughput;
  table.deletion_protected = request.deletion_protected;
  table.tags = request.tags;
  table.created_at = Now();
  if (request.stream) OpenStream(&table, *request.stream);
  return Describe(table);
}

Result<TableDescription> ModelTables::DescribeTable(const std::string& table) {
  const std::lock_guard lock(mutex_);
  return Describe(*TRY(FindForChange(table)));
}

Status ModelTables::CheckUpdate(const Table& table, const tables::UpdateTableRequest& request) {
  if (!request.add_index && !request.drop_index && !request.stream && !request.throughput &&
      !request.deletion_protected) {
    return Invalid(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required");
  }
  TRY(CheckThroughput(request.throughput));
  if (request.add_index && request.drop_index) {
    return Invalid("Only 1 online index can be created or deleted simultaneously per table");
  }
  const bool changes_index = request.add_index || request.drop_index;
  for (const Index& index : table.indexes) {
    // An index that is being added may be dropped.
    if (changes_index && IsChanging(index.state) && request.drop_index != index.spec.name) {
      return Error{ErrorCode::kInUse,
                   "Attempt to change a resource which is still in use: Table "
                   "is being updated: " +
                       table.name};
    }
  }
  if (request.add_index) {
    if (request.add_index->kind != IndexKind::kGlobal) {
      return Invalid("A local secondary index can only be made with its table");
    }
    std::vector<IndexSpec> specs;
    for (const Index& index : table.indexes) specs.push_back(index.spec);
    specs.push_back(*request.add_index);
    return CheckIndexes(table.keys, specs);
  }
  return Done{};
}

Status ModelTables::CheckStreamUpdate(const Stream* latest,
                                      const tables::UpdateTableRequest& request) {
  if (!request.stream) return Done{};
  const bool enabled = latest != nullptr && !latest->closed_at;
  if (request.stream->enabled && enabled) {
    return Invalid("Table already has an enabled stream: TableName: " + request.table);
  }
  if (!request.stream->enabled && !enabled) {
    return Invalid("Table has no enabled stream: TableName: " + request.table);
  }
  return Done{};
}

Result<TableDescription> ModelTables::UpdateTable(const tables::UpdateTableRequest& request) {
  const std::lock_guard lock(mutex_);
  Table* table = TRY(FindForChange(request.table));
  TRY(CheckUpdate(*table, request));
  TRY(CheckStreamUpdate(LatestStream(*table), request));
  if (request.drop_index) {
    auto index = std::find_if(table->indexes.begin(), table->indexes.end(), [&](const Index& each) {
      return each.spec.name == *request.drop_index && each.spec.kind == IndexKind::kGlobal;
    });
    if (index == table->indexes.end()) {
      return Error{ErrorCode::kNotFound,
                   "Requested resource not found: Index: " + *request.drop_index + " not found"};
    }
    table->indexes.erase(index);
  }
  if (request.add_index) table->indexes.push_back({*request.add_index, IndexState::kCreating});
  if (request.throughput) table->throughput = request.throughput;
  if (request.deletion_protected) table->deletion_protected = *request.deletion_protected;
  if (request.stream && request.stream->enabled) OpenStream(table, request.stream->view);
  if (request.stream && !request.stream->enabled) CloseStream(*table);
  return Describe(*table);
}

Result<TableDescription> ModelTables::DeleteTable(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Table* table = TRY(FindForChange(name));
  if (table->deletion_protected) {
    return Invalid(
        "Resource cannot be deleted as it is currently protected against deletion. "
        "Disable deletion protection first.");
  }
  CloseStream(*table);
  TableDescription description = Describe(*table);
  description.state = TableState::kDeleting;
  tables_.erase(name);
  return description;
}

Result<tables::ListTablesReply> ModelTables::ListTables(const tables::ListTablesRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request.limit < 1 || request.limit > tables::kMaxListedTables) {
    return Invalid("The limit must be between 1 and 100");
  }
  tables::ListTablesReply reply;
  for (const auto& [name, table] : tables_) {
    if (request.after && name <= *request.after) continue;
    if (reply.tables.size() == request.limit) {
      reply.last = reply.tables.back();
      break;
    }
    reply.tables.push_back(name);
  }
  return reply;
}

Status ModelTables::SetTimeToLive(const tables::SetTimeToLiveRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request.attribute.empty() || request.attribute.size() > 255) {
    return Invalid("The attribute's name must have 1 to 255 characters");
  }
  Table* table = TRY(FindForChange(request.table));
  if (request.enabled && table->ttl_attribute == request.attribute) {
    return Invalid("TimeToLive is already enabled");
  }
  if (!request.enabled && !table->ttl_attribute) return Invalid("TimeToLive is already disabled");
  if (table->ttl_attribute && table->ttl_attribute != request.attribute) {
    return Invalid("TimeToLive is active on a different AttributeName: current AttributeName is " +
                   *table->ttl_attribute);
  }
  table->ttl_attribute = request.enabled ? std::optional(request.attribute) : std::nullopt;
  return Done{};
}

Status ModelTables::Tag(const tables::TagRequest& request) {
  const std::lock_guard lock(mutex_);
  Table* table = TRY(FindForChange(request.table));
  tables::Tags tags = table->tags;
  for (const std::string& name : request.remove) tags.erase(name);
  for (const auto& [name, value] : request.set) tags[name] = value;
  TRY(CheckTags(tags));
  table->tags = std::move(tags);
  return Done{};
}

Result<tables::Tags> ModelTables::ListTags(const std::string& table) {
  const std::lock_guard lock(mutex_);
  return TRY(FindForChange(table))->tags;
}

void ModelTables::Maintain() {
  const std::lock_guard lock(mutex_);
  for (auto& [name, table] : tables_) {
    SweepExpired(&table);
    for (Index& index : table.indexes) index.state = IndexState::kActive;
  }
  Trim();
}

void ModelTables::SweepExpired(Table* table) {
  if (!table->ttl_attribute) return;
  std::vector<item::Key> expired;
  for (const auto& [key, item] : table->items) {
    if (IsExpired(item, *table->ttl_attribute, Now())) expired.push_back(key);
  }
  for (const item::Key& key : expired) Replace(table, key, std::nullopt, /*expired=*/true);
}

}  // namespace tidemark::model
