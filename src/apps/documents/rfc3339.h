// Times as documents write them: "2025-10-17T00:04:16Z", with a fraction or an offset if they like.
// May be called from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace tidemark::documents {

// Down to the second. nullopt when the text is no RFC 3339 time, or a date that does not exist.
std::optional<EpochSeconds> ParseRfc3339(std::string_view text);

}  // namespace tidemark::documents
