// Base64 with the standard alphabet and padding (RFC 4648, section 4).
//
// A byte string has exactly one text here: decoding refuses every other spelling, so that
// texts compare equal when their bytes do.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

std::string EncodeBase64(std::string_view bytes);
// Appends, for writers that build a larger text.
void AppendBase64(std::string_view bytes, std::string* out);

// nullopt when the text is not canonical: a foreign character, white space, missing or
// misplaced padding, or bits set that belong to no byte.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace tidemark
