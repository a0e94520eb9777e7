// Reading the members of JSON that Slack wrote: those of base/json_members.h, and timestamps.
#pragma once

#include <optional>
#include <string_view>

#include "apps/archive/attributes.h"
#include "base/json_members.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

// nullopt when the member is missing or not a timestamp.
inline std::optional<slack::Timestamp> TimestampIn(const MaybeJson& json, std::string_view name) {
  return ParseTimestamp(FindTextIn(json, name).value_or(""));
}

}  // namespace tidemark::archive
