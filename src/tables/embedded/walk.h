// Query and Scan: a page of the rows of a table or of one of its indexes.
#pragma once

#include <optional>

#include "base/result.h"
#include "tables/embedded/catalog.h"
#include "tables/embedded/partition_cache.h"
#include "tables/embedded/store.h"
#include "tables/requests.h"

namespace tidemark::embedded {

// `partitions` answers a query of a whole small partition, or learns it.
Result<tables::Page> RunQuery(const Store& store, const Catalog& catalog,
                              PartitionCache* partitions, const tables::QueryRequest& request);
// The same without the disk, for a caller that must not block. nullopt when the query is not one
// of a whole small partition, or needs the disk.
Result<std::optional<tables::Page>> QueryMemory(const Store& store, const Catalog& catalog,
                                                PartitionCache* partitions,
                                                const tables::QueryRequest& request);
Result<tables::Page> RunScan(const Store& store, const Catalog& catalog,
                             const tables::ScanRequest& request);

}  // namespace tidemark::embedded
