// A time in a query parameter: Slack's ts ("1714557600.000100"), epoch seconds ("1714557600"), a
// day
// ("2024-05-01") or a second ("2024-05-01T10:00:00Z"). Days and seconds are in UTC.
#pragma once

#include <string_view>

#include "base/result.h"
#include "slack/timestamp.h"

namespace tidemark::api {

// A day or a second is included as a whole. As the start of a range it means its first moment, as
// the end of a range its last.
enum class Bound { kStart, kEnd };

// `name` is the parameter's name, for the error. kInvalid when the text has none of the four forms,
// or when the time is not between the years 2001 and 2286, which Slack's ts can express.
Result<slack::Timestamp> ParseMoment(std::string_view name, std::string_view text, Bound bound);

}  // namespace tidemark::api
