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

// Every byte except letters, digits and "-._~" becomes %XX.
std::string PercentEncode(std::string_view text);
// nullopt when a '%' is not followed by two hexadecimal digits. '+' stays '+'.
std::optional<std::string> PercentDecode(std::string_view text);

// "a=1&b=x%20y" by name. kInvalid when a name repeats or does not decode. '+' is a space.
Result<std::map<std::string, std::string>> ParseQuery(std::string_view query);

// The parts of an http or https URL that decide which server it names. The client uses the same
// parser, so it connects to exactly the host that was checked here.
struct UrlParts {
  std::string url;     // The whole URL, normalised.
  std::string scheme;  // Scheme and host are in lower case.
  std::string host;
  uint16_t port = 0;  // The default port when the URL has none.
  bool has_user_info = false;
  bool is_ip_literal = false;  // Also when it is written as one number, or in hexadecimal.

  // "https://files.slack.com:443": without user, path and query.
  std::string Origin() const;
};

// kInvalid when the text is not an http or https URL.
Result<UrlParts> SplitUrl(const std::string& url);
// The URL that a Location header means, when it came in the answer to a request to `base`.
Result<UrlParts> ResolveUrl(const UrlParts& base, const std::string& location);

}  // namespace tidemark::http
