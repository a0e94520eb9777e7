#include "expression/token.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

namespace tidemark::expression {

namespace {

struct Keyword {
  std::string_view text;
  TokenKind kind;
};

constexpr std::array<Keyword, 9> kKeywords = {{
    {"AND", TokenKind::kAnd},
    {"OR", TokenKind::kOr},
    {"NOT", TokenKind::kNot},
    {"BETWEEN", TokenKind::kBetween},
    {"IN", TokenKind::kIn},
    {"SET", TokenKind::kSet},
    {"REMOVE", TokenKind::kRemove},
    {"ADD", TokenKind::kAdd},
    {"DELETE", TokenKind::kDelete},
}};

// Expressions are ASCII. The functions of the C library are not used, as they depend on the locale.
constexpr bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
constexpr bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
constexpr char ToUpper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

template <typename Predicate>
size_t LengthWhile(std::string_view text, size_t from, Predicate predicate) {
  while (from < text.size() && predicate(text[from])) ++from;
  return from;
}

bool IsKeyword(std::string_view word, std::string_view keyword) {
  return std::equal(word.begin(), word.end(), keyword.begin(), keyword.end(),
                    [](char left, char right) { return ToUpper(left) == right; });
}

// As in DynamoDB, a keyword may be in upper or lower case. So an attribute whose name is a keyword
// needs a "#reference".
TokenKind KindOfWord(std::string_view word) {
  for (const Keyword& keyword : kKeywords) {
    if (IsKeyword(word, keyword.text)) return keyword.kind;
  }
  return TokenKind::kName;
}

TokenKind KindOfSign(char c) {
  switch (c) {
    case '=':
      return TokenKind::kEqual;
    case '<':
      return TokenKind::kLess;
    case '>':
      return TokenKind::kGreater;
    case '(':
      return TokenKind::kOpen;
    case ')':
      return TokenKind::kClose;
    case '[':
      return TokenKind::kOpenBracket;
    case ']':
      return TokenKind::kCloseBracket;
    case ',':
      return TokenKind::kComma;
    case '.':
      return TokenKind::kDot;
    case '+':
      return TokenKind::kPlus;
    case '-':
      return TokenKind::kMinus;
    default:
      return TokenKind::kUnknown;
  }
}

}  // namespace

TokenStream::TokenStream(std::string_view text) : rest_(text), near_(text.data()) {
  current_ = Read();
  near_ = current_.text.data();
  next_ = Read();
}

void TokenStream::Advance() {
  if (current_.kind == TokenKind::kEnd) return;
  near_ = current_.text.data();
  current_ = next_;
  if (next_.kind != TokenKind::kEnd) next_ = Read();
}

std::string_view TokenStream::Take(size_t length) {
  const std::string_view taken = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return taken;
}

Token TokenStream::Read() {
  const char* end_of_last = rest_.data();
  Take(LengthWhile(rest_, 0, IsSpace));
  // The end begins directly after the last token, so that messages do not quote spaces after it.
  if (rest_.empty()) return {TokenKind::kEnd, std::string_view(end_of_last, 0)};

  const char first = rest_[0];
  // A name begins with a letter. An attribute whose name begins with another character, such as
  // "_", needs a "#reference".
  if (IsLetter(first)) {
    const std::string_view word = Take(LengthWhile(rest_, 1, IsWord));
    return {KindOfWord(word), word};
  }
  if (first == '#' || first == ':') {
    const std::string_view reference = Take(LengthWhile(rest_, 1, IsWord));
    if (reference.size() == 1) return {TokenKind::kUnknown, reference};
    return {first == '#' ? TokenKind::kNameReference : TokenKind::kValueReference, reference};
  }
  // A number does not begin with a zero. "01" is read as two tokens, 0 and 1, which the parser
  // refuses as a syntax error.
  if (first == '0') return {TokenKind::kIndex, Take(1)};
  if (IsDigit(first)) return {TokenKind::kIndex, Take(LengthWhile(rest_, 1, IsDigit))};
  if (rest_.starts_with("<>")) return {TokenKind::kNotEqual, Take(2)};
  if (rest_.starts_with("<=")) return {TokenKind::kLessOrEqual, Take(2)};
  if (rest_.starts_with(">=")) return {TokenKind::kGreaterOrEqual, Take(2)};
  // All bytes of a character are one token. Otherwise messages would quote broken UTF-8.
  return {KindOfSign(first), Take(LengthWhile(rest_, 1, IsContinuation))};
}

// As in DynamoDB, "near" is the text from the token before the unexpected one to the token after
// it.
Error TokenStream::SyntaxError() const {
  const std::string_view token = current_.kind == TokenKind::kEnd ? "<EOF>" : current_.text;
  const char* end = next_.text.data() + next_.text.size();
  const std::string_view near(near_, static_cast<size_t>(end - near_));
  return Invalid(fmt::format(R"(Syntax error; token: "{}", near: "{}")", token, near));
}

}  // namespace tidemark::expression
