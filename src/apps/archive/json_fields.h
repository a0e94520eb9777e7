// Reading the members of JSON that Slack wrote. A member that is missing or has another type reads
// as empty, zero or false: Slack asks apps to tolerate both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/archive/attributes.h"
#include "base/json.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

using MaybeJson = std::optional<Json>;

inline MaybeJson FindIn(const MaybeJson& json, std::string_view name) {
  return json ? json->Find(name) : std::nullopt;
}

// nullopt when the member is missing or not a string.
inline std::optional<std::string_view> FindTextIn(const MaybeJson& json, std::string_view name) {
  const MaybeJson value = FindIn(json, name);
  return value ? value->AsString() : std::nullopt;
}

inline std::string TextIn(const MaybeJson& json, std::string_view name) {
  return std::string(FindTextIn(json, name).value_or(""));
}

inline int64_t IntIn(const MaybeJson& json, std::string_view name) {
  const MaybeJson value = FindIn(json, name);
  return value ? value->AsInt().value_or(0) : 0;
}

inline bool IsTrueIn(const MaybeJson& json, std::string_view name) {
  const MaybeJson value = FindIn(json, name);
  return value && value->AsBool().value_or(false);
}

inline std::optional<slack::Timestamp> TimestampIn(const MaybeJson& json, std::string_view name) {
  return ParseTimestamp(FindTextIn(json, name).value_or(""));
}

}  // namespace tidemark::archive
