// Queries and scans of the model. It collects and sorts all rows, and then drops those that do not
// match.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "expression/projection.h"
#include "item/json.h"
#include "item/order.h"
#include "item/size.h"
#include "tables/limits.h"
#include "tests/model/model_tables.h"

namespace tidemark::model {

namespace {

using expression::SortCondition;
using expression::SortOperator;
using item::Item;
using tables::IndexKind;
using tables::IndexSpec;
using tables::IndexState;
using tables::ProjectionKind;
using tables::Select;

std::set<std::string> NamesOf(const item::KeySchema& keys) {
  std::set<std::string> names;
  for (const item::KeyAttribute* attribute : item::AttributesOf(keys)) {
    names.insert(attribute->name);
  }
  return names;
}

// The attributes that an index holds; nullopt when it holds all.
std::optional<std::set<std::string>> Carried(const IndexSpec& index, const item::KeySchema& table) {
  if (index.projection.kind == ProjectionKind::kAll) return std::nullopt;
  std::set<std::string> names = NamesOf(table);
  names.merge(NamesOf(index.keys));
  names.insert(index.projection.included.begin(), index.projection.included.end());
  return names;
}

Item OnlyCarried(const Item& item, const std::optional<std::set<std::string>>& carried) {
  if (!carried) return item;
  Item part;
  for (const item::Attribute& attribute : item) {
    if (carried->contains(attribute.name)) part.Set(attribute.name, attribute.value);
  }
  return part;
}

bool BeginsWith(const item::Value& value, const item::Value& prefix) {
  if (const auto* text = value.As<item::String>()) {
    return text->starts_with(*prefix.As<item::String>());
  }
  const auto* binary = value.As<item::Binary>();
  return binary != nullptr && binary->bytes.starts_with(prefix.As<item::Binary>()->bytes);
}

bool Matches(const item::Value& value, const SortCondition& condition) {
  const std::partial_ordering low = item::Compare(value, condition.low);
  switch (condition.op) {
    case SortOperator::kEqual:
      return low == 0;
    case SortOperator::kLess:
      return low < 0;
    case SortOperator::kLessOrEqual:
      return low <= 0;
    case SortOperator::kGreater:
      return low > 0;
    case SortOperator::kGreaterOrEqual:
      return low >= 0;
    case SortOperator::kBetween:
      return low >= 0 && item::Compare(value, condition.high) <= 0;
    case SortOperator::kBeginsWith:
      return BeginsWith(value, condition.low);
  }
  return false;
}

bool IsInPartition(const item::Key& key, const expression::KeyCondition& condition) {
  return key.partition == condition.partition && key.more_partition == condition.more_partition;
}

bool Matches(const item::Key& key, const expression::KeyCondition& condition) {
  if (!IsInPartition(key, condition)) return false;
  if (!condition.sort) return true;
  std::vector<item::Value> sort = {*key.sort};
  sort.insert(sort.end(), key.more_sort.begin(), key.more_sort.end());
  const size_t leading = condition.leading_sort.size();
  return std::equal(condition.leading_sort.begin(), condition.leading_sort.end(), sort.begin()) &&
         Matches(sort[leading], *condition.sort);
}

Status CheckFilter(const std::optional<expression::Condition>& filter,
                   const item::KeySchema& keys) {
  if (!filter) return Done{};
  const std::set<std::string> mentioned = filter->Attributes();
  for (const std::string& name : NamesOf(keys)) {
    if (mentioned.contains(name)) {
      return Invalid(
          "Filter Expression can only contain non-primary key attributes: "
          "Primary key attribute: " +
          name);
    }
  }
  return Done{};
}

// The first path that the index does not hold.
std::optional<std::string> FirstMissing(const Projection& projection,
                                        const std::optional<std::set<std::string>>& carried) {
  if (!projection || !carried) return std::nullopt;
  for (const expression::Path& path : *projection) {
    if (!carried->contains(path.attribute())) return path.attribute();
  }
  return std::nullopt;
}

// The segment of a parallel scan that an item belongs to. It depends on the partition, so that a
// partition is in one segment.
uint32_t SegmentOf(const item::Key& key, uint32_t total) {
  return static_cast<uint32_t>(std::hash<std::string>()(item::ToJson(key.partition)) % total);
}

}  // namespace

bool ModelTables::Before(const Place& left, const Place& right) {
  const KeyOrder order;
  if (left.index_key && order(*left.index_key, *right.index_key)) return true;
  if (left.index_key && order(*right.index_key, *left.index_key)) return false;
  return order(left.key, right.key);
}

Result<ModelTables::Source> ModelTables::SourceOf(const Table& table, const ReadOptions& options,
                                                  const Projection& projection) {
  if (!options.index) return Source{.table = &table};
  auto index = std::find_if(table.indexes.begin(), table.indexes.end(),
                            [&](const Index& each) { return each.spec.name == *options.index; });
  if (index == table.indexes.end()) {
    return Invalid("The table does not have the specified index: " + *options.index);
  }
  if (index->state == IndexState::kCreating) {
    return Invalid("Cannot read from backfilling global secondary index: " + *options.index);
  }
  const auto carried = Carried(index->spec, table.keys);
  const std::optional<std::string> missing = FirstMissing(projection, carried);
  const bool wants_all = options.select == Select::kAllAttributes && carried;
  if (index->spec.kind == IndexKind::kLocal) {
    return Source{.table = &table, .index = &*index, .fetches_base = wants_all || missing};
  }
  if (options.consistent) {
    return Invalid("Consistent reads are not supported on global secondary indexes");
  }
  if (wants_all) {
    return InvalidParameter(
        "Select type ALL_ATTRIBUTES is not supported for global secondary index " + *options.index +
        " because its projection type is not ALL");
  }
  if (missing) {
    return InvalidParameter("Global secondary index " + *options.index + " does not project [" +
                            *missing + "]");
  }
  return Source{.table = &table, .index = &*index};
}

std::vector<ModelTables::Row> ModelTables::RowsOf(const Source& source,
                                                  const item::Value* partition) {
  std::vector<Row> rows;
  const auto is_asked_for = [&](const item::Key& key) {
    return partition == nullptr || key.partition == *partition;
  };
  for (const auto& [key, item] : source.table->items) {
    if (!source.index) {
      if (!is_asked_for(key)) continue;
      rows.push_back({{std::nullopt, key}, item, item});
      continue;
    }
    const IndexSpec& spec = source.index->spec;
    const auto index_key = item::IndexKeyOfItem(item, spec.keys, spec.name);
    // An item that is older than the index may have a value that is not a valid key.
    if (!index_key || !*index_key || !is_asked_for(**index_key)) continue;
    rows.push_back(
        {{**index_key, key}, OnlyCarried(item, Carried(spec, source.table->keys)), item});
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& left, const Row& right) { return Before(left.place, right.place); });
  return rows;
}

