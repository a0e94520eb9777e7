// A moment as people and programs write it in a query: Slack's ts ("1714557600.000100"), epoch
// seconds ("1714557600"), a day ("2024-05-01") or a second ("2024-05-01T10:00:00Z"), both of UTC.
#pragma once

#include <string_view>

#include "base/result.h"
#include "slack/timestamp.h"

namespace tidemark::api {

// What is longer than a moment, a second or a day, counts whole: its first moment is its start, its
// last its end.
enum class Bound { kStart, kEnd };

// `name` is the parameter, for the message. kInvalid when it is none of the four, or out of the
// years 2001 to 2286, which Slack's ts can tell.
Result<slack::Timestamp> ParseMoment(std::string_view name, std::string_view text, Bound bound);

}  // namespace tidemark::api
