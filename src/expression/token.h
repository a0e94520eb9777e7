// Tokens are the words and signs of an expression's text.
//
//   TokenStream tokens("SET #c = :one");
//   while (tokens.current().kind != TokenKind::kEnd) tokens.Advance();
//
// Reads the text once, from left to right. Tokens are views into the text, which must outlive them.
// Reading never fails: a character that begins no token gives kUnknown, which the parser refuses.
#pragma once

#include <string_view>

#include "base/ascii.h"
#include "base/result.h"

namespace tidemark::expression {

constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
// A character of a name, and of what follows the mark of a reference (#name, :value).
constexpr bool IsWord(char c) { return IsLetter(c) || IsDigit(c) || c == '_'; }

enum class TokenKind {
  kName,
  kNameReference,
  kValueReference,
  kIndex,
  kAnd,
  kOr,
  kNot,
  kBetween,
  kIn,
  kSet,
  kRemove,
  kAdd,
  kDelete,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kOpen,
  kClose,
  kOpenBracket,
  kCloseBracket,
  kComma,
  kDot,
  kPlus,
  kMinus,
  kUnknown,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // As written; empty for kEnd.
};

class TokenStream {
 public:
  explicit TokenStream(std::string_view text);

  const Token& current() const { return current_; }
  const Token& next() const { return next_; }
  // Does nothing at the end.
  void Advance();

  // The error for an unexpected current token. It quotes the text around it.
  Error SyntaxError() const;

 private:
  Token Read();
  std::string_view Take(size_t length);

  std::string_view rest_;
  const char* near_;  // Where the token before the current one begins.
  Token current_;
  Token next_;
};

}  // namespace tidemark::expression
