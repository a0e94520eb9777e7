#include "tables/embedded/read.h"

#include <set>

#include <fmt/format.h>

#include "expression/bindings.h"
#include "expression/projection.h"
#include "item/encoding.h"
#include "item/size.h"
#include "item/validate.h"
#include "tables/add_capacity.h"
#include "tables/embedded/capacity.h"
#include "tables/embedded/row_key.h"
#include "tables/embedded/validate.h"
#include "tables/limits.h"

namespace tidemark::embedded {

namespace {

using expression::Path;
using item::Item;

using Projection = std::optional<std::vector<Path>>;

Result<Projection> PrepareProjection(const std::optional<std::string>& text,
                                     const tables::Names& names) {
  static const tables::Values kNoValues;
  auto bindings = TRY(expression::Bindings::Make(names, kNoValues, text.has_value()));
  if (!text) return Projection();
  std::vector<Path> paths = TRY(expression::ParseProjection(*text, &bindings));
  TRY(bindings.AllUsed());
  return Projection(std::move(paths));
}

Item Projected(Item item, const Projection& projection) {
  return projection ? expression::Project(item, *projection) : std::move(item);
}

Result<std::string> RowKeyOf(const Table& table, const Item& key) {
  const item::Key values = TRY(item::KeyOfAttributes(key, table.keys));
  return ItemRowKey(table.keyspace, values);
}

// ---- One item ----

struct PlannedGet {
  std::string row_key;
  Projection projection;

