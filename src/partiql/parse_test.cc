#include "partiql/parse.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::partiql {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text, std::vector<item::Value> parameters = {}) {
  const auto statement = Parse(text, std::move(parameters));
  return statement ? "accepted" : statement.error().message;
}

TEST(PartiqlParseTest, ReadsAllKindsOfStatements) {
  for (const char* text :
       {"SELECT * FROM t",
        "select a, b.c[0], \"d e\" from \"t\".\"i\" where a = 1 order by a desc, b",
        "INSERT INTO t VALUE {'a': 'it''s', 'b': [1, -2.5e3, {'c': TRUE}], 'd': <<'x', 'y'>>}",
        "UPDATE t SET a = a + 1, b = list_append(b, [1]) REMOVE c WHERE a = 'x' RETURNING ALL NEW "
        "*",
        "DELETE FROM t WHERE a = 'x' AND NOT (b IN [1, 2] OR c IS NOT MISSING) RETURNING ALL OLD *",
        "SELECT * FROM t WHERE a BETWEEN 1 AND 2 AND begins_with(b, 'x') AND size(c) > 1",
        "EXISTS(SELECT * FROM t WHERE a = 1 AND b IS MISSING)",
        "FROM t WHERE a = 1 SET b = .5 REMOVE c RETURNING ALL NEW *", "SELECT * FROM t;",
        "-- first\nSELECT * /* all */ FROM t -- of\n WHERE a = '--' -- last"}) {
    EXPECT_EQ(ErrorOf(text), "accepted") << text;
  }
}

TEST(PartiqlParseTest, ReplacesParametersInTheirOrder) {
  const auto statement = Parse("INSERT INTO t VALUE {'a': ?, 'b': [?]}", {"x", "y"});
  ASSERT_TRUE(statement.has_value());
  const item::Item expected{{"a", "x"}, {"b", item::List{"y"}}};
  EXPECT_EQ(std::get<Insert>(*statement).item, expected);
  EXPECT_THAT(ErrorOf("SELECT * FROM t WHERE a = ?"), HasSubstr("Number of parameters"));
  EXPECT_THAT(ErrorOf("SELECT * FROM t", {"x"}), HasSubstr("Number of parameters"));
}

TEST(PartiqlParseTest, RefusesOtherTexts) {
  constexpr char kStart[] = "Statement wasn't well formed, can't be processed: ";
  EXPECT_EQ(ErrorOf("SLECT * FROM t"), std::string(kStart) + "Expected data manipulation");
  const std::string left_over = std::string(kStart) + "Unexpected token after expression";
  for (const char* text :
       {"SELECT * FROM t WHERE a = 1 extra", "SELECT * FROM t WHERE a = 1 e5",
        "SELECT * FROM t WHERE a = 1)", "INSERT INTO t VALUE {'a': 1} extra",
        "INSERT INTO t u VALUE {'a': 1}", "DELETE FROM t WHERE a = 1 ORDER BY a",
        "SELECT * FROM t ORDER BY a WHERE a = 1", "SELECT * FROM t; SELECT * FROM t"}) {
    EXPECT_EQ(ErrorOf(text), left_over) << text;
  }
  for (const char* text : {"SELECT * FROM t u WHERE a = 1", "SELECT * FROM t AS u",
                           "UPDATE t u SET a = 1", "DELETE FROM t u WHERE a = 1"}) {
    EXPECT_EQ(ErrorOf(text), "Aliasing is not supported") << text;
  }
  // What is no token at all has no further words.
  for (const char* text :
       {"SELECT * FROM t WHERE a = 1 # b", "SELECT * FROM t WHERE a = 1 /* b",
        "SELECT * FROM t WHERE a = 1e2147483648", "SELECT * FROM t WHERE a = 1.5e-2147483647"}) {
    EXPECT_EQ(ErrorOf(text), kStart) << text;
  }
  EXPECT_EQ(ErrorOf("SELECT * FROM t WHERE"), std::string(kStart) + "Unexpected term");
  for (const char* text :
       {"SELECT", "SELECT * FROM", "SELECT * FROM \"", "SELECT * FROM t WHERE",
        "SELECT * FROM t WHERE a", "INSERT INTO t VALUE 1", "UPDATE t WHERE a = 1",
        "INSERT INTO t VALUE {'a': <<>>}", "INSERT INTO t VALUE {'a': <<1, 'x'>>}",
        "SELECT * FROM t WHERE a = 'x", "SELECT a[x] FROM t"}) {
    EXPECT_THAT(ErrorOf(text), HasSubstr(kStart)) << text;
  }
  const std::string overflow =
      "Number overflow. Attempting to store a number with magnitude larger than supported range "
      "under root";
  EXPECT_EQ(ErrorOf("INSERT INTO t VALUE {'a': 1e126}"), overflow);
  EXPECT_EQ(ErrorOf("SELECT * FROM t WHERE a = 1e126"), overflow);
  EXPECT_EQ(ErrorOf("INSERT INTO t VALUE {'a': {'b': 1}, 'm': {'x': 1e126}}"), overflow + ".x");
  EXPECT_EQ(ErrorOf("INSERT INTO t VALUE {'l': [1, 1e126]}"), overflow + "[1]");
  EXPECT_THAT(ErrorOf(""), HasSubstr("greater than or equal to 1"));
  EXPECT_THAT(ErrorOf(std::string(8'193, 'a')), HasSubstr("less than or equal to 8192"));
}

// The recursion is limited, whatever nests.
TEST(PartiqlParseTest, RefusesDeepNesting) {
  for (const char* piece : {"(", "NOT ", "size(", "a = [", "a = {'b': "}) {
    std::string text = "SELECT * FROM t WHERE a = ";
    if (piece[0] == '(' || piece[0] == 'N' || piece[0] == 's') text = "SELECT * FROM t WHERE ";
    std::string deep = piece[0] == 'a' ? std::string(piece).substr(4) : piece;
    while (text.size() + deep.size() < kMaxStatementBytes) text += deep;
    EXPECT_THAT(ErrorOf(text), HasSubstr("nests deeper")) << piece;
  }
}

}  // namespace
}  // namespace tidemark::partiql
