// Classes of ASCII characters, independent of the locale. Functions without state.
#pragma once

namespace tidemark {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A control character that is not allowed in an HTTP header field. A tab is allowed.
constexpr bool IsControl(char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; }

}  // namespace tidemark
