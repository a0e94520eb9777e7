// The size of items as DynamoDB counts it; limits and pages are measured by it.
#pragma once

#include <cstddef>

#include "item/value.h"

namespace tidemark::item {

size_t SizeBytes(const Value& value);
// The names and the values of all attributes.
size_t SizeBytes(const Item& item);

}  // namespace tidemark::item
