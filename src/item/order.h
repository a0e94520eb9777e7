// The order of values of one type: numbers by value, strings and binaries by their
// unsigned bytes. Other types, and values of different types, have no order.
#pragma once

#include <compare>
#include <string>

#include "base/bytes.h"
#include "item/value.h"

namespace tidemark::item {

// Unordered when the types differ or have no order.
std::partial_ordering Compare(const Value& left, const Value& right);

// Appends the bytes of a key value (S, N or B). Values of one type and their bytes have the same
// order. A reader sees where the bytes end, even if other bytes follow (docs/formats/keys.md).
void EncodeOrdered(const Value& value, std::string* out);

// Reads what EncodeOrdered wrote for a value of this type; fails the reader on anything else.
Value DecodeOrdered(Type type, Reader* reader);

// Appends the bytes with which the encoding of every string or binary that begins with `prefix`
// begins: the encoding of `prefix` without its end mark.
void EncodeOrderedPrefix(const Value& prefix, std::string* out);

}  // namespace tidemark::item
