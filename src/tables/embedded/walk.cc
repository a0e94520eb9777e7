#include "tables/embedded/walk.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expression/bindings.h"
#include "expression/condition.h"
#include "expression/key_condition.h"
#include "expression/projection.h"
#include "item/encoding.h"
#include "item/size.h"
#include "item/validate.h"
#include "tables/embedded/capacity.h"
#include "tables/embedded/index.h"
#include "tables/embedded/row_key.h"
#include "tables/embedded/validate.h"
#include "tables/limits.h"

namespace tidemark::embedded {

namespace {

using expression::Bindings;
using item::Item;
using tables::Select;

// A query with a larger limit reads its rows once and does not put them into the block cache, so
// that it does not push out what others read again and again.
constexpr uint32_t kLongQuery = 200;

// Which rows are walked, from where, and which of them are returned.
struct WalkPlan {
  TablePtr table;
  const Index* index = nullptr;
  Range range;
  bool forward = true;
  Walk walk = Walk::kShort;
  std::optional<std::string> start_after;  // A row key.
  std::optional<expression::Condition> filter;
  std::optional<std::vector<expression::Path>> projection;
  bool count_only = false;
  // Whether the table's item of an index row is read too, and for what.
  enum class Fetch { kNothing, kForFilter, kForReply } fetch = Fetch::kNothing;
  std::optional<uint32_t> limit;
  bool consistent = false;
  tables::Measure measure = tables::Measure::kNone;

