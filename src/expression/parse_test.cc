#include "expression/parse.h"

#include <string>

#include <gtest/gtest.h>

#include "expression/limits.h"
#include "tests/support/expression_request.h"

namespace tidemark::expression {
namespace {

std::string Repeat(std::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

std::string Syntax(std::string_view token, std::string_view near) {
  return "Syntax error; token: \"" + std::string(token) + "\", near: \"" + std::string(near) + "\"";
}

struct SyntaxCase {
  std::string_view text;
  std::string_view token;
  std::string_view near;
};

// Conditions as people write them, with various spaces and in various cases.
TEST(ParseTest, AcceptsConditions) {
  for (const std::string_view text : {
           "a = :b",
           ":b = a",
           ":a = :b",
           "a=:b",
           "  a\t=\r\n:b  ",
           "#a.#b[0][1].c <> :d",
           "a . b [ 0 ] = :c",
           "a < b AND c <= d OR e > f and g >= h or not i = j",
           "NOT NOT a = :b",
           "not(a = :b)",
           "(a = :b)",
           "(a) = :b",
           "(a) = (:b)",
           "((a) = (:b))",
           "(a = :b) AND (c = :d)",
           "((a = :b) AND c = :d) OR (e = :f)",
           "(a = :b AND (c = :d))",
           "NOT (a = :b OR c = :d)",
           "a BETWEEN :b AND :c",
           "a BETWEEN :b AND :c AND d = :e",
           "(a) BETWEEN (:b) AND (:c)",
           "NOT a BETWEEN :b AND :c OR d = :e",
           "a IN (:b)",
           "a in (:b, c, size(d), (e))",
           "(a) IN (:b)",
           "attribute_exists(a)",
           "(attribute_exists(a))",
           "NOT attribute_exists(a)",
           "attribute_exists (a) AND f(b, :c, d.e[1])",
           "size(a) > :b",
           "(size(a)) > :b",
           "(size(a) > :b)",
           "( ( size ( #a )) < #b.c ) AND ( #d > :e )",
           "f(g(h(a)))",
           "f((a), (:b))",
           "between_ = :a",
           "size = :a",
           "a = size",
       }) {
    EXPECT_EQ(MessageOf(ParseConditionSyntax(text)), "") << text;
  }
}

// The message names the unexpected token and quotes the text around it.
TEST(ParseTest, NamesTheUnexpectedTokenOfACondition) {
  const SyntaxCase cases[] = {
      {"a", "<EOF>", "a"},
      {"a ", "<EOF>", "a"},
      {"a =", "<EOF>", "="},
      {"a = ", "<EOF>", "="},
      {"= :b", "=", "= :b"},
      {"a b", "b", "a b"},
      {"a x b", "x", "a x b"},
      {"a = :b c", "c", ":b c"},
      {"a == :b", "=", "== :b"},
      {"a != :b", "!", "a !="},
      {"a = 'b'", "'", "= 'b"},
      {"a = 5", "5", "= 5"},
      {"a = :b AND", "<EOF>", "AND"},
      {"a = :b AND AND c = :d", "AND", "AND AND c"},
      {"AND a = :b", "AND", "AND a"},
      {"NOT", "<EOF>", "NOT"},
      {"NOT a", "<EOF>", "a"},
      {"a AND b = c", "AND", "a AND b"},
      {"(a AND b = c)", "AND", "a AND b"},
      {"(a) AND b = c", "AND", ") AND b"},
      {"(a)", "<EOF>", ")"},
      {"(a = :b", "<EOF>", ":b"},
      {"a = :b)", ")", ":b)"},
      {"()", ")", "()"},
      {"(a = :b) = :c", "=", ") = :c"},
      {"(a, b) = :c", ",", "a, b"},
      {"a = :b = :c", "=", ":b = :c"},
      {"a.b.", "<EOF>", "."},
      {"a..b = :c", ".", "..b"},
      {"a.0 = :c", "0", ".0 ="},
      {"a.:b = :c", ":b", ".:b ="},
      {".a = :c", ".", ".a"},
      {"[0] = :c", "[", "[0"},
      {"a[] = :c", "]", "[] ="},
      {"a[b] = :c", "b", "[b]"},
      {"a[:b] = :c", ":b", "[:b]"},
      {"a[-1] = :c", "-", "[-1"},
      {"a[01] = :c", "1", "01]"},
      {"a[0 = :c", "=", "0 = :c"},
      {":a.b = :c", ".", ":a.b"},
      {"a BETWEEN :b", "<EOF>", ":b"},
      {"a BETWEEN :b OR :c", "OR", ":b OR :c"},
      {"a BETWEEN :b, :c", ",", ":b, :c"},
      {"a BETWEEN AND :c", "AND", "BETWEEN AND :c"},
      {"a BETWEEN (:b AND :c)", "AND", ":b AND :c"},
      {"a IN", "<EOF>", "IN"},
      {"a IN :b", ":b", "IN :b"},
      {"a IN ()", ")", "()"},
      {"a IN (:b,)", ")", ",)"},
      {"a IN (:b :c)", ":c", ":b :c)"},
      {"a NOT IN (:b)", "NOT", "a NOT IN"},
      {"IN (:b)", "IN", "IN ("},
      {"f()", ")", "()"},
      {"f(a", "<EOF>", "a"},
      {"f(a,)", ")", ",)"},
      {"f(a = :b)", "=", "a = :b"},
      {"#f(a)", "(", "#f(a"},
      {"a.f(b)", "(", "f(b"},
      {"a = :b + :c", "+", ":b + :c"},
      {"SET a = :b", "SET", "SET a"},
      {"add = :b", "add", "add ="},
      {"_id = :b", "_", "_id"},
      {"# = :b", "#", "# ="},
      {"a = :", ":", "= :"},
      {"access-token = :b", "-", "access-token"},
      {"a = :b;", ";", ":b;"},
      {"é = :b", "é", "é ="},
  };
  for (const SyntaxCase& c : cases) {
    EXPECT_EQ(MessageOf(ParseConditionSyntax(c.text)), Syntax(c.token, c.near)) << c.text;
  }
}

// Two pairs of parentheses around the same thing are refused, wherever they are.
TEST(ParseTest, RefusesRedundantParentheses) {
  for (const std::string_view text :
       {"((a = :b))", "((a)) = :b", "a = ((:b))", "a = :b AND ((c = :d))", "NOT ((a = :b))",
        "((attribute_exists(a)))", "((size(a))) > :b", "f(((a)))", "a IN (((:b)))",
        "a BETWEEN ((:b)) AND :c", "((a = :b) ) AND", "((a = :b AND c = :d))"}) {
    EXPECT_EQ(MessageOf(ParseConditionSyntax(text)), "The expression has redundant parentheses;")
        << text;
  }
  for (const std::string_view text :
       {"SET a = ((b))", "SET a = ((b + :c))", "SET a = :b + ((c))", "SET a = ((b)) + c"}) {
    EXPECT_EQ(MessageOf(ParseUpdateSyntax(text)), "The expression has redundant parentheses;")
        << text;
  }
}

TEST(ParseTest, AcceptsUpdates) {
  for (const std::string_view text : {
           "SET a = :b",
           "set a=:b,c=:d",
           "SET a = b, c.d[0] = :e REMOVE f, g[1] ADD h :i, j.k :l DELETE m :n",
           "remove a Set b = :c dElEtE d :e",
           "SET a = b + :c",
           "SET a = b - :c",
           "SET a = (b + :c)",
           "SET a = (b) + (:c)",
           "SET a = ((b) + :c)",
           "SET a = (b)",
           "SET a = if_not_exists(a, :b) + :c, d = list_append(d, if_not_exists(e, :f))",
           "SET a = if_not_exists(a, (:b))",
           "REMOVE a",
           "ADD #a :b",
           "DELETE a.b :c",
       }) {
    EXPECT_EQ(MessageOf(ParseUpdateSyntax(text)), "") << text;
  }
}

TEST(ParseTest, NamesTheUnexpectedTokenOfAnUpdate) {
  const SyntaxCase cases[] = {
      {"INVALID SYNTAX HERE", "INVALID", "INVALID SYNTAX"},
      {"SET", "<EOF>", "SET"},
      {"SET a", "<EOF>", "a"},
      {"SET a =", "<EOF>", "="},
      {"SET a = :b,", "<EOF>", ","},
      {"SET a = :b c = :d", "c", ":b c ="},
      {"SET a = :b, REMOVE c", "REMOVE", ", REMOVE c"},
      {"SET a :b", ":b", "a :b"},
      {"SET :a = :b", ":a", "SET :a ="},
      {"SET a = :b + :c + :d", "+", ":c + :d"},
      {"SET a = (b + :c) + :d", "+", ") + :d"},
      {"SET a = b + (c + :d)", "+", "c + :d"},
      {"SET a = b * :c", "*", "b * :c"},
      {"SET a = +:c", "+", "= +:c"},
      {"SET a = (b", "<EOF>", "b"},
      {"SET a = list_append(b + :c, d)", "+", "b + :c"},
      {"SET a = b = c", "=", "b = c"},
      {"SET a += :b", "+", "a +="},
      {"SET a = b AND c", "AND", "b AND c"},
      {"REMOVE", "<EOF>", "REMOVE"},
      {"REMOVE a b", "b", "a b"},
      {"REMOVE a = :b", "=", "a = :b"},
      {"REMOVE :a", ":a", "REMOVE :a"},
      {"REMOVE a,", "<EOF>", ","},
      {"REMOVE f(a)", "(", "f(a"},
      {"ADD a", "<EOF>", "a"},
      {"ADD a b", "b", "a b"},
      {"ADD a = :b", "=", "a = :b"},
      {"ADD a (:b)", "(", "a (:b"},
      {"ADD :a", ":a", "ADD :a"},
      {"DELETE a", "<EOF>", "a"},
      {"DELETE a, b", ",", "a, b"},
      {"UPDATE a = :b", "UPDATE", "UPDATE a"},
      {"SET set = :a", "set", "SET set ="},
      {"a = :b", "a", "a ="},
  };
  for (const SyntaxCase& c : cases) {
    EXPECT_EQ(MessageOf(ParseUpdateSyntax(c.text)), Syntax(c.token, c.near)) << c.text;
  }
}

TEST(ParseTest, AcceptsProjections) {
  for (const std::string_view text : {"a", "a,b", " a , #b . c [ 2 ] [ 3 ], d.e.f ", "a[0]"}) {
    EXPECT_EQ(MessageOf(ParseProjectionSyntax(text)), "") << text;
  }
}

TEST(ParseTest, NamesTheUnexpectedTokenOfAProjection) {
  const SyntaxCase cases[] = {
      {"a,", "<EOF>", ","}, {",a", ",", ",a"},         {"a b", "b", "a b"}, {"a,,b", ",", ",,b"},
      {":a", ":a", ":a"},   {"a = :b", "=", "a = :b"}, {"(a)", "(", "(a"},  {"a[0", "<EOF>", "0"},
      {"a.", "<EOF>", "."}, {"f(a)", "(", "f(a"},      {"*", "*", "*"},     {"a[*]", "*", "[*]"},
  };
  for (const SyntaxCase& c : cases) {
    EXPECT_EQ(MessageOf(ParseProjectionSyntax(c.text)), Syntax(c.token, c.near)) << c.text;
  }
}

TEST(ParseTest, RefusesEmptyText) {
  for (const std::string_view text : {"", " ", "\t\r\n "}) {
    EXPECT_EQ(MessageOf(ParseConditionSyntax(text)), "The expression can not be empty;");
    EXPECT_EQ(MessageOf(ParseUpdateSyntax(text)), "The expression can not be empty;");
    EXPECT_EQ(MessageOf(ParseProjectionSyntax(text)), "The expression can not be empty;");
  }
}

// The limit is for the text as it is sent, with its spaces.
TEST(ParseTest, AcceptsAtMost4096Bytes) {
  const std::string longest = "a = :b" + std::string(kMaxExpressionBytes - 6, ' ');
  EXPECT_EQ(MessageOf(ParseConditionSyntax(longest)), "");
  EXPECT_EQ(MessageOf(ParseConditionSyntax(longest + ' ')),
            "Expression size has exceeded the maximum allowed size; expression size: 4097");
  EXPECT_EQ(MessageOf(ParseUpdateSyntax(std::string(5'000, 'x'))),
            "Expression size has exceeded the maximum allowed size; expression size: 5000");
  EXPECT_EQ(MessageOf(ParseProjectionSyntax(std::string(4'097, 'x'))),
            "Expression size has exceeded the maximum allowed size; expression size: 4097");
}

constexpr std::string_view kTooManyOperators =
    "The expression contains too many operators; operator count: 301";

// Comparators, AND, OR, NOT, BETWEEN, IN, signs and functions count; parentheses do not.
TEST(ParseTest, AcceptsAtMost300Operators) {
  const auto chain = [](int comparisons) { return "a<b" + Repeat(" OR a<b", comparisons - 1); };
  EXPECT_EQ(MessageOf(ParseConditionSyntax(chain(150))), "");
  EXPECT_EQ(MessageOf(ParseConditionSyntax("NOT " + chain(150))), "");
  EXPECT_EQ(MessageOf(ParseConditionSyntax("NOT NOT " + chain(150))), kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseConditionSyntax(chain(151))), kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseConditionSyntax(Repeat("NOT ", 299) + "a=b")), "");
  EXPECT_EQ(MessageOf(ParseConditionSyntax(Repeat("NOT ", 300) + "a=b")), kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseConditionSyntax(Repeat("f(", 300) + "a" + Repeat(")", 300))), "");
  EXPECT_EQ(MessageOf(ParseConditionSyntax(Repeat("f(", 301) + "a" + Repeat(")", 301))),
            kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseUpdateSyntax("SET a=b+c" + Repeat(",a=b+c", 299))), "");
  EXPECT_EQ(MessageOf(ParseUpdateSyntax("SET a=b+c" + Repeat(",a=b+c", 300))), kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseUpdateSyntax("SET a=b" + Repeat(",a=b", 600))), "");
}

// A hostile text must neither exhaust the stack nor take long.
TEST(ParseTest, LimitsNesting) {
  const auto nested = [](int depth) {
    return Repeat("a<b OR (", depth) + "a<b" + Repeat(")", depth);
  };
  EXPECT_EQ(MessageOf(ParseConditionSyntax(nested(149))), "");
  EXPECT_EQ(MessageOf(ParseConditionSyntax(nested(200))), kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseConditionSyntax(Repeat("(NOT ", 299) + "a=b" + Repeat(")", 299))), "");
  EXPECT_EQ(MessageOf(ParseConditionSyntax(std::string(4'000, '('))), kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseConditionSyntax("a = " + std::string(4'000, '('))), kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseUpdateSyntax("SET a = " + std::string(4'000, '('))), kTooManyOperators);
  EXPECT_EQ(MessageOf(ParseConditionSyntax(Repeat("f(", 2'000))), kTooManyOperators);
}

// NOT binds stronger than AND, and AND stronger than OR. A chain of AND is one node.
TEST(ParseTest, PrecedenceIsNotThenAndThenOr) {
  const auto parsed = ParseConditionSyntax("a=b OR NOT c=d AND e=f AND g=h");
  ASSERT_TRUE(parsed);
  const auto* disjunction = std::get_if<syntax::Or>(&parsed->node);
  ASSERT_NE(disjunction, nullptr);
  ASSERT_EQ(disjunction->conditions.size(), 2U);
  const auto* conjunction = std::get_if<syntax::And>(&disjunction->conditions[1].node);
  ASSERT_NE(conjunction, nullptr);
  ASSERT_EQ(conjunction->conditions.size(), 3U);
  const auto* negation = std::get_if<syntax::Not>(&conjunction->conditions[0].node);
  ASSERT_NE(negation, nullptr);
  EXPECT_TRUE(std::holds_alternative<syntax::Comparison>(negation->condition->node));
}

// A thread keeps the last few conditions. Each text gets its own condition, also after many others,
// and a condition stays valid for its holder after the thread has dropped it.
TEST(ParseTest, KeepsParsedConditionsApart) {
  const auto left_of = [](const syntax::Condition& condition) {
    const auto& comparison = std::get<syntax::Comparison>(condition.node);
    const auto& path = std::get<syntax::Path>(comparison.left.node);
    return std::string(std::get<syntax::Name>(path.steps[0]).text);
  };
  const auto first = RecallConditionSyntax("first = :v");
  ASSERT_TRUE(first);
  for (int round = 0; round < 2; ++round) {
    for (int i = 10; i < 40; ++i) {
      const std::string name = "name" + std::to_string(i);
      for (int again = 0; again < 2; ++again) {
        const auto recalled = RecallConditionSyntax(name + " = :v");
        ASSERT_TRUE(recalled);
        EXPECT_EQ(left_of(**recalled), name);
      }
    }
  }
  EXPECT_EQ(left_of(**first), "first");
  EXPECT_FALSE(RecallConditionSyntax("a ="));
  EXPECT_FALSE(RecallConditionSyntax("a ="));
}

// The same for updates.
TEST(ParseTest, KeepsParsedUpdatesApart) {
  const auto changed_by = [](const syntax::Update& update) {
    return std::string(std::get<syntax::Name>(update.actions[0].path.steps[0]).text);
  };
  for (int i = 10; i < 40; ++i) {
    const std::string name = "name" + std::to_string(i);
    for (int again = 0; again < 2; ++again) {
      const auto recalled = RecallUpdateSyntax("SET " + name + " = :v");
      ASSERT_TRUE(recalled);
      EXPECT_EQ(changed_by(**recalled), name);
    }
  }
  EXPECT_FALSE(RecallUpdateSyntax("SET a ="));
}

}  // namespace
}  // namespace tidemark::expression
