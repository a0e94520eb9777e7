#include "wire/key_schema.h"

namespace tidemark::wire {

Status CheckElements(const std::vector<KeyElement>& elements) {
  if (elements[0].role != KeyRole::kPartition) {
    return Invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  }
  if (elements.size() > 1 && elements[1].role != KeyRole::kSort) {
    return Invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  return Done{};
}

}  // namespace tidemark::wire
