#include "expression/token.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::expression {
namespace {

std::vector<TokenKind> KindsOf(std::string_view text) {
  std::vector<TokenKind> kinds;
  for (TokenStream tokens(text); tokens.current().kind != TokenKind::kEnd; tokens.Advance()) {
    kinds.push_back(tokens.current().kind);
  }
  return kinds;
}

std::vector<std::string> TextsOf(std::string_view text) {
  std::vector<std::string> texts;
  for (TokenStream tokens(text); tokens.current().kind != TokenKind::kEnd; tokens.Advance()) {
    texts.emplace_back(tokens.current().text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

// Every kind of token is recognised, with and without spaces around it.
TEST(TokenTest, RecognisesEveryKindOfToken) {
  struct Case {
    std::string_view text;
    TokenKind kind;
  };
  const Case cases[] = {
      {"name", TokenKind::kName},
      {"a1_b", TokenKind::kName},
      {"#n", TokenKind::kNameReference},
      {"#1", TokenKind::kNameReference},
      {"#_", TokenKind::kNameReference},
      {":v", TokenKind::kValueReference},
      {":0_a", TokenKind::kValueReference},
      {"0", TokenKind::kIndex},
      {"120", TokenKind::kIndex},
      {"AND", TokenKind::kAnd},
      {"or", TokenKind::kOr},
      {"Not", TokenKind::kNot},
      {"bEtWeEn", TokenKind::kBetween},
      {"IN", TokenKind::kIn},
      {"set", TokenKind::kSet},
      {"Remove", TokenKind::kRemove},
      {"ADD", TokenKind::kAdd},
      {"delete", TokenKind::kDelete},
      {"=", TokenKind::kEqual},
      {"<>", TokenKind::kNotEqual},
      {"<", TokenKind::kLess},
      {"<=", TokenKind::kLessOrEqual},
      {">", TokenKind::kGreater},
      {">=", TokenKind::kGreaterOrEqual},
      {"(", TokenKind::kOpen},
      {")", TokenKind::kClose},
      {"[", TokenKind::kOpenBracket},
      {"]", TokenKind::kCloseBracket},
      {",", TokenKind::kComma},
      {".", TokenKind::kDot},
      {"+", TokenKind::kPlus},
      {"-", TokenKind::kMinus},
      {"#", TokenKind::kUnknown},
      {":", TokenKind::kUnknown},
      {"_", TokenKind::kUnknown},
      {"!", TokenKind::kUnknown},
      {"\"", TokenKind::kUnknown},
      {"é", TokenKind::kUnknown},
      {"\xF0\x9F\x98\x80", TokenKind::kUnknown},
      {"\x80", TokenKind::kUnknown},
      {std::string_view("\0", 1), TokenKind::kUnknown},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(KindsOf(c.text), std::vector{c.kind}) << c.text;
    EXPECT_EQ(KindsOf(" \t" + std::string(c.text) + "\r\n"), std::vector{c.kind}) << c.text;
  }
}

// A word that begins with a keyword and goes on is a name.
TEST(TokenTest, ReadsAWordThatBeginsWithAKeywordAsAName) {
  for (const std::string_view word : {"android", "ORDER", "IN_", "setting", "add1", "Notes"}) {
    EXPECT_EQ(KindsOf(word), std::vector{TokenKind::kName}) << word;
  }
}

// Without spaces, the longest possible token is read. A leading zero is a token of its own.
TEST(TokenTest, ReadsTokensThatHaveNoSpacesBetweenThem) {
  EXPECT_EQ(TextsOf("a<=b"), (Texts{"a", "<=", "b"}));
  EXPECT_EQ(TextsOf("a<>b>=c"), (Texts{"a", "<>", "b", ">=", "c"}));
  EXPECT_EQ(TextsOf("a><b"), (Texts{"a", ">", "<", "b"}));
  EXPECT_EQ(TextsOf("a[10].#b"), (Texts{"a", "[", "10", "]", ".", "#b"}));
  EXPECT_EQ(TextsOf("a[01]"), (Texts{"a", "[", "0", "1", "]"}));
  EXPECT_EQ(TextsOf("1a"), (Texts{"1", "a"}));
  EXPECT_EQ(TextsOf("#a:b#"), (Texts{"#a", ":b", "#"}));
  EXPECT_EQ(TextsOf("_id"), (Texts{"_", "id"}));
  EXPECT_EQ(TextsOf("access-token"), (Texts{"access", "-", "token"}));
}

TEST(TokenTest, StaysAtTheEnd) {
  TokenStream tokens("a");
  for (int i = 0; i < 3; ++i) tokens.Advance();
  EXPECT_EQ(tokens.current().kind, TokenKind::kEnd);
  EXPECT_EQ(tokens.next().kind, TokenKind::kEnd);
}

// The message quotes the token before and the token after, with the spaces between.
TEST(TokenTest, QuotesTheNeighboursOfAnError) {
  TokenStream tokens(" a  x\tb c ");
  EXPECT_EQ(tokens.SyntaxError().message, "Syntax error; token: \"a\", near: \"a  x\"");
  tokens.Advance();
  EXPECT_EQ(tokens.SyntaxError().message, "Syntax error; token: \"x\", near: \"a  x\tb\"");
  tokens.Advance();
  tokens.Advance();
  EXPECT_EQ(tokens.SyntaxError().message, "Syntax error; token: \"c\", near: \"b c\"");
  tokens.Advance();
  EXPECT_EQ(tokens.SyntaxError().message, "Syntax error; token: \"<EOF>\", near: \"c\"");
}

}  // namespace
}  // namespace tidemark::expression
