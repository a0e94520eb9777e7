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
};
template <typename F>
void Describe(F& fields, Ref<F, Units> units) {
  fields.Required("CapacityUnits", units.units);
}

using UnitsByName = std::map<std::string, double>;

inline double SumOf(const UnitsByName& units) {
  double sum = 0;
  for (const auto& [name, one] : units) sum += one;
  return sum;
}

inline void WriteUnits(FieldWriter& fields, std::string_view member, const UnitsByName& units) {
  std::map<std::string, Units> written;
  for (const auto& [name, one] : units) written[name] = {one};
  fields.UnlessEmpty(member, written);
}

inline void ReadUnits(FieldReader& fields, std::string_view member, UnitsByName* units) {
  std::map<std::string, Units> read;
  fields.Always(member, read);
  for (const auto& [name, one] : read) (*units)[name] = one.units;
}

inline void WriteCapacity(FieldWriter& fields, const tables::Capacity& capacity) {
  fields.Required("CapacityUnits", capacity.table_units + SumOf(capacity.global_indexes) +
                                       SumOf(capacity.local_indexes));
  if (capacity.measure != tables::Measure::kIndexes) return;
  fields.Required("Table", Units{capacity.table_units});
  WriteUnits(fields, "GlobalSecondaryIndexes", capacity.global_indexes);
  WriteUnits(fields, "LocalSecondaryIndexes", capacity.local_indexes);
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
  Describe(fields, of_table.capacity);
  if constexpr (std::is_same_v<F, FieldWriter>) {
    const tables::Capacity& capacity = of_table.capacity;
    fields.Required(of_table.kind, capacity.table_units + SumOf(capacity.global_indexes) +
                                       SumOf(capacity.local_indexes));
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
