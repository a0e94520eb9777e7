// Reading attributes of stored rows, which are never trusted: what is missing or of another type
// reads as absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "item/value.h"

namespace tidemark::item {

// nullptr when there is no such text.
inline const std::string* FindText(const Map& row, std::string_view name) {
  const Value* value = row.Find(name);
  return value ? value->As<std::string>() : nullptr;
}

inline std::optional<std::string> MaybeTextIn(const Map& row, std::string_view name) {
  const std::string* text = FindText(row, name);
  return text ? std::optional(*text) : std::nullopt;
}

// Empty when there is no such text.
inline std::string TextIn(const Map& row, std::string_view name) {
  return MaybeTextIn(row, name).value_or("");
}

// A number that is no integer is taken down to the next one.
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
