// Times as text, as RFC 3339 writes them: "2025-10-17T00:04:16Z", with an optional fraction of a
// second, and "Z" or an offset such as "+05:30". A pure function; may be called from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace tidemark {

// The time in whole seconds; a fraction is cut off. Returns nullopt if the text is not an RFC 3339
// time or if the date does not exist.
std::optional<EpochSeconds> ParseRfc3339(std::string_view text);

}  // namespace tidemark
