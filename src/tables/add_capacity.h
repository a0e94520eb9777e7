// Sums of what requests cost. A pure function.
#pragma once

#include <vector>

#include "tables/requests.h"

namespace tidemark::tables {

// Adds one cost to those of all tables.
void AddCapacity(const Capacity& one, std::vector<Capacity>* all);

}  // namespace tidemark::tables
