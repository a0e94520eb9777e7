// Which page of a list is asked for: ?limit=100&cursor=…, the cursor being that of the page before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark::api {

struct PageRequest {
  uint32_t limit = 100;
  std::optional<std::string> cursor = std::nullopt;
};

// kInvalid when the limit is not between 1 and 1000, or there is another parameter.
Result<PageRequest> ParsePage(std::string_view query);
// The value of a `limit` alone, for lists that have other parameters too.
Result<uint32_t> ParseLimit(const std::string& text);

}  // namespace tidemark::api
