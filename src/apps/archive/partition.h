// Reading the rows of one partition of the archive's table to the end.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "item/value.h"
#include "tables/tables.h"

namespace tidemark::archive {

// The rows of the partition, in the order of their timestamps, consistently; "#k" is taken.
tables::QueryRequest PartitionQuery(const std::string& table, const std::string& item_id);

// All pages of the query.
Result<std::vector<item::Item>> QueryAll(tables::Tables& tables, tables::QueryRequest request);

}  // namespace tidemark::archive