  Keyspace keyspace() const { return index == nullptr ? table->keyspace : index->keyspace; }
  const item::KeySchema& keys() const { return index == nullptr ? table->keys : index->spec.keys; }
};

// ---- Planning ----

// The steps that Query and Scan have in common. As in DynamoDB, a wrong expression is reported
// before a missing table.
template <typename Request>
Result<WalkPlan> ParseCommon(const Request& request, Bindings* bindings) {
  WalkPlan plan;
  plan.limit = request.limit;
  plan.consistent = request.consistent;
  plan.measure = request.measure;
  if (request.filter) {
    plan.filter = TRY(expression::ParseCondition(*request.filter, "FilterExpression", bindings));
  }
  if (request.projection) {
    plan.projection = TRY(expression::ParseProjection(*request.projection, bindings));
  }
  return plan;
}

Status CheckSelect(const std::optional<Select>& select, bool has_projection, bool has_index) {
  if (select == Select::kSpecificAttributes && !has_projection) {
    return Invalid(
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES");
  }
  if (select == Select::kAllProjectedAttributes && !has_index) {
    return Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  if (select && select != Select::kSpecificAttributes && has_projection) {
    const std::string_view name = select == Select::kCount           ? "only the Count"
                                  : select == Select::kAllAttributes ? "ALL_ATTRIBUTES"
                                                                     : "ALL_PROJECTED_ATTRIBUTES";
    return Invalid(
        fmt::format("Cannot specify the ProjectionExpression when choosing to get {}", name));
  }
  return Done{};
}

template <typename Request>
Status FindIndex(const Request& request, WalkPlan* plan) {
  if (!request.index) return Done{};
  plan->index = plan->table->FindIndex(*request.index);
  if (plan->index == nullptr) {
    return Invalid(fmt::format("The table does not have the specified index: {}", *request.index));
  }
  const bool global = plan->index->spec.kind == tables::IndexKind::kGlobal;
  if (global && request.consistent) {
    return Invalid("Consistent reads are not supported on global secondary indexes");
  }
  if (!plan->index->fill.complete) {
    return Invalid(
        fmt::format("Cannot read from backfilling global secondary index: {}", *request.index));
  }
  return Done{};
}

// The requested attributes that the rows of the index do not hold.
std::set<std::string> Uncarried(const WalkPlan& plan) {
  std::set<std::string> uncarried;
  if (!plan.projection) return uncarried;
  for (const expression::Path& path : *plan.projection) {
    if (!Carries(*plan.table, *plan.index, path.attribute())) uncarried.insert(path.attribute());
  }
  return uncarried;
}

bool FilterNeedsTable(const WalkPlan& plan) {
  if (!plan.filter) return false;
  for (const std::string& attribute : plan.filter->Attributes()) {
    if (!Carries(*plan.table, *plan.index, attribute)) return true;
  }
  return false;
}

// As in DynamoDB: a local index reads attributes that it does not hold from the table; a global
// index refuses the request.
Status PlanAttributes(const std::optional<Select>& select, WalkPlan* plan) {
  plan->count_only = select == Select::kCount;
  if (plan->index == nullptr) return Done{};
  const std::string& name = plan->index->spec.name;
  const bool carries_all = plan->index->spec.projection.kind == tables::ProjectionKind::kAll;
  const bool wants_all = select == Select::kAllAttributes && !carries_all;
  const std::set<std::string> uncarried = Uncarried(*plan);
  if (plan->index->spec.kind == tables::IndexKind::kLocal) {
    if (FilterNeedsTable(*plan)) plan->fetch = WalkPlan::Fetch::kForFilter;
    if (wants_all || !uncarried.empty()) plan->fetch = WalkPlan::Fetch::kForReply;
    return Done{};
  }
  if (wants_all) {
    return Invalid(
        fmt::format("One or more parameter values were invalid: Select type ALL_ATTRIBUTES "
                    "is not supported for global secondary index {} because its projection "
                    "type is not ALL",
                    name));
  }
  if (!uncarried.empty()) {
    return Invalid(
        fmt::format("One or more parameter values were invalid: Global secondary index {} "
                    "does not project [{}]",
                    name, fmt::join(uncarried, ", ")));
  }
  return Done{};
}

constexpr std::string_view kBadStartKey = "The provided starting key is invalid";

Error BadStartKey() { return Invalid(std::string(kBadStartKey)); }

// How many different attributes the table's and the index's keys have together.
size_t StartKeySize(const WalkPlan& plan) {
  std::set<std::string> names;
  for (const item::KeySchema* keys : {&plan.table->keys, &plan.keys()}) {
    for (const item::KeyAttribute* key : item::AttributesOf(*keys)) names.insert(key->name);
  }
  return names.size();
}

Result<std::string> RowKeyOfStart(const Item& start, const WalkPlan& plan) {
  if (start.size() != StartKeySize(plan)) return BadStartKey();
  const Result<item::Key> key = item::KeyOfItem(start, plan.table->keys);
  if (!key.has_value()) return BadStartKey();
  if (plan.index == nullptr) return ItemRowKey(plan.table->keyspace, *key);
  const auto index_key = item::IndexKeyOfItem(start, plan.index->spec.keys, plan.index->spec.name);
  if (!index_key.has_value() || !index_key->has_value()) return BadStartKey();
  return IndexRowKey(plan.index->keyspace, **index_key, *key);
}

bool Contains(const Range& range, const std::string& key) {
  return range.low <= key && key < range.high;
}

Status PlanScanStart(const std::optional<Item>& start, WalkPlan* plan) {
  if (!start) return Done{};
  Result<std::string> row = RowKeyOfStart(*start, *plan);
  // DynamoDB gives the reason only here.
  if (!row && plan->index == nullptr) {
    return Invalid(
        fmt::format("{}: The provided key element does not match the schema", kBadStartKey));
  }
  plan->start_after = TRY(std::move(row));
  if (Contains(plan->range, *plan->start_after)) return Done{};
  return Invalid(
      "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
      "ExclusiveStartKey with correct Segment");
}

Status PlanQueryStart(const std::optional<Item>& start, const expression::KeyCondition& condition,
                      WalkPlan* plan) {
  if (!start) return Done{};
  plan->start_after = TRY(RowKeyOfStart(*start, *plan));
  if (Contains(plan->range, *plan->start_after)) return Done{};
  const Range whole_partition =
      ConditionRange(plan->keyspace(), {.partition = condition.partition,
                                        .sort = std::nullopt,
                                        .more_partition = condition.more_partition});
  return Invalid(Contains(whole_partition, *plan->start_after)
                     ? "The provided starting key does not match the range key predicate"
                     : "The provided starting key is outside query boundaries based on provided "
                       "conditions");
}

Status CheckFilterHasNoKeys(const WalkPlan& plan) {
  if (!plan.filter) return Done{};
  const item::KeySchema& keys = plan.keys();
  for (const std::string& attribute : plan.filter->Attributes()) {
    if (!item::HasAttribute(keys, attribute)) continue;
    return Invalid(
        fmt::format("Filter Expression can only contain non-primary key attributes: Primary "
                    "key attribute: {}",
                    attribute));
  }
  return Done{};
}

Result<expression::ParsedKeyCondition> ReadKeyCondition(const tables::QueryRequest& request,
                                                        Bindings* bindings) {
  if (!request.partition) return expression::ParseKeyCondition(request.key_condition, bindings);
  if (!request.key_condition.empty()) {
    return Invalid("A query has either a partition or a key condition, not both");
  }
  TRY(item::ValidateValue(request.partition->value));
  return expression::WholePartition(*request.partition);
}

Result<WalkPlan> PlanQuery(const Catalog& catalog, const tables::QueryRequest& request) {
  TRY(ValidateTableName(request.table));
  TRY(ValidateLimit(request.limit));
  TRY(ValidateValues(request.values));
  TRY(CheckSelect(request.select, request.projection.has_value(), request.index.has_value()));
  const bool has_expression =
      !request.partition || !request.key_condition.empty() || request.filter || request.projection;
  Bindings bindings = TRY(Bindings::Make(request.names, request.values, has_expression));
  WalkPlan plan = TRY(ParseCommon(request, &bindings));
  const auto key_condition = TRY(ReadKeyCondition(request, &bindings));
  TRY(bindings.AllUsed());
  plan.table = TRY(catalog.Need(request.table));
  TRY(FindIndex(request, &plan));
  const auto condition = TRY(expression::MatchKeySchema(key_condition, plan.keys()));
  TRY(CheckFilterHasNoKeys(plan));
  TRY(PlanAttributes(request.select, &plan));
  plan.range = ConditionRange(plan.keyspace(), condition);
  plan.forward = request.forward;
  if (request.limit.value_or(0) > kLongQuery) plan.walk = Walk::kLong;
  TRY(PlanQueryStart(request.start_after, condition, &plan));
  return plan;
}

Status CheckSegments(const tables::ScanRequest& request) {
  if (request.segment && !request.total_segments) {
    return Invalid(
        "The TotalSegments parameter is required but was not present in the request when "
        "Segment parameter is present");
  }
  if (!request.total_segments) return Done{};
  if (!request.segment) {
    return Invalid(
        "The Segment parameter is required but was not present in the request when "
        "parameter TotalSegments is present");
  }
  if (*request.total_segments == 0 || *request.total_segments > tables::kMaxScanSegments) {
    return Invalid(
        fmt::format("1 validation error detected: Value '{}' at 'totalSegments' failed to "
                    "satisfy constraint: Member must have value between 1 and {}",
                    *request.total_segments, tables::kMaxScanSegments));
  }
  if (*request.segment >= *request.total_segments) {
    return Invalid(
        fmt::format("The Segment parameter is zero-based and must be less than parameter "
                    "TotalSegments: Segment: {} is not less than TotalSegments: {}",
                    *request.segment, *request.total_segments));
  }
  return Done{};
}

Result<WalkPlan> PlanScan(const Catalog& catalog, const tables::ScanRequest& request) {
  TRY(ValidateTableName(request.table));
  TRY(ValidateLimit(request.limit));
  TRY(ValidateValues(request.values));
  TRY(CheckSegments(request));
  TRY(CheckSelect(request.select, request.projection.has_value(), request.index.has_value()));
  const bool has_expression = request.filter || request.projection;
  Bindings bindings = TRY(Bindings::Make(request.names, request.values, has_expression));
  WalkPlan plan = TRY(ParseCommon(request, &bindings));
  TRY(bindings.AllUsed());
  plan.table = TRY(catalog.Need(request.table));
  TRY(FindIndex(request, &plan));
  TRY(PlanAttributes(request.select, &plan));
  plan.range = SegmentRange(plan.keyspace(), request.segment.value_or(0),
                            request.total_segments.value_or(1));
  plan.walk = Walk::kLong;
  TRY(PlanScanStart(request.start_after, &plan));
  return plan;
}

// ---- Walking ----

void SeekToStart(const WalkPlan& plan, Cursor* cursor) {
  if (!plan.start_after) {
    plan.forward ? cursor->SeekToFirst() : cursor->SeekToLast();
    return;
  }
  plan.forward ? cursor->Seek(*plan.start_after) : cursor->SeekForPrev(*plan.start_after);
  // The row at start_after was in the previous page, so it is skipped. It may have been deleted
  // since; then the seek has already found the next row.
  if (cursor->valid() && cursor->key() == *plan.start_after) {
    plan.forward ? cursor->Next() : cursor->Prev();
  }
}

Item KeysOf(const WalkPlan& plan, const Item& row) {
  Item keys;
  for (const item::KeySchema* schema : {&plan.table->keys, &plan.keys()}) {
    for (const item::KeyAttribute* key : item::AttributesOf(*schema)) {
      keys.Set(key->name, *row.Find(key->name));
    }
  }
  return keys;
}

// The whole item of an index row, from the same snapshot. A read of the present state would be
// wrong: the item may have been changed or deleted since the index row was read.
Result<Item> FetchFromTable(const Store& store, const WalkPlan& plan, const Item& row,
                            const Snapshot& snapshot) {
  const item::Key key = TRY(item::KeyOfItem(row, plan.table->keys));
  std::string value;
  if (!TRY(store.Get(Family::kRows, ItemRowKey(plan.table->keyspace, key), &value, snapshot))) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the index {} has a row without an item; restore a "
                             "backup",
                             plan.index->spec.name)};
  }
  return item::DecodeItem(value);
}

// Returns how many bytes of JSON the item adds to the reply.
size_t Keep(const WalkPlan& plan, Item item, tables::Page* page) {
  ++page->count;
  if (plan.count_only) return 0;
  page->items.push_back(plan.projection ? expression::Project(item, *plan.projection)
                                        : std::move(item));
  return item::JsonBytes(page->items.back());
}

// What a walk has read, in bytes, and what the table's items cost that it read for a local index.
struct Consumed {
  size_t bytes = 0;
  double fetched_units = 0;
};

std::optional<tables::Capacity> CapacityOf(const WalkPlan& plan, const Consumed& consumed) {
  if (plan.measure == tables::Measure::kNone) return std::nullopt;
  tables::Capacity capacity{.table = plan.table->name, .measure = plan.measure};
  const double units = ReadUnits(consumed.bytes, plan.consistent);
  if (plan.index == nullptr) {
    capacity.table_units = units;
    return capacity;
  }
  const bool is_global = plan.index->spec.kind == tables::IndexKind::kGlobal;
  (is_global ? capacity.global_indexes : capacity.local_indexes)[plan.index->spec.name] = units;
  capacity.table_units = consumed.fetched_units;
  return capacity;
}

Result<tables::Page> RunWalk(const Store& store, const WalkPlan& plan) {
  std::optional<Snapshot> snapshot;
  if (plan.fetch != WalkPlan::Fetch::kNothing) snapshot.emplace(store.TakeSnapshot());
  Cursor cursor = snapshot ? store.Iterate(Family::kRows, plan.range, *snapshot)
                           : store.Iterate(Family::kRows, plan.range, plan.walk);
  tables::Page page;
  size_t bytes = 0;
  size_t json_bytes = 0;
  Consumed consumed;
  for (SeekToStart(plan, &cursor); cursor.valid(); plan.forward ? cursor.Next() : cursor.Prev()) {
    Item item = TRY(item::DecodeItem(cursor.value()));
    const size_t row_bytes = item::SizeBytes(item);
    consumed.bytes += row_bytes;
    std::optional<Item> whole;
    if (snapshot) {
      whole = TRY(FetchFromTable(store, plan, item, *snapshot));
      consumed.fetched_units += ReadUnits(item::SizeBytes(*whole), plan.consistent);
    }
    const bool kept = !plan.filter || plan.filter->Holds(whole ? *whole : item);
    if (plan.fetch == WalkPlan::Fetch::kForReply) item = *std::move(whole);
    ++page.scanned;
    bytes += plan.fetch == WalkPlan::Fetch::kForReply ? item::SizeBytes(item) : row_bytes;
    // DynamoDB's limits count items before the filter, so a page may reach one and still be empty.
    const bool full = page.scanned == plan.limit || bytes >= tables::kMaxPageBytes;
    if (full) page.last = KeysOf(plan, item);
    if (kept) json_bytes += Keep(plan, std::move(item), &page);
    if (full) break;
    if (json_bytes < tables::kMaxPageJsonBytes) continue;
    // The item is in the page already. This is rare, so its row is decoded once more.
    page.last = KeysOf(plan, TRY(item::DecodeItem(cursor.value())));
    break;
  }
  page.capacity = CapacityOf(plan, consumed);
  // A cursor also ends at a damaged block. Without this check the reply would look as if there were
  // no more rows.
  TRY(cursor.status());
  return page;
}

// ---- Whole partitions ----

// Whether the query asks for all items of one partition of the table, as they are.
bool IsWholePartition(const tables::QueryRequest& request) {
  return request.partition && request.key_condition.empty() && !request.index && !request.filter &&
         !request.projection && request.names.empty() && request.values.empty() &&
         !request.select && request.forward && !request.limit && !request.start_after &&
         request.measure == tables::Measure::kNone;
}

// The rows from the store; nullopt when there are more than the cache keeps, or when a walk in
// memory needs the disk.
Result<std::optional<PartitionCache::Rows>> ReadSmall(const Store& store, const Range& range,
                                                      Walk walk) {
  PartitionCache::Rows rows;
  size_t bytes = 0;
  Cursor cursor = store.Iterate(Family::kRows, range, walk);
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    bytes += cursor.value().size();
    if (rows.size() == PartitionCache::kMaxRows || bytes > PartitionCache::kMaxBytes) {
      return std::optional<PartitionCache::Rows>();
    }
    rows.push_back({std::string(cursor.key()), TRY(item::DecodeItem(cursor.value()))});
  }
  if (cursor.needs_disk()) return std::optional<PartitionCache::Rows>();
  TRY(cursor.status());
  return std::optional(std::move(rows));
}

