// Base64 with the standard alphabet and padding (RFC 4648, section 4).
//
// Every byte string has exactly one text: decoding refuses all other forms. So texts are equal
// exactly when their bytes are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

std::string EncodeBase64(std::string_view bytes);
// Appends, for writers that build a larger text.
void AppendBase64(std::string_view bytes, std::string* out);

// nullopt when the text is not canonical: another character, white space, missing or misplaced
// padding, or unused bits that are not zero.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace tidemark
