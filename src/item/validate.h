// What every value must keep to, wherever it comes from: requests built in C++ call
// ValidateItem or ValidateValue, DynamoDB JSON is checked by the same rules while it is read.
//
// What the types already guarantee (numbers in range, sets sorted and distinct) is not
// checked again. Keys have rules of their own: see key.h. Sizes: see size.h.
#pragma once

#include <string_view>

#include "base/result.h"
#include "item/value.h"

namespace tidemark::item {

// Refuses, with kInvalid and DynamoDB's text where it has one: values nested too deep, empty
// sets, attribute names that are empty or too long, names and strings that are not UTF-8.
Status ValidateItem(const Item& item);
Status ValidateValue(const Value& value);

// The single rules, for decoders that check as they read.
// The level of an attribute's value is 1, that of what its list or map contains 2.
Status ValidateLevel(int level);
Status ValidateName(std::string_view name);
// What to answer when a set of this type has no member.
Error EmptySet(Type type);

}  // namespace tidemark::item
