#include "tables/add_capacity.h"

#include <algorithm>

namespace tidemark::tables {

void AddCapacity(const Capacity& one, std::vector<Capacity>* all) {
  const auto same = std::ranges::find(*all, one.table, &Capacity::table);
  if (same == all->end()) return all->push_back(one);
  same->table_units += one.table_units;
  for (const auto& [index, units] : one.global_indexes) same->global_indexes[index] += units;
  for (const auto& [index, units] : one.local_indexes) same->local_indexes[index] += units;
}

}  // namespace tidemark::tables
