// Members of JSON that others wrote and that may be missing at every level, as in what Slack sends:
//
//   const MaybeJson edited = FindIn(FindIn(event, "message"), "edited");
//   const std::string editor = TextIn(edited, "user");
//
// A member that is missing or of another kind, and every member of an object that is missing, reads
// as nullopt, empty, zero or false. json.h has the same for an object that is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace tidemark {

using MaybeJson = std::optional<Json>;

inline MaybeJson FindIn(const MaybeJson& object, std::string_view name) {
  return object ? object->Find(name) : std::nullopt;
}

// nullopt when the member is missing or not a string.
inline std::optional<std::string_view> FindTextIn(const MaybeJson& object, std::string_view name) {
  const MaybeJson value = FindIn(object, name);
  return value ? value->AsString() : std::nullopt;
}

inline std::string TextIn(const MaybeJson& object, std::string_view name) {
  return object ? TextIn(*object, name) : "";
}
inline int64_t IntegerIn(const MaybeJson& object, std::string_view name) {
  return object ? IntegerIn(*object, name) : 0;
}
inline bool IsTrueIn(const MaybeJson& object, std::string_view name) {
  return object && IsTrueIn(*object, name);
}

}  // namespace tidemark
