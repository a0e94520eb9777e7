// A Path names a place in an item: a.b[3].c. Plain data; any thread may read it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "item/value.h"

namespace tidemark::expression {

// An attribute's name in a map, or an index in a list.
using Step = std::variant<std::string, uint32_t>;

struct Path {
  std::vector<Step> steps;  // Never empty; the first is a name.

  const std::string& attribute() const { return std::get<std::string>(steps.front()); }
  friend bool operator==(const Path&, const Path&) = default;
};

// As DynamoDB's messages show it: "[a, b, [3], c]".
std::string ToString(const Path& path);

// The value at the path, or nullptr.
const item::Value* Find(const item::Item& item, const Path& path);

}  // namespace tidemark::expression
