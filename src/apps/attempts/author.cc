#include "apps/attempts/author.h"

#include <algorithm>

namespace tidemark::attempts {

std::string WithoutAddresses(std::string_view text) {
  constexpr std::string_view kBetweenWords = " \t\r\n,;:<>()[]{}\"'";
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(kBetweenWords, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    shown += word.find('@') == std::string_view::npos ? word : "{address}";
    if (end < text.size()) shown += text[end];
    at = end + 1;
  }
  return shown;
}

}  // namespace tidemark::attempts
