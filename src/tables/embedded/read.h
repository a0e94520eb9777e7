// Reading items by their keys: one, many, and many as of one moment.
#pragma once

#include <optional>

#include "base/result.h"
#include "tables/embedded/catalog.h"
#include "tables/embedded/store.h"
#include "tables/requests.h"

namespace tidemark::embedded {

Result<std::optional<item::Item>> GetItem(const Store& store, const Catalog& catalog,
                                          const tables::GetRequest& request);

// The same without reading the disk. nullopt: the disk must be read.
Result<std::optional<std::optional<item::Item>>> GetItemInMemory(const Store& store,
                                                                 const Catalog& catalog,
                                                                 const tables::GetRequest& request);

// Stops before the reply exceeds 16 MB, also as JSON; what is left is `unprocessed`.
Result<tables::BatchGetReply> BatchGetItems(const Store& store, const Catalog& catalog,
                                            const tables::BatchGetRequest& request);

Result<tables::TransactGetReply> TransactGetItems(const Store& store, const Catalog& catalog,
                                                  const tables::TransactGetRequest& request);

}  // namespace tidemark::embedded
