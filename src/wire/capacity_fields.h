// What a request cost, as members of its reply: "ConsumedCapacity".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tables/requests.h"
#include "wire/fields.h"

namespace tidemark::wire {

// {"CapacityUnits": 1.0}
struct Units {
  double units = 0;
  std::string_view kind = {};  // In a transaction: WriteCapacityUnits, for the same once more.
};
template <typename F>
void Describe(F& fields, Ref<F, Units> units) {
  fields.Required("CapacityUnits", units.units);
  if constexpr (std::is_same_v<F, FieldWriter>) {
    if (!units.kind.empty()) fields.Required(units.kind, units.units);
  }
}

using UnitsByName = std::map<std::string, double>;

inline double SumOf(const UnitsByName& units) {
  double sum = 0;
  for (const auto& [name, one] : units) sum += one;
  return sum;
}

inline void WriteUnits(FieldWriter& fields, std::string_view member, const UnitsByName& units,
                       std::string_view kind) {
  std::map<std::string, Units> written;
  for (const auto& [name, one] : units) written[name] = {one, kind};
  fields.UnlessEmpty(member, written);
}

inline void ReadUnits(FieldReader& fields, std::string_view member, UnitsByName* units) {
  std::map<std::string, Units> read;
  fields.Always(member, read);
  for (const auto& [name, one] : read) (*units)[name] = one.units;
}

// `kind` is that of Units.
inline void WriteCapacity(FieldWriter& fields, const tables::Capacity& capacity,
                          std::string_view kind = {}) {
  const Units all = {
      capacity.table_units + SumOf(capacity.global_indexes) + SumOf(capacity.local_indexes), kind};
  Describe(fields, all);
  if (capacity.measure != tables::Measure::kIndexes) return;
  fields.Required("Table", Units{capacity.table_units, kind});
  WriteUnits(fields, "GlobalSecondaryIndexes", capacity.global_indexes, kind);
  WriteUnits(fields, "LocalSecondaryIndexes", capacity.local_indexes, kind);
}

inline void ReadCapacity(FieldReader& fields, tables::Capacity& capacity) {
  fields.Required("CapacityUnits", capacity.table_units);
  std::optional<Units> table;
  fields.Optional("Table", table);
  if (!table) return;
  capacity.measure = tables::Measure::kIndexes;
  capacity.table_units = table->units;
  ReadUnits(fields, "GlobalSecondaryIndexes", &capacity.global_indexes);
  ReadUnits(fields, "LocalSecondaryIndexes", &capacity.local_indexes);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::Capacity> capacity) {
  fields.Required("TableName", capacity.table);
  if constexpr (std::is_same_v<F, FieldWriter>)
    WriteCapacity(fields, capacity);
  else
    ReadCapacity(fields, capacity);
}

// In transactions DynamoDB says once more which kind of units they are.
struct TransactCapacity {
  tables::Capacity capacity;
  std::string_view kind;
};
template <typename F>
void Describe(F& fields, Ref<F, TransactCapacity> of_table) {
  if constexpr (std::is_same_v<F, FieldWriter>) {
    fields.Required("TableName", of_table.capacity.table);
    WriteCapacity(fields, of_table.capacity, of_table.kind);
  } else {
    Describe(fields, of_table.capacity);
  }
}

template <typename F, typename Capacities>
void DescribeTransactCapacities(F& fields, Capacities& capacities, std::string_view kind) {
  std::vector<TransactCapacity> list;
  for (const tables::Capacity& capacity : capacities) list.push_back({capacity, kind});
  fields.UnlessEmpty("ConsumedCapacity", list);
  if constexpr (std::is_same_v<F, FieldReader>) {
    for (TransactCapacity& one : list) capacities.push_back(std::move(one.capacity));
  }
}

}  // namespace tidemark::wire
