// Percent-encoding, query strings and paths of URLs.
#pragma once

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

}  // namespace tidemark::http
