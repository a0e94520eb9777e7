#include "wire/key_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tidemark::wire {

std::string Shown(const std::vector<KeyElement>& elements) {
  std::vector<std::string> texts;
  for (const KeyElement& element : elements) {
    texts.push_back(fmt::format("KeySchemaElement(attributeName={}, keyType={})", element.attribute,
                                element.role == KeyRole::kPartition ? "HASH" : "RANGE"));
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

Status CheckElements(const std::vector<KeyElement>& elements, bool may_be_several) {
  if (elements[0].role != KeyRole::kPartition) {
    return Invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  }
  if (!may_be_several && elements.size() > 1 && elements[1].role != KeyRole::kSort) {
    return Invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  bool is_sort = false;
  for (const KeyElement& element : elements) {
    if (is_sort && element.role == KeyRole::kPartition) {
      return Invalid("All HASH key attributes must precede RANGE key attributes in the KeySchema");
    }
    is_sort = element.role == KeyRole::kSort;
  }
  return Done{};
}

item::KeySchema SchemaOf(const std::vector<KeyElement>& elements) {
  item::KeySchema keys;
  bool is_first = true;
  for (const KeyElement& element : elements) {
    item::KeyAttribute attribute{.name = element.attribute};
    if (element.role == KeyRole::kSort) {
      if (!keys.sort) {
        keys.sort = std::move(attribute);
      } else {
        keys.more_sort.push_back(std::move(attribute));
      }
    } else if (is_first) {
      keys.partition = std::move(attribute);
    } else {
      keys.more_partition.push_back(std::move(attribute));
    }
    is_first = false;
  }
  return keys;
}

bool IsInGlobalIndex(const Place& place) {
  for (const Place* at = &place; at != nullptr; at = at->around) {
    if (at->name.starts_with("GlobalSecondaryIndex")) return true;
  }
  return false;
}

}  // namespace tidemark::wire
