// Keys: which attributes of an item name it, and of which type they must be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "item/value.h"

namespace tidemark::item {

// An attribute that is part of a key. Its type is S, N or B.
struct KeyAttribute {
  std::string name;
  Type type = Type::kString;
  friend bool operator==(const KeyAttribute&, const KeyAttribute&) = default;
};

// The key of a global index may have several attributes in place of one: those in `more_partition`
// follow `partition`, and those in `more_sort` follow `sort`. All other keys have none of them.
struct KeySchema {
  KeyAttribute partition;
  std::optional<KeyAttribute> sort;
  std::vector<KeyAttribute> more_partition = {};
  std::vector<KeyAttribute> more_sort = {};
  friend bool operator==(const KeySchema&, const KeySchema&) = default;
};

// All attributes of the partition key, and of the sort key, in their order. The schema outlives the
// pointers.
std::vector<const KeyAttribute*> PartitionAttributes(const KeySchema& schema);
std::vector<const KeyAttribute*> SortAttributes(const KeySchema& schema);
// First those of the partition key, then those of the sort key.
std::vector<const KeyAttribute*> AttributesOf(const KeySchema& schema);
bool HasAttribute(const KeySchema& schema, std::string_view name);

// The values of a key, in the order of its schema.
struct Key {
  Value partition;
  std::optional<Value> sort;
  std::vector<Value> more_partition = {};
  std::vector<Value> more_sort = {};
  friend bool operator==(const Key&, const Key&) = default;
};

// Returns the key of a whole item, as PutItem needs it. Refuses a key attribute that is missing, of
// another type, empty or too long, each with DynamoDB's text.
Result<Key> KeyOfItem(const Item& item, const KeySchema& schema);

// Returns the key of a request such as GetItem. The attributes must be exactly those of the schema.
Result<Key> KeyOfAttributes(const Item& attributes, const KeySchema& schema);

// Returns the key that an item has in an index. nullopt when an attribute of the key is absent: the
// item is not in the index. Refuses an attribute that is of another type, empty or too long.
// The error is DynamoDB's text and names the index.
Result<std::optional<Key>> IndexKeyOfItem(const Item& item, const KeySchema& schema,
                                          std::string_view index);

// The key as attributes: the inverse of KeyOfAttributes.
Item AttributesOfKey(const Key& key, const KeySchema& schema);

}  // namespace tidemark::item
