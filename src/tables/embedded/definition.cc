#include "tables/embedded/definition.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "tables/embedded/validate.h"
#include "tables/limits.h"

namespace tidemark::embedded {

namespace {

Error NoSuchTable(const std::string& table) {
  return {ErrorCode::kNotFound,
          fmt::format("Requested resource not found: Table: {} not found", table)};
}

Result<std::shared_ptr<Table>> CopyTable(const Catalog& catalog, const std::string& name) {
  const TablePtr table = catalog.Find(name);
  if (table == nullptr) return NoSuchTable(name);
  return std::make_shared<Table>(*table);
}

// A random UUID (version 4).
std::string NewTableId(Random* random) {
  std::string hex = random->Hex(16);
  hex[12] = '4';
  hex[16] = "89ab"[random->Below(4)];
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20));
}

std::string LabelAt(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}", fmt::gmtime(std::time_t{seconds.count()}),
                     (time - seconds).count());
}

// The inverse of LabelAt.
std::chrono::milliseconds TimeOfLabel(const std::string& label) {
  std::tm time{};
  int milliseconds = 0;
  const char* rest = strptime(label.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (rest == nullptr || std::sscanf(rest, ".%3d", &milliseconds) != 1) return {};
  return std::chrono::seconds(timegm(&time)) + std::chrono::milliseconds(milliseconds);
}

// The label of the present time. When the clock has gone back, it is the label just after the
// newest stream of the table, because followers read the streams in the order of their labels.
std::string NewLabel(const Catalog& catalog, const std::string& table,
                     std::chrono::milliseconds now) {
  std::chrono::milliseconds time = now;
  for (const StreamPtr& stream : catalog.ListStreams()) {
    if (stream->table != table) continue;
    time = std::max(time, TimeOfLabel(stream->label) + std::chrono::milliseconds(1));
  }
  return LabelAt(time);
}

StreamPtr NewStream(const Table& table, tables::StreamView view, Group* group) {
  auto stream = std::make_shared<Stream>();
  stream->id = group->catalog().NewNumber();
  stream->table = table.name;
  stream->label = NewLabel(group->catalog(), table.name, group->now_ms());
  stream->keys = table.keys;
  stream->view = view;
  stream->created_at = group->now();
  return stream;
}

StreamPtr Closed(const Stream& stream, EpochSeconds now) {
  auto closed = std::make_shared<Stream>(stream);
  closed->closed_at = now;
  return closed;
}

Index NewIndex(const tables::IndexSpec& spec, Fill fill, Catalog* catalog) {
  return {.spec = spec, .keyspace = catalog->NewNumber(), .fill = std::move(fill)};
}

Error StillInUse(const std::string& table) {
  return {ErrorCode::kInUse,
          fmt::format("Attempt to change a resource which is still in use: Table is "
                      "being updated: {}",
                      table)};
}

bool IsFilling(const Table& table) {
  return std::any_of(table.indexes.begin(), table.indexes.end(),
                     [](const Index& index) { return !index.fill.complete; });
}

Status AddIndex(const tables::IndexSpec& spec, Table* table, Catalog* catalog) {
  if (spec.kind == tables::IndexKind::kLocal) {
    return Invalid(
        "One or more parameter values were invalid: a local secondary index can only be made "
        "with its table");
  }
  if (table->FindIndex(spec.name) != nullptr) {
    return Invalid(
        fmt::format("Attempting to create an index which already exists: {}", spec.name));
  }
  if (IsFilling(*table)) return StillInUse(table->name);
  // CreateTable must accept the same table with the new index.
  tables::CreateTableRequest whole{.table = table->name, .keys = table->keys, .indexes = {spec}};
  for (const Index& index : table->indexes) whole.indexes.push_back(index.spec);
  TRY(ValidateCreateTable(whole));
  table->indexes.push_back(NewIndex(spec, Fill{.complete = false, .done_to = ""}, catalog));
  return Done{};
}

Error NoSuchIndex(const std::string& name, const std::string& table) {
  return {
      ErrorCode::kNotFound,
      fmt::format("Requested resource not found: Index: {} of table {} not found", name, table)};
}

Status DropIndex(const std::string& name, Table* table, Definition* definition) {
  auto place = std::find_if(table->indexes.begin(), table->indexes.end(),
                            [&](const Index& index) { return index.spec.name == name; });
  if (place == table->indexes.end()) {
    return NoSuchIndex(name, table->name);
  }
  if (place->spec.kind == tables::IndexKind::kLocal) {
    return Invalid(
        "One or more parameter values were invalid: a local secondary index goes only with "
        "its table");
  }
  if (place->fill.complete && IsFilling(*table)) return StillInUse(table->name);
  definition->dropped_keyspaces.push_back(place->keyspace);
  table->indexes.erase(place);
  return Done{};
}

Status ChangeThroughput(const tables::UpdateTableRequest& request, Table* table) {
  if (request.throughput) table->throughput = request.throughput;
  if (request.on_demand) {
    table->throughput.reset();
    for (Index& index : table->indexes) index.spec.throughput.reset();
  }
  for (const auto& [name, throughput] : request.index_throughput) {
    TRY(ValidateThroughput(throughput));
    bool is_found = false;
    for (Index& index : table->indexes) {
      if (index.spec.name != name) continue;
      index.spec.throughput = throughput;
      is_found = true;
    }
    if (!is_found) return NoSuchIndex(name, table->name);
  }
  return Done{};
}

Status ChangeStream(const tables::UpdateStream& change, Table* table, Group* group,
                    Definition* definition) {
  if (change.enabled && table->stream) {
    return Invalid(fmt::format("Table already has an enabled stream: TableName: {}", table->name));
  }
  if (!change.enabled && !table->stream) {
    return Invalid(fmt::format("Table has no stream to disable: TableName: {}", table->name));
  }
  table->latest_stream =
      change.enabled ? NewStream(*table, change.view, group) : Closed(*table->stream, group->now());
  table->stream = change.enabled ? table->latest_stream : nullptr;
  definition->streams.push_back(table->latest_stream);
  return Done{};
}

Status ValidateUpdate(const tables::UpdateTableRequest& request) {
  TRY(ValidateTableName(request.table));
  TRY(ValidateThroughput(request.throughput));
  if (request.add_index && request.drop_index) {
    return Error{ErrorCode::kInvalid,
                 "Subscriber limit exceeded: Only 1 online index can be created or "
                 "deleted simultaneously per table"};
  }
  if (!request.add_index && !request.drop_index && !request.stream && !request.throughput &&
      !request.on_demand && !request.deletion_protected && !request.table_class &&
      !request.encryption && request.index_throughput.empty()) {
    return Invalid(
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required");
  }
  return Done{};
}

}  // namespace

Status DefinitionChange::Evaluate(Group* group) {
  definition_ = TRY(decide_(group));
  Batch& batch = group->batch();
  const Catalog& catalog = group->catalog();
  if (definition_.dropped) Catalog::Remove(*definition_.dropped, &batch);
  for (Keyspace keyspace : definition_.dropped_keyspaces) Catalog::Remove(keyspace, &batch);
  for (const StreamPtr& stream : definition_.dropped_streams) Catalog::Remove(*stream, &batch);
  for (const StreamPtr& stream : definition_.streams) catalog.Put(*stream, &batch);
  if (definition_.table) catalog.Put(*definition_.table, &batch);
  return Done{};
}

void DefinitionChange::Committed(Catalog* catalog) {
  if (definition_.dropped) catalog->Unpublish(*definition_.dropped);
  for (const StreamPtr& stream : definition_.dropped_streams) catalog->Unpublish(*stream);
  for (const StreamPtr& stream : definition_.streams) catalog->Publish(stream);
  if (definition_.table) catalog->Publish(definition_.table);
}

Result<Definition> CreateTable(const tables::CreateTableRequest& request, Random* random,
                               Group* group) {
  TRY(ValidateCreateTable(request));
  Catalog& catalog = group->catalog();
  if (catalog.Find(request.table) != nullptr) {
    return Error{ErrorCode::kInUse, fmt::format("Table already exists: {}", request.table)};
  }
  auto table = std::make_shared<Table>();
  table->name = request.table;
  table->id = NewTableId(random);
  table->keyspace = catalog.NewNumber();
  table->keys = request.keys;
  for (const tables::IndexSpec& spec : request.indexes) {
    table->indexes.push_back(NewIndex(spec, Fill{}, &catalog));
  }
  table->tags = request.tags;
  table->throughput = request.throughput;
  table->deletion_protected = request.deletion_protected;
  table->table_class = request.table_class;
  table->encryption = request.encryption;
  table->created_at = group->now();
  Definition definition;
  if (request.stream) {
    table->stream = table->latest_stream = NewStream(*table, *request.stream, group);
    definition.streams.push_back(table->stream);
  }
  definition.table = std::move(table);
  return definition;
}

Result<Definition> UpdateTable(const tables::UpdateTableRequest& request, Group* group) {
  TRY(ValidateUpdate(request));
  auto table = TRY(CopyTable(group->catalog(), request.table));
  Definition definition;
  if (request.add_index) TRY(AddIndex(*request.add_index, table.get(), &group->catalog()));
  if (request.drop_index) TRY(DropIndex(*request.drop_index, table.get(), &definition));
  if (request.stream) TRY(ChangeStream(*request.stream, table.get(), group, &definition));
  TRY(ChangeThroughput(request, table.get()));
  if (request.deletion_protected) table->deletion_protected = *request.deletion_protected;
  if (request.table_class) table->table_class = *request.table_class;
  if (request.encryption) table->encryption = *request.encryption;
  definition.table = std::move(table);
  return definition;
}

Result<Definition> DeleteTable(const std::string& name, Group* group) {
  TRY(ValidateTableName(name));
  const TablePtr table = group->catalog().Find(name);
  if (table == nullptr) return NoSuchTable(name);
  if (table->deletion_protected) {
    return Invalid(
        "Resource cannot be deleted as it is currently protected against deletion. Disable "
        "deletion protection first.");
  }
  Definition definition{.dropped = table};
  if (table->stream) definition.streams.push_back(Closed(*table->stream, group->now()));
  return definition;
}

Result<Definition> SetTimeToLive(const tables::SetTimeToLiveRequest& request, Group* group) {
  TRY(ValidateTableName(request.table));
  if (request.attribute.empty() || request.attribute.size() > 255) {
    return Invalid(
        "1 validation error detected: Value at 'timeToLiveSpecification.attributeName' failed "
        "to satisfy constraint: Member must have length between 1 and 255");
  }
  auto table = TRY(CopyTable(group->catalog(), request.table));
  Definition definition;
  if (table->expiry && table->expiry->attribute != request.attribute) {
    return Invalid(
        fmt::format("TimeToLive is active on a different AttributeName: current AttributeName is "
                    "{}",
                    table->expiry->attribute));
  }
  if (request.enabled == table->expiry.has_value()) {
    return Invalid(request.enabled ? "TimeToLive is already enabled"
                                   : "TimeToLive is already disabled");
  }
  if (request.enabled) {
    table->expiry = ExpiryList{.attribute = request.attribute,
                               .keyspace = group->catalog().NewNumber(),
                               .fill = Fill{.complete = false, .done_to = ""}};
  } else {
    definition.dropped_keyspaces.push_back(table->expiry->keyspace);
    table->expiry.reset();
  }
  definition.table = std::move(table);
  return definition;
}

Result<Definition> TagTable(const tables::TagRequest& request, Group* group) {
  TRY(ValidateTableName(request.table));
  auto table = TRY(CopyTable(group->catalog(), request.table));
  for (const auto& [name, value] : request.set) table->tags[name] = value;
  for (const std::string& name : request.remove) table->tags.erase(name);
  TRY(ValidateTags(table->tags));
  return Definition{.table = std::move(table)};
}

}  // namespace tidemark::embedded
