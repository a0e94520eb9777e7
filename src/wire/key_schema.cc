#include "wire/key_schema.h"

#include <fmt/format.h>

namespace tidemark::wire {

Status CheckElements(const std::vector<KeyElement>& elements) {
  constexpr size_t kMaxKeyAttributes = 2;
  if (elements.empty() || elements.size() > kMaxKeyAttributes) {
    return Invalid(fmt::format(
        "1 validation error detected: Value at 'keySchema' failed to satisfy "
        "constraint: Member must have length {} than or equal to {}",
        elements.empty() ? "greater" : "less", elements.empty() ? 1 : kMaxKeyAttributes));
  }
  if (elements[0].role != KeyRole::kPartition) {
    return Invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  }
  if (elements.size() > 1 && elements[1].role != KeyRole::kSort) {
    return Invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  return Done{};
}

}  // namespace tidemark::wire
