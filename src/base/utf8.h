// UTF-8, as strict as Unicode has it: no form longer than needed, no surrogates, nothing beyond
// U+10FFFF. Functions without state.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

bool IsUtf8(std::string_view text);

// The text with every byte that may not be shown replaced by U+FFFD: what is not UTF-8, and the
// controls that JSON does not escape (DEL and U+0080 to U+009F, which a terminal obeys).
std::string Shown(std::string_view text);

}  // namespace tidemark