Item ModelTables::KeyAttributes(const Source& source, const Place& place) {
  Item attributes = item::AttributesOfKey(place.key, source.table->keys);
  if (!place.index_key) return attributes;
  for (const auto& each : item::AttributesOfKey(*place.index_key, source.keys())) {
    attributes.Set(each.name, each.value);
  }
  return attributes;
}

Result<ModelTables::Place> ModelTables::PlaceOf(const Source& source, const Item& start_after) {
  std::set<std::string> names = NamesOf(source.table->keys);
  names.merge(NamesOf(source.keys()));
  const Error malformed = Invalid(
      "The provided starting key is invalid: The provided key element "
      "does not match the schema");
  if (start_after.size() != names.size()) return malformed;
  const auto key = item::KeyOfItem(start_after, source.table->keys);
  if (!key) return malformed;
  if (!source.index) return Place{std::nullopt, *key};
  const auto index_key = item::KeyOfItem(start_after, source.keys());
  if (!index_key) return malformed;
  return Place{*index_key, *key};
}

tables::Page ModelTables::TakePage(const Source& source, const std::vector<Row>& rows,
                                   const ReadOptions& options, const PreparedRead& read) {
  tables::Page page;
  size_t size_bytes = 0;
  for (const Row& row : rows) {
    const Item& item = source.fetches_base ? row.base_item : row.item;
    // The filter of a local index is applied to the table's item, even if fewer attributes are
    // returned.
    const bool local = source.index && source.index->spec.kind == IndexKind::kLocal;
    size_bytes += item::SizeBytes(item);
    ++page.scanned;
    if (!read.filter || read.filter->Holds(local ? row.base_item : row.item)) {
      ++page.count;
      if (options.select != Select::kCount) {
        page.items.push_back(read.projection ? expression::Project(item, *read.projection) : item);
      }
    }
    if (page.scanned == options.limit || size_bytes >= tables::kMaxPageBytes) {
      page.last = KeyAttributes(source, row.place);
      break;
    }
  }
  return page;
}

Result<tables::Page> ModelTables::Query(const tables::QueryRequest& request) {
  const std::lock_guard lock(mutex_);
  const ReadOptions options = OptionsOf(request);
  const PreparedRead read = TRY(Prepare(request));
  const Table* table = TRY(Find(request.table));
  const Source source = TRY(SourceOf(*table, options, read.projection));
  const auto condition = TRY(expression::MatchKeySchema(*read.key_condition, source.keys()));
  TRY(CheckFilter(read.filter, source.keys()));

  std::vector<Row> rows = RowsOf(source, &condition.partition);
  auto key_of = [](const Place& place) { return place.index_key ? *place.index_key : place.key; };
  std::erase_if(rows, [&](const Row& row) { return !Matches(key_of(row.place), condition); });
  if (!request.forward) std::reverse(rows.begin(), rows.end());
  if (request.start_after) {
    const Place start = TRY(PlaceOf(source, *request.start_after));
    if (!IsInPartition(key_of(start), condition)) {
      return Invalid(
          "The provided starting key is outside query boundaries based on provided "
          "conditions");
    }
    if (!Matches(key_of(start), condition)) {
      return Invalid("The provided starting key does not match the range key predicate");
    }
    std::erase_if(rows, [&](const Row& row) {
      return request.forward ? !Before(start, row.place) : !Before(row.place, start);
    });
  }
  return TakePage(source, rows, options, read);
}

Result<tables::Page> ModelTables::Scan(const tables::ScanRequest& request) {
  const std::lock_guard lock(mutex_);
  const ReadOptions options = OptionsOf(request);
  const PreparedRead read = TRY(Prepare(request));
  const Table* table = TRY(Find(request.table));
  const Source source = TRY(SourceOf(*table, options, read.projection));

  std::vector<Row> rows = RowsOf(source);
  if (request.total_segments) {
    std::erase_if(rows, [&](const Row& row) {
      return SegmentOf(row.place.key, *request.total_segments) != *request.segment;
    });
  }
  if (request.start_after) {
    const Place start = TRY(PlaceOf(source, *request.start_after));
    std::erase_if(rows, [&](const Row& row) { return !Before(start, row.place); });
  }
  return TakePage(source, rows, options, read);
}

}  // namespace tidemark::model
