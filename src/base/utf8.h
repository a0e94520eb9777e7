// UTF-8, as strict as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
// Functions without state.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

bool IsUtf8(std::string_view text);

// The text with every byte that must not be shown replaced by U+FFFD: invalid UTF-8, and the
// control characters that JSON does not escape (DEL and U+0080 to U+009F, which a terminal would
// execute).
std::string Shown(std::string_view text);

}  // namespace tidemark