  Result<Item> ItemIn(std::string_view value) const {
    return Projected(TRY(item::DecodeItem(value)), projection);
  }
};

Result<PlannedGet> PlanGet(const Catalog& catalog, const tables::GetRequest& request) {
  TRY(ValidateTableName(request.table));
  TRY(item::ValidateItem(request.key));
  PlannedGet planned{.projection = TRY(PrepareProjection(request.projection, request.names))};
  const TablePtr table = TRY(catalog.Need(request.table));
  planned.row_key = TRY(RowKeyOf(*table, request.key));
  return planned;
}

// ---- Batches ----

Status ValidateBatchSize(const tables::BatchGetRequest& request) {
  size_t keys = 0;
  for (const auto& [table, part] : request.tables) {
    if (part.keys.empty()) {
      return Invalid(
          fmt::format("1 validation error detected: Value at 'RequestItems.{}.member.Keys' "
                      "failed to satisfy constraint: Member must have length greater than "
                      "or equal to 1",
                      table));
    }
    keys += part.keys.size();
  }
  if (keys == 0) {
    return Invalid(
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1");
  }
  if (keys > tables::kMaxBatchGetKeys) {
    return Invalid("Too many items requested for the BatchGetItem call");
  }
  return Done{};
}

struct BatchPart {
  Projection projection;
  std::vector<std::string> row_keys;
};

Result<BatchPart> PrepareRows(const Catalog& catalog, const std::string& name,
                              const tables::BatchGetRequest::Part& part, Projection projection) {
  const TablePtr table = TRY(catalog.Need(name));
  BatchPart prepared{.projection = std::move(projection)};
  std::set<std::string> seen;
  for (const Item& key : part.keys) {
    std::string row_key = TRY(RowKeyOf(*table, key));
    if (!seen.insert(row_key).second)
      return Invalid("Provided list of item keys contains duplicates");
    prepared.row_keys.push_back(std::move(row_key));
  }
  return prepared;
}

Result<std::map<std::string, BatchPart>> PrepareBatch(const Catalog& catalog,
                                                      const tables::BatchGetRequest& request) {
  TRY(ValidateBatchSize(request));
  std::map<std::string, Projection> projections;
  for (const auto& [table, part] : request.tables) {
    TRY(ValidateTableName(table));
    for (const Item& key : part.keys) TRY(item::ValidateItem(key));
    projections[table] = TRY(PrepareProjection(part.projection, part.names));
  }
  std::map<std::string, BatchPart> parts;
  for (const auto& [table, part] : request.tables) {
    parts[table] = TRY(PrepareRows(catalog, table, part, std::move(projections[table])));
  }
  return parts;
}

// What a reply holds so far, in DynamoDB's bytes and as JSON.
struct ReplySize {
  size_t bytes = 0;
  size_t json_bytes = 0;
  size_t items = 0;

  // The first item always fits.
  bool Fits(size_t max_bytes) const {
    return bytes <= max_bytes && (items == 0 || json_bytes <= tables::kMaxBatchJsonBytes);
  }
};

void LeaveUnprocessed(const std::string& table, const tables::BatchGetRequest::Part& part,
                      size_t key, tables::BatchGetReply* reply) {
  auto [place, added] = reply->unprocessed.try_emplace(table);
  if (added) {
    place->second.projection = part.projection;
    place->second.names = part.names;
    place->second.consistent = part.consistent;
  }
  place->second.keys.push_back(part.keys[key]);
}

// ---- Transactions ----

struct PreparedGet {
  TablePtr table;
  Projection projection;
};

Result<std::vector<PreparedGet>> PrepareGets(const Catalog& catalog,
                                             const tables::TransactGetRequest& request) {
  if (request.gets.empty() || request.gets.size() > tables::kMaxTransactActions) {
    return Invalid(
        fmt::format("1 validation error detected: Value at 'transactItems' failed to satisfy "
                    "constraint: Member must have length {} than or equal to {}",
                    request.gets.empty() ? "greater" : "less",
                    request.gets.empty() ? 1 : tables::kMaxTransactActions));
  }
  std::vector<PreparedGet> prepared;
  for (const tables::GetRequest& get : request.gets) {
    TRY(ValidateTableName(get.table));
    TRY(item::ValidateItem(get.key));
    prepared.push_back({.projection = TRY(PrepareProjection(get.projection, get.names))});
  }
  for (size_t i = 0; i < prepared.size(); ++i) {
    prepared[i].table = TRY(catalog.Need(request.gets[i].table));
  }
  return prepared;
}

// The row key of each get. A key that does not fit its table cancels the transaction. An item that
// is asked for twice refuses the request, also when a key does not fit.
Result<std::vector<std::string>> RowKeysOf(const tables::TransactGetRequest& request,
                                           const std::vector<PreparedGet>& prepared,
                                           tables::TransactGetReply* reply) {
  std::vector<std::string> row_keys(prepared.size());
  std::set<std::string> seen;
  for (size_t i = 0; i < prepared.size(); ++i) {
    Result<std::string> row_key = RowKeyOf(*prepared[i].table, request.gets[i].key);
    if (row_key.has_value()) {
      if (!seen.insert(*row_key).second) {
        return Invalid("Transaction request cannot include multiple operations on one item");
      }
      row_keys[i] = *std::move(row_key);
    } else if (!reply->cancelled) {
      reply->cancelled = true;
      reply->reasons.resize(prepared.size());
      reply->reasons[i] = {.code = tables::CancellationCode::kValidationError,
                           .message = row_key.error().message};
    }
  }
  return row_keys;
}

// As in DynamoDB, a transaction that reads too much is cancelled. It never returns only a part.
tables::TransactGetReply TooLarge(size_t gets, size_t at) {
  tables::TransactGetReply reply{.cancelled = true};
  reply.reasons.resize(gets);
  reply.reasons[at] = {
      .code = tables::CancellationCode::kValidationError,
      .message = fmt::format("the items of the transaction are larger than 4 MB, or than {} MB as "
                             "JSON: ask for fewer items, or for fewer of their attributes",
                             tables::kMaxBatchJsonBytes >> 20)};
  return reply;
}

}  // namespace

Result<std::optional<Item>> GetItem(const Store& store, const Catalog& catalog,
                                    const tables::GetRequest& request) {
  const PlannedGet get = TRY(PlanGet(catalog, request));
  std::string value;
  if (!TRY(store.Get(Family::kRows, get.row_key, &value))) return std::optional<Item>();
  return std::optional(TRY(get.ItemIn(value)));
}

Result<std::optional<std::optional<Item>>> GetItemInMemory(const Store& store,
                                                           const Catalog& catalog,
                                                           const tables::GetRequest& request) {
  using Answer = std::optional<std::optional<Item>>;
  const PlannedGet get = TRY(PlanGet(catalog, request));
  std::string value;
  switch (TRY(store.GetInMemory(Family::kRows, get.row_key, &value))) {
    case Found::kYes:
      return Answer(TRY(get.ItemIn(value)));
    case Found::kNo:
      return Answer(std::optional<Item>());
    case Found::kNeedsDisk:
      break;
  }
  return Answer();
}

Result<tables::BatchGetReply> BatchGetItems(const Store& store, const Catalog& catalog,
                                            const tables::BatchGetRequest& request) {
  const auto prepared = TRY(PrepareBatch(catalog, request));
  tables::BatchGetReply reply;
  ReplySize size;
  bool is_full = false;
  std::string value;
  for (const auto& [table, part] : request.tables) {
    const BatchPart& rows = prepared.at(table);
    std::vector<Item>& items = reply.items[table];
    const auto measure = [&, &name = table, &settings = part](size_t item_bytes) {
      if (request.measure == tables::Measure::kNone) return;
      AddCapacity({.table = name,
                   .measure = request.measure,
                   .table_units = ReadUnits(item_bytes, settings.consistent)},
                  &reply.capacity);
    };
    for (size_t i = 0; i < rows.row_keys.size(); ++i) {
      if (is_full) {
        LeaveUnprocessed(table, part, i, &reply);
        continue;
      }
      if (!TRY(store.Get(Family::kRows, rows.row_keys[i], &value))) {
        measure(0);
        continue;
      }
      Item item = TRY(item::DecodeItem(value));
      // DynamoDB counts the whole item. The JSON has only the part that was asked for.
      const size_t item_bytes = item::SizeBytes(item);
      size.bytes += item_bytes;
      Item projected = Projected(std::move(item), rows.projection);
      size.json_bytes += item::JsonBytes(projected);
      is_full = !size.Fits(tables::kMaxBatchGetBytes);
      if (is_full) {
        LeaveUnprocessed(table, part, i, &reply);
      } else {
        measure(item_bytes);
        items.push_back(std::move(projected));
        ++size.items;
      }
    }
  }
  return reply;
}

Result<tables::TransactGetReply> TransactGetItems(const Store& store, const Catalog& catalog,
                                                  const tables::TransactGetRequest& request) {
  const std::vector<PreparedGet> prepared = TRY(PrepareGets(catalog, request));
  tables::TransactGetReply reply;
  const std::vector<std::string> row_keys = TRY(RowKeysOf(request, prepared, &reply));
  if (reply.cancelled) return reply;
  const Snapshot snapshot = store.TakeSnapshot();
  ReplySize size;
  std::string value;
  const auto measure = [&](const Table& table, size_t bytes) {
    if (request.measure == tables::Measure::kNone) return;
    AddCapacity(
        {.table = table.name, .measure = request.measure, .table_units = TransactReadUnits(bytes)},
        &reply.capacity);
  };
  for (size_t i = 0; i < prepared.size(); ++i) {
    if (!TRY(store.Get(Family::kRows, row_keys[i], &value, snapshot))) {
      measure(*prepared[i].table, 0);
      reply.items.push_back(std::nullopt);
      continue;
    }
    Item item = TRY(item::DecodeItem(value));
    const size_t item_bytes = item::SizeBytes(item);
    size.bytes += item_bytes;
    Item projected = Projected(std::move(item), prepared[i].projection);
    size.json_bytes += item::JsonBytes(projected);
    if (!size.Fits(tables::kMaxTransactBytes)) return TooLarge(prepared.size(), i);
    measure(*prepared[i].table, item_bytes);
    reply.items.push_back(std::move(projected));
    ++size.items;
  }
  return reply;
}

}  // namespace tidemark::embedded
