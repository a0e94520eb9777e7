// The size of items as DynamoDB counts it. The limits of items and of pages are in these bytes.
#pragma once

#include <cstddef>

#include "item/value.h"

namespace tidemark::item {

size_t SizeBytes(const Value& value);
// The names and the values of all attributes.
size_t SizeBytes(const Item& item);

}  // namespace tidemark::item
