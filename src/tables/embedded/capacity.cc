#include "tables/embedded/capacity.h"

#include <algorithm>
#include <cmath>

#include "item/size.h"
#include "tables/embedded/index.h"

namespace tidemark::embedded {

namespace {

constexpr size_t kReadUnitBytes = 4'096;
constexpr size_t kWriteUnitBytes = 1'024;

double UnitsOf(size_t bytes, size_t unit_bytes) {
  return static_cast<double>(std::max<size_t>(1, (bytes + unit_bytes - 1) / unit_bytes));
}

size_t BytesOf(const std::optional<item::Item>& item) { return item ? item::SizeBytes(*item) : 0; }

std::optional<IndexRow> RowOf(const Table& table, const Index& index, const item::Key& key,
                              const std::optional<item::Item>& item) {
  return item ? IndexRowOf(table, index, key, *item) : std::nullopt;
}

double WriteUnits(const std::optional<IndexRow>& previous, const std::optional<IndexRow>& next) {
  const auto units = [](const std::optional<IndexRow>& row) {
    return row ? UnitsOf(item::SizeBytes(row->item), kWriteUnitBytes) : 0;
  };
  const bool moves = previous && next && previous->key != next->key;
  if (moves) return units(previous) + units(next);
  const bool is_same = previous && next && previous->item == next->item;
  return is_same ? 0 : std::max(units(previous), units(next));
}

}  // namespace

double ReadUnits(size_t bytes, bool consistent) {
  return UnitsOf(bytes, kReadUnitBytes) * (consistent ? 1.0 : 0.5);
}

double TransactReadUnits(size_t bytes) { return 2 * UnitsOf(bytes, kReadUnitBytes); }

tables::Capacity WriteCapacity(const Table& table, const item::Key& key,
                               const std::optional<item::Item>& previous,
                               const std::optional<item::Item>& next, tables::Measure measure) {
  tables::Capacity capacity{
      .table = table.name,
      .measure = measure,
      .table_units = UnitsOf(std::max(BytesOf(previous), BytesOf(next)), kWriteUnitBytes)};
  for (const Index& index : table.indexes) {
    const double units =
        WriteUnits(RowOf(table, index, key, previous), RowOf(table, index, key, next));
    if (units == 0) continue;
    const bool is_global = index.spec.kind == tables::IndexKind::kGlobal;
    (is_global ? capacity.global_indexes : capacity.local_indexes)[index.spec.name] = units;
  }
  return capacity;
}

std::optional<tables::Collection> CollectionOf(const Table& table, const item::Key& key) {
  constexpr double kGigabyte = 1 << 30;
  const bool has_local = std::ranges::any_of(table.indexes, [](const Index& index) {
    return index.spec.kind == tables::IndexKind::kLocal;
  });
  if (!has_local) return std::nullopt;
  const double gigabytes = static_cast<double>(table.counts->bytes) / kGigabyte;
  return tables::Collection{.key = {{table.keys.partition.name, key.partition}},
                            .most_gigabytes = std::max(1.0, std::ceil(gigabytes))};
}

}  // namespace tidemark::embedded
