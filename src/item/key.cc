#include "item/key.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "item/limits.h"

namespace tidemark::item {

namespace {

constexpr std::string_view kInvalidPrefix = "One or more parameter values were invalid: ";
constexpr std::string_view kNotValidPrefix = "One or more parameter values are not valid. ";

Error InvalidParameter(std::string_view what) {
  return Invalid(std::string(kInvalidPrefix).append(what));
}

// DynamoDB has one text for a key attribute that is missing, additional or of the wrong type.
Error SchemaMismatch() { return Invalid("The provided key element does not match the schema"); }

// nullopt for numbers: they are never empty and never too long.
std::optional<size_t> LengthOf(const Value& value) {
  if (const String* text = value.As<String>()) return text->size();
  if (const Binary* binary = value.As<Binary>()) return binary->bytes.size();
  return std::nullopt;
}

bool IsEmpty(const Value& value) { return LengthOf(value) == 0; }

std::string EmptyText(const Value& value) {
  const std::string_view kind = value.type() == Type::kString ? "string" : "binary";
  return "The AttributeValue for a key attribute cannot contain an empty " + std::string(kind) +
         " value. ";
}

// The bytes of a key's first value and of all that follow it.
size_t LengthOf(const Value& first, const std::vector<Value>& more) {
  size_t bytes = LengthOf(first).value_or(0);
  for (const Value& value : more) bytes += LengthOf(value).value_or(0);
  return bytes;
}

// The limits apply to the tables' keys and to the indexes' alike. `where` ends the messages.
Status CheckLengths(const Key& key, const std::string& where) {
  // The missing space is DynamoDB's own.
  if (LengthOf(key.partition, key.more_partition) > kMaxPartitionKeyBytes) {
    return InvalidParameter("Size of hashkey has exceeded the maximum size limit of2048 bytes" +
                            where);
  }
  if (key.sort && LengthOf(*key.sort, key.more_sort) > kMaxSortKeyBytes) {
    return InvalidParameter(
        "Aggregated size of all range keys has exceeded the size limit of 1024 bytes" + where);
  }
  return Done{};
}

Status CheckNotEmpty(const Value& value, const KeyAttribute& attribute) {
  if (!IsEmpty(value)) return Done{};
  return Invalid(std::string(kNotValidPrefix) + EmptyText(value) + "Key: " + attribute.name);
}

// Takes a key attribute by attribute; `take` gives a Result<Value> for a KeyAttribute.
template <typename Take>
Result<Key> TakeKey(const KeySchema& schema, Take take) {
  Key key{.partition = TRY(take(schema.partition))};
  if (schema.sort) key.sort = TRY(take(*schema.sort));
  for (const KeyAttribute& more : schema.more_partition) {
    key.more_partition.push_back(TRY(take(more)));
  }
  for (const KeyAttribute& more : schema.more_sort) key.more_sort.push_back(TRY(take(more)));
  TRY(CheckLengths(key, ""));
  return key;
}

// An attribute of an item that is given whole, as in PutItem.
Result<Value> TakeFromItem(const Item& item, const KeyAttribute& attribute) {
  const Value* value = item.Find(attribute.name);
  if (value == nullptr) {
    return InvalidParameter("Missing the key " + attribute.name + " in the item");
  }
  if (value->type() != attribute.type) {
    return InvalidParameter("Type mismatch for key " + attribute.name +
                            " expected: " + std::string(ToString(attribute.type)) +
                            " actual: " + std::string(ToString(value->type())));
  }
  TRY(CheckNotEmpty(*value, attribute));
  return *value;
}

// An attribute of a key that is given on its own, as in GetItem.
Result<Value> TakeFromKey(const Item& attributes, const KeyAttribute& attribute) {
  const Value* value = attributes.Find(attribute.name);
  if (value == nullptr || value->type() != attribute.type) return SchemaMismatch();
  TRY(CheckNotEmpty(*value, attribute));
  return *value;
}

// A present attribute of an index's key.
Status CheckIndexValue(const Value& value, const KeyAttribute& attribute, std::string_view index) {
  if (value.type() != attribute.type) {
    return InvalidParameter("Type mismatch for Index Key " + attribute.name +
                            " Expected: " + std::string(ToString(attribute.type)) +
                            " Actual: " + std::string(ToString(value.type())) +
                            " IndexName: " + std::string(index));
  }
  if (IsEmpty(value)) {
    return Invalid(std::string(kNotValidPrefix) +
                   "A value specified for a secondary index key is not supported. " +
                   EmptyText(value) + "IndexName: " + std::string(index) +
                   ", IndexKey: " + attribute.name);
  }
  return Done{};
}

}  // namespace

Result<Key> KeyOfItem(const Item& item, const KeySchema& schema) {
  return TakeKey(schema,
                 [&](const KeyAttribute& attribute) { return TakeFromItem(item, attribute); });
}

Result<Key> KeyOfAttributes(const Item& attributes, const KeySchema& schema) {
  // A key with an additional attribute is refused. Without this check it would be ignored.
  const size_t wanted =
      (schema.sort ? 2U : 1U) + schema.more_partition.size() + schema.more_sort.size();
  if (attributes.size() != wanted) return SchemaMismatch();
  return TakeKey(schema,
                 [&](const KeyAttribute& attribute) { return TakeFromKey(attributes, attribute); });
}

Result<std::optional<Key>> IndexKeyOfItem(const Item& item, const KeySchema& schema,
                                          std::string_view index) {
  // As in DynamoDB, a wrong value is refused even when another attribute is absent and the item
  // would not be in the index.
  bool is_whole = true;
  const auto find = [&](const KeyAttribute& attribute) -> Result<Value> {
    const Value* value = item.Find(attribute.name);
    if (value == nullptr) {
      is_whole = false;
      return Value();
    }
    TRY(CheckIndexValue(*value, attribute, index));
    return *value;
  };
  Key key{.partition = TRY(find(schema.partition))};
  for (const KeyAttribute& more : schema.more_partition) {
    key.more_partition.push_back(TRY(find(more)));
  }
  if (schema.sort) key.sort = TRY(find(*schema.sort));
  for (const KeyAttribute& more : schema.more_sort) key.more_sort.push_back(TRY(find(more)));
  if (!is_whole) return std::optional<Key>();
  TRY(CheckLengths(key, " IndexName: " + std::string(index)));
  return std::optional<Key>(std::move(key));
}

Item AttributesOfKey(const Key& key, const KeySchema& schema) {
  Item attributes;
  attributes.Reserve(2);
  attributes.Set(schema.partition.name, key.partition);
  if (schema.sort) {
    CHECK(key.sort.has_value());
    attributes.Set(schema.sort->name, *key.sort);
  }
  CHECK(key.more_partition.size() == schema.more_partition.size());
  CHECK(key.more_sort.size() == schema.more_sort.size());
  for (size_t i = 0; i < key.more_partition.size(); ++i) {
    attributes.Set(schema.more_partition[i].name, key.more_partition[i]);
  }
  for (size_t i = 0; i < key.more_sort.size(); ++i) {
    attributes.Set(schema.more_sort[i].name, key.more_sort[i]);
  }
  return attributes;
}

std::vector<const KeyAttribute*> PartitionAttributes(const KeySchema& schema) {
  std::vector<const KeyAttribute*> attributes = {&schema.partition};
  for (const KeyAttribute& more : schema.more_partition) attributes.push_back(&more);
  return attributes;
}

std::vector<const KeyAttribute*> SortAttributes(const KeySchema& schema) {
  std::vector<const KeyAttribute*> attributes;
  if (schema.sort) attributes.push_back(&*schema.sort);
  for (const KeyAttribute& more : schema.more_sort) attributes.push_back(&more);
  return attributes;
}

std::vector<const KeyAttribute*> AttributesOf(const KeySchema& schema) {
  std::vector<const KeyAttribute*> attributes = PartitionAttributes(schema);
  for (const KeyAttribute* sort : SortAttributes(schema)) attributes.push_back(sort);
  return attributes;
}

bool HasAttribute(const KeySchema& schema, std::string_view name) {
  const auto is_named = [&](const KeyAttribute& attribute) { return attribute.name == name; };
  return is_named(schema.partition) || (schema.sort && is_named(*schema.sort)) ||
         std::ranges::any_of(schema.more_partition, is_named) ||
         std::ranges::any_of(schema.more_sort, is_named);
}

}  // namespace tidemark::item
