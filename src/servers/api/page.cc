#include "servers/api/page.h"

#include <charconv>

#include <fmt/format.h>

#include "http/url.h"

namespace tidemark::api {

namespace {

constexpr uint32_t kMaxLimit = 1'000;

}  // namespace

Result<uint32_t> ParseLimit(const std::string& text) {
  uint32_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && limit >= 1 && limit <= kMaxLimit) return limit;
  return Invalid(
      fmt::format("the parameter 'limit' must be between 1 and {}, not '{}'", kMaxLimit, text));
}

// An unknown parameter is an error: a misspelt "cursor" would give the first page again and again.
Result<PageRequest> ParsePage(std::string_view query) {
  PageRequest page;
  for (const auto& [name, value] : TRY(http::ParseQuery(query))) {
    if (name == "cursor") {
      page.cursor = value;
    } else if (name == "limit") {
      page.limit = TRY(ParseLimit(value));
    } else {
      return Invalid(fmt::format("the parameter '{}' is not known; use limit, cursor", name));
    }
  }
  return page;
}

}  // namespace tidemark::api
