// Functions that read attributes of stored rows. Rows are not trusted: an attribute that is missing
// and one of another type are both read as absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "item/value.h"

namespace tidemark::item {

// nullptr when the row has no string of this name.
inline const std::string* FindText(const Map& row, std::string_view name) {
  const Value* value = row.Find(name);
  return value ? value->As<std::string>() : nullptr;
}

inline std::optional<std::string> MaybeTextIn(const Map& row, std::string_view name) {
  const std::string* text = FindText(row, name);
  return text ? std::optional(*text) : std::nullopt;
}

// Empty when the row has no string of this name.
inline std::string TextIn(const Map& row, std::string_view name) {
  return MaybeTextIn(row, name).value_or("");
}

// Rounds down a number that is not an integer. nullopt also for a number that does not fit.
inline std::optional<int64_t> IntIn(const Map& row, std::string_view name) {
  const Value* value = row.Find(name);
  const Number* number = value ? value->As<Number>() : nullptr;
  return number ? number->Floor() : std::nullopt;
}

inline bool IsTrueIn(const Map& row, std::string_view name) {
  const Value* value = row.Find(name);
  const bool* flag = value ? value->As<bool>() : nullptr;
  return flag && *flag;
}

}  // namespace tidemark::item
