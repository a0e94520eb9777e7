#include "slack/ids.h"

#include <algorithm>

#include <fmt/format.h>

namespace tidemark::slack::internal {

namespace {

bool IsUpperOrDigit(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

// The messages name the field and the rule but not the text: anybody may have sent it, and the
// message is logged.
Status CheckId(std::string_view field, std::string_view prefixes, std::string_view text) {
  if (text.empty()) return Invalid(fmt::format("{} is empty", field));
  if (text.size() < kMinIdLength || text.size() > kMaxIdLength) {
    return Invalid(fmt::format("{} has {} characters; it must have {} to {}", field, text.size(),
                               kMinIdLength, kMaxIdLength));
  }
  if (!std::all_of(text.begin(), text.end(), IsUpperOrDigit)) {
    return Invalid(fmt::format("{} must consist of upper-case letters and digits", field));
  }
  if (prefixes.find(text.front()) == std::string_view::npos) {
    return Invalid(fmt::format("{} must begin with one of {}", field, prefixes));
  }
  return Done();
}

}  // namespace tidemark::slack::internal
