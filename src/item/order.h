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

// Appends bytes of a key value (S, N or B) that sort, among values of its type, as the
// values do, and that end by themselves (docs/formats/keys.md).
void EncodeOrdered(const Value& value, std::string* out);

// Reads what EncodeOrdered wrote for a value of this type; fails the reader on anything else.
Value DecodeOrdered(Type type, Reader* reader);

// The first bytes that every string or binary beginning with `prefix` encodes to: the
// encoding without its end mark.
void EncodeOrderedPrefix(const Value& prefix, std::string* out);

}  // namespace tidemark::item
