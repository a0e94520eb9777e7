// Tokens are the words and signs of a PartiQL statement.
//
//   TokenStream tokens("SELECT * FROM t");
//   while (tokens.current().kind != TokenKind::kEnd) tokens.Advance();
//
// Reads the text once, from left to right, and passes over comments. Tokens are views into the
// text, which must outlive them. Reading never fails: a character that begins no token gives
// kUnknown, which the parser refuses.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::partiql {

enum class TokenKind {
  kWord,       // An identifier or a keyword: SELECT, artist
  kQuoted,     // "Artist", with its quotes
  kString,     // 'text', with its quotes
  kNumber,     // 1, 2.5, 1e-3; a minus is a token of its own
  kParameter,  // ?
  kSign,       // One of , . ( ) [ ] { } : * + - = ; <> != < <= > >= << >>
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
  // Does nothing at the end.
  void Advance() { current_ = Read(); }

 private:
  Token Read();
  Token Take(TokenKind kind, size_t length);
  Token TakeQuoted(TokenKind kind);

  std::string_view rest_;
  Token current_;
};

// The content of a string or of a quoted identifier: without the quotes, and with one quote for
// two.
std::string Unquoted(std::string_view text);

// Whether a word is this keyword, which is given in capital letters.
bool IsKeyword(std::string_view word, std::string_view keyword);

}  // namespace tidemark::partiql
