// The size of items. DynamoDB's limits of items and of pages are in the bytes of SizeBytes. A reply
// is sent as JSON, which may be fifty times as large: an empty text in a list takes one of these
// bytes and nine of JSON, the number 1E125 takes two and 126. So what a reply takes in memory is
// limited by JsonBytes too.
#pragma once

#include <cstddef>

#include "item/value.h"

namespace tidemark::item {

size_t SizeBytes(const Value& value);
// The names and the values of all attributes.
size_t SizeBytes(const Item& item);

// How many bytes of DynamoDB JSON the item has (item/json.h), or a few more. Never fewer.
size_t JsonBytes(const Item& item);

}  // namespace tidemark::item
