// The rows of indexes: which row an item has in an index, and which attributes the row holds.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "item/key.h"
#include "tables/embedded/catalog.h"

namespace tidemark::embedded {

struct IndexRow {
  std::string key;
  item::Item item;  // The attributes that the index holds.
};

// nullopt when the item is not in the index: a key attribute of the index is absent or not valid.
// A value that is not valid can only be in an item that was written before the index was created.
std::optional<IndexRow> IndexRowOf(const Table& table, const Index& index, const item::Key& key,
                                   const item::Item& item);

// Refuses an item with a value that is not valid as the key of an index.
Status CheckIndexKeys(const Table& table, const item::Item& item);

// Whether the rows of the index hold the attribute.
bool Carries(const Table& table, const Index& index, std::string_view attribute);

}  // namespace tidemark::embedded
