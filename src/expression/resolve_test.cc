#include "expression/resolve.h"

#include <string>

#include <gtest/gtest.h>

#include "expression/limits.h"
#include "tests/support/expression_request.h"

namespace tidemark::expression {
namespace {

// One request for all cases: a value of every type, and a few names.
Request ResolveEveryType() {
  return {{{"#n", "name"}, {"#a", "a"}, {"#dot", "x.y"}},
          {{":s", "text"},
           {":n", N(1)},
           {":b", B("bytes")},
           {":bool", true},
           {":null", item::Null{}},
           {":ss", SS({"x"})},
           {":ns", NS({1})},
           {":bs", BS({"x"})},
           {":l", L({})},
           {":m", M({})},
           {":low", N(1)},
           {":high", N(2)},
           {":type", "SS"},
           {":bytes", B("abc")}}};
}

constexpr std::string_view kCondition = "Invalid ConditionExpression: ";
constexpr std::string_view kUpdate = "Invalid UpdateExpression: ";

void ExpectConditionMessages(const std::vector<MessageCase>& cases) {
  const Request request = ResolveEveryType();
  for (const MessageCase& c : cases) {
    EXPECT_EQ(MessageOf(request.Condition(c.text)),
              std::string(kCondition) + std::string(c.message))
        << c.text;
  }
}

void ExpectUpdateMessages(const std::vector<MessageCase>& cases) {
  const Request request = ResolveEveryType();
  for (const MessageCase& c : cases) {
    EXPECT_EQ(MessageOf(request.Update(c.text)), std::string(kUpdate) + std::string(c.message))
        << c.text;
  }
}

TEST(ResolveTest, AcceptsOperandsOfTheRightTypes) {
  const Request request = ResolveEveryType();
  for (const std::string_view text : {
           "a = :s",
           "a = :m",
           "a <> :bool",
           "a < :s",
           "a <= :n",
           "a > :b",
           ":s >= a",
           "a BETWEEN :low AND :high",
           "a BETWEEN :low AND :low",
           "a BETWEEN b AND c",
           "a BETWEEN :high AND b",
           "a IN (:s, :n, :bool)",
           "begins_with(a, :s)",
           "begins_with(a, :b)",
           "begins_with(:s, a)",
           "contains(a, :n)",
           "contains(a, :l)",
           "contains(:l, a)",
           "size(a) = :n",
           "size(:s) < a",
           "size(:ss) = :n",
           "size(:m) = :n",
           "attribute_type(a, :type)",
           "attribute_exists(a.b[0])",
           "attribute_not_exists(#n)",
           "a = #n",
           "a = a.b",
           "a[0] = a[1]",
           "#a = b",
           "size(a) = size(b)",
           "a = :n AND a = :n",
       }) {
    EXPECT_EQ(MessageOf(request.Condition(text)), "") << text;
  }
}

// A reserved word needs a reference. The message quotes the word as it is written.
TEST(ResolveTest, RefusesReservedWords) {
  ExpectConditionMessages({
      {"status = :s", "Attribute name is a reserved keyword; reserved keyword: status"},
      {"a.Name = :s", "Attribute name is a reserved keyword; reserved keyword: Name"},
      {"a = :n AND b BETWEEN COUNT AND :n",
       "Attribute name is a reserved keyword; reserved keyword: COUNT"},
      {"a IN (b, ttl)", "Attribute name is a reserved keyword; reserved keyword: ttl"},
      {"attribute_exists(data)", "Attribute name is a reserved keyword; reserved keyword: data"},
      {"size = :n", "Attribute name is a reserved keyword; reserved keyword: size"},
      {"NOT (year = :n)", "Attribute name is a reserved keyword; reserved keyword: year"},
  });
  ExpectUpdateMessages({
      {"SET name = :s", "Attribute name is a reserved keyword; reserved keyword: name"},
      {"SET a = b.value", "Attribute name is a reserved keyword; reserved keyword: value"},
      {"SET a = b + counter", "Attribute name is a reserved keyword; reserved keyword: counter"},
      {"SET a = if_not_exists(hash, :n)",
       "Attribute name is a reserved keyword; reserved keyword: hash"},
      {"REMOVE a, b[0].items", "Attribute name is a reserved keyword; reserved keyword: items"},
      {"ADD total :n", "Attribute name is a reserved keyword; reserved keyword: total"},
  });
  EXPECT_EQ(MessageOf(ResolveEveryType().Projection("a, user")),
            "Invalid ProjectionExpression: Attribute name is a reserved keyword; "
            "reserved keyword: user");
}

TEST(ResolveTest, RefusesReferencesThatAreNotDefined) {
  ExpectConditionMessages({
      {"#x = :s",
       "An expression attribute name used in the document path is not defined; attribute name: #x"},
      {"a.#y = :s",
       "An expression attribute name used in the document path is not defined; attribute name: #y"},
      {"a = :x",
       "An expression attribute value used in expression is not defined; "
       "attribute value: :x"},
      {"a IN (:s, :y)",
       "An expression attribute value used in expression is not defined; "
       "attribute value: :y"},
      {"size(:z) = :n",
       "An expression attribute value used in expression is not defined; "
       "attribute value: :z"},
      {"a = :N",
       "An expression attribute value used in expression is not defined; "
       "attribute value: :N"},
  });
  ExpectUpdateMessages({
      {"SET #x = :s",
       "An expression attribute name used in the document path is not defined; attribute name: #x"},
      {"SET a = #x + :n",
       "An expression attribute name used in the document path is not defined; attribute name: #x"},
      {"SET a = :x",
       "An expression attribute value used in expression is not defined; "
       "attribute value: :x"},
      {"ADD a :x",
       "An expression attribute value used in expression is not defined; "
       "attribute value: :x"},
      {"DELETE a :x",
       "An expression attribute value used in expression is not defined; "
       "attribute value: :x"},
  });
}

TEST(ResolveTest, RefusesFunctionsOutOfPlace) {
  ExpectConditionMessages({
      {"f(a)", "Invalid function name; function: f"},
      {"Size(a) = :n", "Invalid function name; function: Size"},
      {"BEGINS_WITH(a, :s)", "Invalid function name; function: BEGINS_WITH"},
      {"a = f(b)", "Invalid function name; function: f"},
      {"size(a)",
       "The function is not allowed to be used this way in an expression; "
       "function: size"},
      {"NOT size(a)",
       "The function is not allowed to be used this way in an expression; "
       "function: size"},
      {"(size(a)) AND a = :n",
       "The function is not allowed to be used this way in an expression; "
       "function: size"},
      {"contains(a, :s) = :bool",
       "The function is not allowed to be used this way in an "
       "expression; function: contains"},
      {"a IN (attribute_exists(b))",
       "The function is not allowed to be used this way in an "
       "expression; function: attribute_exists"},
      {"contains(begins_with(a, :s), :s)",
       "The function is not allowed to be used this way in an "
       "expression; function: begins_with"},
      {"a = if_not_exists(b, :n)",
       "The function is not allowed in a condition expression; function: if_not_exists"},
      {"list_append(b, :n)",
       "The function is not allowed in a condition expression; function: list_append"},
  });
  ExpectUpdateMessages({
      {"SET a = f(b)", "Invalid function name; function: f"},
      {"SET a = List_Append(b, :l)", "Invalid function name; function: List_Append"},
      {"SET a = size(b)", "The function is not allowed in an update expression; function: size"},
      {"SET a = list_append(b, contains(c, :s))",
       "The function is not allowed in an update expression; function: contains"},
      {"SET a = b + attribute_exists(c)",
       "The function is not allowed in an update expression; function: attribute_exists"},
  });
}

TEST(ResolveTest, RefusesWrongNumbersOfOperands) {
  ExpectConditionMessages({
      {"attribute_exists(a, b)",
       "Incorrect number of operands for operator or function; "
       "operator or function: attribute_exists, number of operands: 2"},
      {"attribute_type(a)",
       "Incorrect number of operands for operator or function; "
       "operator or function: attribute_type, number of operands: 1"},
      {"begins_with(a)",
       "Incorrect number of operands for operator or function; "
       "operator or function: begins_with, number of operands: 1"},
      {"contains(a, b, c)",
       "Incorrect number of operands for operator or function; "
       "operator or function: contains, number of operands: 3"},
      {"size(a, b) = :n",
       "Incorrect number of operands for operator or function; "
       "operator or function: size, number of operands: 2"},
  });
  ExpectUpdateMessages({
      {"SET a = if_not_exists(b)",
       "Incorrect number of operands for operator or function; "
       "operator or function: if_not_exists, number of operands: 1"},
      {"SET a = list_append(b, c, d)",
       "Incorrect number of operands for operator or function; "
       "operator or function: list_append, number of operands: 3"},
  });
}

TEST(ResolveTest, RefusesOperandsOfTheWrongType) {
  ExpectConditionMessages({
      {"a < :bool",
       "Incorrect operand type for operator or function; operator or function: <, "
       "operand type: BOOL"},
      {":null <= a",
       "Incorrect operand type for operator or function; operator or function: <=, "
       "operand type: NULL"},
      {"a > :ss",
       "Incorrect operand type for operator or function; operator or function: >, "
       "operand type: SS"},
      {"a >= :m",
       "Incorrect operand type for operator or function; operator or function: >=, "
       "operand type: M"},
      {"a BETWEEN :l AND :l",
       "Incorrect operand type for operator or function; "
       "operator or function: BETWEEN, operand type: L"},
      {":bs BETWEEN a AND b",
       "Incorrect operand type for operator or function; "
       "operator or function: BETWEEN, operand type: BS"},
      {"begins_with(a, :n)",
       "Incorrect operand type for operator or function; "
       "operator or function: begins_with, operand type: N"},
      {"begins_with(:ns, a)",
       "Incorrect operand type for operator or function; "
       "operator or function: begins_with, operand type: NS"},
      {"begins_with(a, size(b))",
       "Incorrect operand type for operator or function; "
       "operator or function: begins_with, operand type: N"},
      {"size(:n) = :n",
       "Incorrect operand type for operator or function; "
       "operator or function: size, operand type: N"},
      {"size(:bool) = :n",
       "Incorrect operand type for operator or function; "
       "operator or function: size, operand type: BOOL"},
      {"size(:null) = :n",
       "Incorrect operand type for operator or function; "
       "operator or function: size, operand type: NULL"},
      {"size(size(a)) = :n",
       "Incorrect operand type for operator or function; "
       "operator or function: size, operand type: N"},
      {"attribute_type(a, :n)",
       "Incorrect operand type for operator or function; "
       "operator or function: attribute_type, operand type: N"},
      {"attribute_type(a, size(b))",
       "Incorrect operand type for operator or function; "
       "operator or function: attribute_type, operand type: N"},
      {"attribute_type(a, b)",
       "Incorrect operand type for operator or function; "
       "operator or function: attribute_type, "
       "operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}"},
      {"attribute_type(a, :s)",
       "Invalid attribute type name found; type: text, "
       "valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
      {"attribute_exists(:s)",
       "Operator or function requires a document path; "
       "operator or function: attribute_exists"},
      {"attribute_not_exists(size(a))",
       "Operator or function requires a document path; "
       "operator or function: attribute_not_exists"},
      {"attribute_type(:s, :type)",
       "Operator or function requires a document path; "
       "operator or function: attribute_type"},
  });
  ExpectUpdateMessages({
      {"SET a = b + :s",
       "Incorrect operand type for operator or function; "
       "operator or function: +, operand type: S"},
      {"SET a = :l - b",
       "Incorrect operand type for operator or function; "
       "operator or function: -, operand type: L"},
      {"SET a = list_append(b, :s)",
       "Incorrect operand type for operator or function; "
       "operator or function: list_append, operand type: S"},
      {"SET a = list_append(:ss, b)",
       "Incorrect operand type for operator or function; "
       "operator or function: list_append, operand type: SS"},
      {"SET a = if_not_exists(:s, b)",
       "Operator or function requires a document path; "
       "operator or function: if_not_exists"},
      {"ADD a :s",
       "Incorrect operand type for operator or function; operator: ADD, "
       "operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"},
      {"ADD a :l",
       "Incorrect operand type for operator or function; operator: ADD, "
       "operand type: LIST, typeSet: ALLOWED_FOR_ADD_OPERAND"},
      {"ADD a :bool",
       "Incorrect operand type for operator or function; operator: ADD, "
       "operand type: BOOLEAN, typeSet: ALLOWED_FOR_ADD_OPERAND"},
      {"DELETE a :n",
       "Incorrect operand type for operator or function; operator: DELETE, "
       "operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND"},
      {"DELETE a :m",
       "Incorrect operand type for operator or function; operator: DELETE, "
       "operand type: MAP, typeSet: ALLOWED_FOR_DELETE_OPERAND"},
  });
}

// DynamoDB refuses to compare an attribute with itself.
TEST(ResolveTest, RefusesOperandsThatAreTheSamePath) {
  const std::string_view same =
      "The first operand must be distinct from the remaining operands for this operator or "
      "function; operator: ";
  const Request request = ResolveEveryType();
  for (const auto& [text, rest] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"a = a", "=, first operand: [a]"},
           {"a <> (a)", "<>, first operand: [a]"},
           {"#a < a", "<, first operand: [a]"},
           {"a.b[0] >= a.b[0]", ">=, first operand: [a, b, [0]]"},
           {"contains(a, a)", "contains, first operand: [a]"},
           {"begins_with(#dot, #dot)", "begins_with, first operand: [x.y]"},
           {"attribute_type(a, a)", "attribute_type, first operand: [a]"},
           {"a IN (b, a)", "IN, first operand: [a]"},
           {"a BETWEEN b AND a", "BETWEEN, first operand: [a]"},
       }) {
    EXPECT_EQ(MessageOf(request.Condition(text)),
              std::string(kCondition) + std::string(same) + std::string(rest))
        << text;
  }
}

TEST(ResolveTest, RefusesALowerBoundAboveTheUpperBound) {
  ExpectConditionMessages({
      {"a BETWEEN :high AND :low",
       "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
       "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
      {"a BETWEEN :s AND :n",
       "The BETWEEN operator requires same data type for lower and upper bounds; "
       "lower bound operand: AttributeValue: {S:text}, "
       "upper bound operand: AttributeValue: {N:1}"},
      {"a BETWEEN :b AND :bytes",
       "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
       "lower bound operand: AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=5 cap=5]}, "
       "upper bound operand: AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=3 cap=3]}"},
  });
}

TEST(ResolveTest, AcceptsAtMost100ChoicesOfIn) {
  std::string choices = ":n";
  for (int i = 1; i < 100; ++i) choices += ", :n";
  EXPECT_EQ(MessageOf(ResolveEveryType().Condition("a IN (" + choices + ")")), "");
  EXPECT_EQ(MessageOf(ResolveEveryType().Condition("a IN (" + choices + ", :n)")),
            "Invalid ConditionExpression: The IN operator is provided with too many operands; "
            "number of operands: 101");
}

TEST(ResolveTest, AcceptsAtMost32StepsAndListIndexesOf31Bits) {
  std::string path = "a";
  for (int i = 1; i < 32; ++i) path += ".a";
  EXPECT_EQ(MessageOf(ResolveEveryType().Projection(path)), "");
  EXPECT_EQ(MessageOf(ResolveEveryType().Projection(path + "[0]")),
            "Invalid ProjectionExpression: The document path has too many nesting levels; "
            "nesting levels: 33");
  EXPECT_EQ(MessageOf(ResolveEveryType().Projection("a[2147483647]")), "");
  for (const std::string index :
       {"2147483648", "4294967296", "18446744073709551616", "99999999999999999999999999"}) {
    EXPECT_EQ(MessageOf(ResolveEveryType().Projection("a[" + index + "]")),
              "Invalid ProjectionExpression: List index is not within the allowable range; "
              "index: [" +
                  index + "]");
  }
}

// A short text that uses one long name often must not need very much memory.
TEST(ResolveTest, LimitsTheLengthOfResolvedNames) {
  const Request request{{{"#n", std::string(65'535, 'n')}}, {}};
  std::string text = "a.#n";
  for (int i = 1; i < 31; ++i) text += ", a" + std::to_string(i) + ".#n";
  EXPECT_EQ(MessageOf(request.Projection(text)), "");
  EXPECT_EQ(MessageOf(request.Projection(text + ", b.#n, c.#n")),
            "Invalid ProjectionExpression: The attribute names of the expression are too long once "
            "references are replaced; they may have 2097152 bytes together");
}

// A value is copied once, even if the text uses it 600 times. 600 copies of 100 KB would be
// noticed.
TEST(ResolveTest, CopiesAValueOnce) {
  const Request request{{}, {{":v", std::string(100'000, 'v')}}};
  Bindings bindings = request.MakeBindings();
  const auto parsed =
      ResolveUpdate(syntax::Update{{{syntax::Path{{syntax::Name{"a"}}},
                                     syntax::Set{syntax::Operand{syntax::ValueReference{":v"}}}},
                                    {syntax::Path{{syntax::Name{"b"}}},
                                     syntax::Set{syntax::Operand{syntax::ValueReference{":v"}}}}},
                                   {"SET"}},
                    &bindings);
  ASSERT_TRUE(parsed);
  EXPECT_EQ((*parsed)->values.size(), 1U);
}

TEST(ResolveTest, RefusesPathsThatOverlapOrConflict) {
  const auto clash = [](std::string_view verb, std::string_view one, std::string_view two) {
    return "Two document paths " + std::string(verb) +
           " with each other; must remove or rewrite one of these paths; path one: " +
           std::string(one) + ", path two: " + std::string(two);
  };
  struct Case {
    std::string_view text;
    std::string message;
  };
  const Case cases[] = {
      {"SET a = :n, a = :n", clash("overlap", "[a]", "[a]")},
      {"SET a = :n REMOVE a", clash("overlap", "[a]", "[a]")},
      {"SET a.b = :n, a = :n", clash("overlap", "[a, b]", "[a]")},
      {"SET a = :n, a.b.c = :n", clash("overlap", "[a]", "[a, b, c]")},
      {"REMOVE a[1], a[1].b", clash("overlap", "[a, [1]]", "[a, [1], b]")},
      {"ADD #a :n, a :n", clash("overlap", "[a]", "[a]")},
      {"SET a[0] = :n, a.b = :n", clash("conflict", "[a, [0]]", "[a, b]")},
      {"SET a.b = :n, a[0] = :n", clash("conflict", "[a, b]", "[a, [0]]")},
      {"SET a.x.y = :n, b = :n, a.x[3].z = :n", clash("conflict", "[a, x, y]", "[a, x, [3], z]")},
      {"SET c = :n, b = :n, a = :n, b = :n, a = :n", clash("overlap", "[b]", "[b]")},
      {"SET a = :n, a.b = :undefined", clash("overlap", "[a]", "[a, b]")},
  };
  const Request request = ResolveEveryType();
  for (const Case& c : cases) {
    EXPECT_EQ(MessageOf(request.Update(c.text)), std::string(kUpdate) + c.message) << c.text;
  }
  for (const std::string_view text :
       {"SET a = :n, b = :n", "SET a.b = :n, a.c = :n REMOVE a.d", "SET a[0] = :n, a[1] = :n",
        "SET a = b, b = a", "SET ab = :n, a = :n", "SET #dot = :n, x.y = :n", "SET a.b = a"}) {
    EXPECT_EQ(MessageOf(request.Update(text)), "") << text;
  }
  EXPECT_EQ(MessageOf(request.Projection("a.b, c, a")),
            "Invalid ProjectionExpression: " + clash("overlap", "[a, b]", "[a]"));
  EXPECT_EQ(MessageOf(request.Projection("a[0], a.b")),
            "Invalid ProjectionExpression: " + clash("conflict", "[a, [0]]", "[a, b]"));
}

TEST(ResolveTest, RefusesTheSameSectionTwice) {
  ExpectUpdateMessages({
      {"SET a = :n SET b = :n",
       "The \"SET\" section can only be used once in an update expression;"},
      {"remove a SET b = :n Remove c",
       "The \"REMOVE\" section can only be used once in an update expression;"},
      {"ADD a :n SET b = :n ADD c :n",
       "The \"ADD\" section can only be used once in an update expression;"},
      {"DELETE a :ss DELETE b :ss",
       "The \"DELETE\" section can only be used once in an update expression;"},
  });
}

// DynamoDB reports one of several errors: errors of form first, then undefined references, then
// wrong types. Of errors of one kind it reports the first in the text.
TEST(ResolveTest, ReportsErrorsInDynamoDbsOrder) {
  ExpectConditionMessages({
      {"a = :undefined AND status = :s",
       "Attribute name is a reserved keyword; reserved keyword: status"},
      {"a < :bool AND f(a)", "Invalid function name; function: f"},
      {"a = :undefined AND begins_with(b, :n)",
       "An expression attribute value used in expression is not defined; "
       "attribute value: :undefined"},
      {"begins_with(b, :n) AND a = :undefined",
       "Incorrect operand type for operator or function; operator or function: begins_with, "
       "operand type: N"},
      {"((a = :undefined))", "The expression has redundant parentheses;"},
      {"status = :undefined AND", "Syntax error; token: \"<EOF>\", near: \"AND\""},
  });
  ExpectUpdateMessages({
      {"SET a = :undefined, name = :s",
       "Attribute name is a reserved keyword; reserved keyword: name"},
      {"SET a = :n SET a = f(b)", "Invalid function name; function: f"},
      {"SET a = :undefined SET b = :n",
       "The \"SET\" section can only be used once in an update expression;"},
      {"SET a = :undefined, #x = :n",
       "An expression attribute name used in the document path is not defined; "
       "attribute name: #x"},
  });
}

}  // namespace
}  // namespace tidemark::expression
