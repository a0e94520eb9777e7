// What requests cost in DynamoDB's units. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "item/key.h"
#include "item/value.h"
#include "tables/embedded/catalog.h"
#include "tables/requests.h"

namespace tidemark::embedded {

// Reads that DynamoDB counts together: the bytes of a page, or those of one item. An item that is
// not there costs as much as a small one.
double ReadUnits(size_t bytes, bool consistent);
// Two of them make a transaction's read of the item.
double TransactReadUnits(size_t bytes);

// What it costs to change the item with this key, and its rows in the indexes. A write costs as
// much as the larger of the two items. An index costs something only if its row changes: one write,
// or two if the row moves to another key.
tables::Capacity WriteCapacity(const Table& table, const item::Key& key,
                               const std::optional<item::Item>& previous,
                               const std::optional<item::Item>& next, tables::Measure measure);

// How large the collection of the item with this key can be. nullopt: the table has no local index,
// and so no collections. The size of one is not counted; it is at most that of the table.
std::optional<tables::Collection> CollectionOf(const Table& table, const item::Key& key);

}  // namespace tidemark::embedded
