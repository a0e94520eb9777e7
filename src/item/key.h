// Keys: which attributes of an item name it, and of which type they must be.
#pragma once

#include <optional>
#include <string>
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

struct KeySchema {
  KeyAttribute partition;
  std::optional<KeyAttribute> sort;
  friend bool operator==(const KeySchema&, const KeySchema&) = default;
};

// The values of a key, in the order of its schema.
struct Key {
  Value partition;
  std::optional<Value> sort;
  friend bool operator==(const Key&, const Key&) = default;
};

// Takes the key out of a whole item, as PutItem does. Refuses a missing key attribute,
// one of another type, an empty one, and one that is too long, each with DynamoDB's text.
Result<Key> KeyOfItem(const Item& item, const KeySchema& schema);

// Takes a key given on its own, as GetItem does: exactly the schema's attributes.
Result<Key> KeyOfAttributes(const Item& attributes, const KeySchema& schema);

// Takes an index's key out of an item. nullopt when an attribute is absent: the item is
// not in the index. Refuses one that is of another type, empty or too long, naming the
// index, with DynamoDB's text.
Result<std::optional<Key>> IndexKeyOfItem(const Item& item, const KeySchema& schema,
                                          std::string_view index);

// The key as attributes: the inverse of KeyOfAttributes.
Item AttributesOfKey(const Key& key, const KeySchema& schema);

}  // namespace tidemark::item
