// The page parameters of a list: ?limit=100&cursor=…. The cursor comes from the previous page.
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

// kInvalid when the limit is not between 1 and 1000, or when there are other parameters.
Result<PageRequest> ParsePage(std::string_view query);
// Parses only the value of `limit`, for lists that have other parameters too.
Result<uint32_t> ParseLimit(const std::string& text);

}  // namespace tidemark::api