tables::Page PageOf(std::vector<Item> items) {
  const uint64_t count = items.size();
  return {.items = std::move(items), .count = count, .scanned = count};
}

// nullopt when the partition is not a small one, or when a walk in memory needs the disk.
Result<std::optional<tables::Page>> QuerySmallPartition(const Store& store, const Catalog& catalog,
                                                        PartitionCache* partitions,
                                                        const tables::QueryRequest& request,
                                                        Walk walk) {
  TRY(ValidateTableName(request.table));
  TRY(item::ValidateValue(request.partition->value));
  const TablePtr table = TRY(catalog.Need(request.table));
  const auto condition =
      TRY(expression::MatchKeySchema(expression::WholePartition(*request.partition), table->keys));
  const Range range = ConditionRange(table->keyspace, condition);
  if (auto items = partitions->Find(range.low)) return std::optional(PageOf(*std::move(items)));
  const PartitionCache::Ticket ticket = partitions->BeginRead(range.low);
  std::optional<PartitionCache::Rows> rows = TRY(ReadSmall(store, range, walk));
  if (!rows) return std::optional<tables::Page>();
  std::vector<Item> items;
  items.reserve(rows->size());
  for (const PartitionCache::Row& row : *rows) items.push_back(row.item);
  partitions->Insert(range.low, ticket, *std::move(rows));
  return std::optional(PageOf(std::move(items)));
}

}  // namespace

Result<tables::Page> RunQuery(const Store& store, const Catalog& catalog,
                              PartitionCache* partitions, const tables::QueryRequest& request) {
  if (IsWholePartition(request)) {
    std::optional<tables::Page> page =
        TRY(QuerySmallPartition(store, catalog, partitions, request, Walk::kShort));
    if (page) return *std::move(page);
  }
  const WalkPlan plan = TRY(PlanQuery(catalog, request));
  return RunWalk(store, plan);
}

Result<std::optional<tables::Page>> QueryMemory(const Store& store, const Catalog& catalog,
                                                PartitionCache* partitions,
                                                const tables::QueryRequest& request) {
  if (!IsWholePartition(request)) return std::optional<tables::Page>();
  return QuerySmallPartition(store, catalog, partitions, request, Walk::kInMemory);
}

Result<tables::Page> RunScan(const Store& store, const Catalog& catalog,
                             const tables::ScanRequest& request) {
  const WalkPlan plan = TRY(PlanScan(catalog, request));
  return RunWalk(store, plan);
}

}  // namespace tidemark::embedded
