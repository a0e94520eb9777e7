#include "partiql/token.h"

#include <algorithm>

#include "base/ascii.h"

namespace tidemark::partiql {

namespace {

constexpr bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
constexpr bool IsWordStart(char c) {
  return (Lower(c) >= 'a' && Lower(c) <= 'z') || c == '_' || c == '$';
}
constexpr bool IsWordCharacter(char c) { return IsWordStart(c) || IsDigit(c); }
constexpr std::string_view kLongSigns[] = {"<<", ">>", "<>", "<=", ">=", "!="};
constexpr std::string_view kShortSigns = ",.()[]{}:*+-=<>;";

template <typename Predicate>
size_t LengthWhile(std::string_view text, size_t from, Predicate predicate) {
  while (from < text.size() && predicate(text[from])) ++from;
  return from;
}

// The length of the spaces and comments at the beginning of the text: "-- to the end of the line"
// and "/* … */". A comment without its end is none.
size_t GapLength(std::string_view text) {
  size_t at = 0;
  while (true) {
    at = LengthWhile(text, at, IsSpace);
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("--")) {
      at = std::min(text.size(), text.find('\n', at));
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      if (end == std::string_view::npos) return at;
      at += end + 2;
    } else {
      return at;
    }
  }
}

// The length of "12", "1.5", ".5" or "1e-3" at the beginning of the text; 0 when there is none.
size_t NumberLength(std::string_view text) {
  size_t length = LengthWhile(text, 0, IsDigit);
  size_t digits = length;
  if (length < text.size() && text[length] == '.') {
    const size_t end = LengthWhile(text, length + 1, IsDigit);
    digits += end - length - 1;
    if (digits > 0) length = end;
  }
  if (digits == 0) return 0;
  if (length < text.size() && Lower(text[length]) == 'e') {
    size_t exponent = length + 1;
    const bool has_sign =
        exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-');
    if (has_sign) ++exponent;
    const size_t end = LengthWhile(text, exponent, IsDigit);
    if (end > exponent) length = end;
  }
  return length;
}

}  // namespace

TokenStream::TokenStream(std::string_view text) : rest_(text) { current_ = Read(); }

Token TokenStream::Take(TokenKind kind, size_t length) {
  const std::string_view taken = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return {kind, taken};
}

Token TokenStream::TakeQuoted(TokenKind kind) {
  const char quote = rest_[0];
  size_t at = 1;
  while (true) {
    at = rest_.find(quote, at);
    if (at == std::string_view::npos) return Take(TokenKind::kUnknown, rest_.size());
    const bool is_doubled = at + 1 < rest_.size() && rest_[at + 1] == quote;
    if (!is_doubled) return Take(kind, at + 1);
    at += 2;
  }
}

Token TokenStream::Read() {
  rest_.remove_prefix(GapLength(rest_));
  if (rest_.empty()) return {};
  const char first = rest_[0];
  if (IsWordStart(first)) return Take(TokenKind::kWord, LengthWhile(rest_, 1, IsWordCharacter));
  if (first == '"') return TakeQuoted(TokenKind::kQuoted);
  if (first == '\'') return TakeQuoted(TokenKind::kString);
  if (first == '?') return Take(TokenKind::kParameter, 1);
  if (const size_t length = NumberLength(rest_)) return Take(TokenKind::kNumber, length);
  for (const std::string_view sign : kLongSigns) {
    if (rest_.starts_with(sign)) return Take(TokenKind::kSign, sign.size());
  }
  if (kShortSigns.find(first) != std::string_view::npos) return Take(TokenKind::kSign, 1);
  return Take(TokenKind::kUnknown, 1);
}

std::string Unquoted(std::string_view text) {
  const char quote = text.front();
  std::string content;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    content += text[i];
    if (text[i] == quote) ++i;
  }
  return content;
}

bool IsKeyword(std::string_view word, std::string_view keyword) {
  return std::ranges::equal(word, keyword,
                            [](char left, char right) { return Lower(left) == Lower(right); });
}

}  // namespace tidemark::partiql
