// The rules for every value of a request. ValidateItem and ValidateValue check requests that were
// built in C++. The decoder of DynamoDB JSON checks the same rules while it reads.
//
// Some rules need no check, because the types guarantee them: numbers are in range, and sets are
// sorted and have no duplicates. key.h has the rules for keys, and size.h the sizes.
#pragma once

#include <string_view>

#include "base/result.h"
#include "item/value.h"

namespace tidemark::item {

// Refuses, with kInvalid and DynamoDB's text where it has one: values nested too deep, empty
// sets, attribute names that are empty or too long, names and strings that are not UTF-8.
Status ValidateItem(const Item& item);
Status ValidateValue(const Value& value);

// The single rules, for decoders that check while they read. The value of an attribute has level 1,
// the elements of its list or map have level 2.
Status ValidateLevel(int level);
Status ValidateName(std::string_view name);
// The error for a set of this type without members.
Error EmptySet(Type type);

}  // namespace tidemark::item
