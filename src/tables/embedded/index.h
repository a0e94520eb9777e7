// What of an item stands in an index.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "item/key.h"
#include "tables/embedded/catalog.h"

namespace tidemark::embedded {

struct IndexRow {
  std::string key;
  item::Item item;  // The attributes that the index carries.
};

// nullopt when the item is not in the index: it lacks a key attribute, or has one that
// cannot be a key (which only items older than the index can).
std::optional<IndexRow> IndexRowOf(const Table& table, const Index& index, const item::Key& key,
                                   const item::Item& item);

// Refuses an item with an attribute that some index cannot take as its key.
Status CheckIndexKeys(const Table& table, const item::Item& item);

// Whether the index carries the attribute.
bool Carries(const Table& table, const Index& index, std::string_view attribute);

}  // namespace tidemark::embedded
