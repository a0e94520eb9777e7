// Percent-encoding, query strings and the parts of URLs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::http {

// Everything but letters, digits and "-._~" as %XX.
std::string PercentEncode(std::string_view text);
// nullopt when a '%' is not followed by two hexadecimal digits. '+' stays '+'.
std::optional<std::string> PercentDecode(std::string_view text);

// "a=1&b=x%20y" by name. kInvalid when a name repeats or does not decode. '+' is a space.
Result<std::map<std::string, std::string>> ParseQuery(std::string_view query);

// The parts of an http or https URL that say whom it leads to, as the client understands it: both
// use one parser, so that what was judged is what is connected to.
struct UrlParts {
  std::string url;     // As understood, whole.
  std::string scheme;  // In lower case, as the host.
  std::string host;
  uint16_t port = 0;  // Also when the URL has none.
  bool has_user_info = false;
  bool is_ip_literal = false;  // Also when it is written as one number, or in hexadecimal.

  // "https://files.slack.com:443": without user, path and query.
  std::string Origin() const;
};

// kInvalid when it is no http or https URL.
Result<UrlParts> SplitUrl(const std::string& url);
// Where a Location leads that was given in answer to a request to `base`.
Result<UrlParts> ResolveUrl(const UrlParts& base, const std::string& location);

}  // namespace tidemark::http
