#include "expression/key_condition.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/expression_request.h"

namespace tidemark::expression {
namespace {

const item::KeySchema kHashOnly{{"id", item::Type::kString}, std::nullopt};
const item::KeySchema kWithNumber{{"id", item::Type::kString},
                                  item::KeyAttribute{"sk", item::Type::kNumber}};
const item::KeySchema kWithString{{"id", item::Type::kString},
                                  item::KeyAttribute{"sk", item::Type::kString}};

Request EveryKeyType() {
  return {{{"#id", "id"}, {"#sk", "sk"}},
          {{":id", "one"},
           {":n", N(5)},
           {":m", N(7)},
           {":s", "text"},
           {":b", B("x")},
           {":empty", ""},
           {":nothing", B("")},
           {":bool", true}}};
}

Result<KeyCondition> Match(std::string_view text, const item::KeySchema& schema) {
  const Result<ParsedKeyCondition> parsed = EveryKeyType().KeyCondition(text);
  if (!parsed) return parsed.error();
  return MatchKeySchema(*parsed, schema);
}

TEST(KeyConditionTest, AcceptsAnEqualityOnThePartitionKey) {
  for (const std::string_view text :
       {"id = :id", ":id = id", "(id = :id)", "#id = :id", "(#id) = (:id)"}) {
    for (const item::KeySchema& schema : {kHashOnly, kWithNumber}) {
      const auto condition = Match(text, schema);
      ASSERT_TRUE(condition) << text << ": " << condition.error().message;
      EXPECT_EQ(condition->partition, item::Value("one"));
      EXPECT_FALSE(condition->sort);
    }
  }
}

TEST(KeyConditionTest, AcceptsOneConditionOnTheSortKey) {
  struct Case {
    std::string_view text;
    SortOperator op;
  };
  const Case cases[] = {
      {"id = :id AND sk = :n", SortOperator::kEqual},
      {"sk = :n AND id = :id", SortOperator::kEqual},
      {"id = :id and sk < :n", SortOperator::kLess},
      {"id = :id AND sk <= :n", SortOperator::kLessOrEqual},
      {"id = :id AND sk > :n", SortOperator::kGreater},
      {"id = :id AND sk >= :n", SortOperator::kGreaterOrEqual},
      {"id = :id AND :n = sk", SortOperator::kEqual},
      {"id = :id AND :n < sk", SortOperator::kGreater},
      {"id = :id AND :n <= sk", SortOperator::kGreaterOrEqual},
      {"id = :id AND :n > sk", SortOperator::kLess},
      {"id = :id AND :n >= sk", SortOperator::kLessOrEqual},
      {"(id = :id) AND (#sk > :n)", SortOperator::kGreater},
      {"(id = :id AND sk > :n)", SortOperator::kGreater},
      {"id = :id AND sk BETWEEN :n AND :m", SortOperator::kBetween},
      {"sk BETWEEN :n AND :m AND id = :id", SortOperator::kBetween},
  };
  for (const Case& c : cases) {
    const auto condition = Match(c.text, kWithNumber);
    ASSERT_TRUE(condition) << c.text << ": " << condition.error().message;
    EXPECT_EQ(condition->partition, item::Value("one")) << c.text;
    ASSERT_TRUE(condition->sort) << c.text;
    EXPECT_EQ(condition->sort->op, c.op) << c.text;
    EXPECT_EQ(condition->sort->low, N(5)) << c.text;
    if (c.op == SortOperator::kBetween) {
      EXPECT_EQ(condition->sort->high, N(7)) << c.text;
    }
  }
  const auto prefix = Match("id = :id AND begins_with(sk, :s)", kWithString);
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->sort->op, SortOperator::kBeginsWith);
  EXPECT_EQ(prefix->sort->low, item::Value("text"));
}

// These errors are reported before the table is looked up.
TEST(KeyConditionTest, RefusesConditionsThatNoKeyCanHave) {
  const MessageCase cases[] = {
      {"id = :id OR sk = :n", "Invalid operator used in KeyConditionExpression: OR"},
      {"NOT id = :id", "Invalid operator used in KeyConditionExpression: NOT"},
      {"id IN (:id)", "Invalid operator used in KeyConditionExpression: IN"},
      {"id = :id AND sk <> :n", "Invalid operator used in KeyConditionExpression: <>"},
      {"id = :id AND attribute_exists(sk)",
       "Invalid operator used in KeyConditionExpression: attribute_exists"},
      {"attribute_not_exists(id)",
       "Invalid operator used in KeyConditionExpression: attribute_not_exists"},
      {"attribute_type(id, :type)",
       "Invalid KeyConditionExpression: An expression attribute value used in expression is not "
       "defined; attribute value: :type"},
      {"contains(id, :s)", "Invalid operator used in KeyConditionExpression: contains"},
      {"size(id) = :n", "KeyConditionExpressions cannot contain nested operations"},
      {"id = :id AND sk > size(:s)", "KeyConditionExpressions cannot contain nested operations"},
      {"id = sk",
       "Invalid condition in KeyConditionExpression: "
       "Multiple attribute names used in one condition"},
      {"id = :id AND sk BETWEEN id AND :n",
       "Invalid condition in KeyConditionExpression: "
       "Multiple attribute names used in one condition"},
      {":id = :id", "Invalid condition in KeyConditionExpression: No key attribute specified"},
      {"id.a = :id", "KeyConditionExpressions cannot have conditions on nested attributes"},
      {"id[0] = :id", "KeyConditionExpressions cannot have conditions on nested attributes"},
      {":n BETWEEN sk AND :m",
       "Invalid condition in KeyConditionExpression: BETWEEN operator "
       "must have the key attribute as its first operand"},
      {"begins_with(:s, sk)",
       "Invalid condition in KeyConditionExpression: begins_with operator "
       "must have the key attribute as its first operand"},
      {"id = :id AND id = :s", "KeyConditionExpressions must only contain one condition per key"},
      {"id = :id AND sk > :n AND sk < :m",
       "KeyConditionExpressions must only contain one condition per key"},
      {"id = :id AND begins_with(sk, :n)",
       "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
       "operator or function: begins_with, operand type: N"},
      {"id = :id AND :bool >= sk",
       "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
       "operator or function: >=, operand type: BOOL"},
      {"id = :id AND sk BETWEEN :m AND :n",
       "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater "
       "than or equal to lower bound; lower bound operand: AttributeValue: {N:7}, "
       "upper bound operand: AttributeValue: {N:5}"},
      {"id = :id AND sk BETWEEN :n AND :s",
       "Invalid KeyConditionExpression: The BETWEEN operator requires same data type for lower "
       "and upper bounds; lower bound operand: AttributeValue: {N:5}, "
       "upper bound operand: AttributeValue: {S:text}"},
      {"id = :gone AND begins_with(sk, :n)",
       "Invalid KeyConditionExpression: An expression attribute value used in expression is not "
       "defined; attribute value: :gone"},
      {"begins_with(sk, :n) AND id = :gone",
       "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
       "operator or function: begins_with, operand type: N"},
      {"", "Invalid KeyConditionExpression: The expression can not be empty;"},
      {"id", "Invalid KeyConditionExpression: Syntax error; token: \"<EOF>\", near: \"id\""},
      {"((id = :id))", "Invalid KeyConditionExpression: The expression has redundant parentheses;"},
      {"key = :id",
       "Invalid KeyConditionExpression: Attribute name is a reserved keyword; "
       "reserved keyword: key"},
  };
  for (const MessageCase& c : cases) {
    EXPECT_EQ(MessageOf(EveryKeyType().KeyCondition(c.text)), c.message) << c.text;
  }
}

// These need the key schema of the table or index.
TEST(KeyConditionTest, RefusesConditionsThatDoNotFitTheKeySchema) {
  constexpr std::string_view kType =
      "One or more parameter values were invalid: Condition parameter type does not match schema "
      "type";
  struct Case {
    std::string_view text;
    const item::KeySchema& schema;
    std::string_view message;
  };
  const Case cases[] = {
      {"sk = :n", kWithNumber, "Query condition missed key schema element: id"},
      {"extra = :id", kHashOnly, "Query condition missed key schema element: id"},
      {"sk = :n AND extra = :id", kWithNumber, "Query condition missed key schema element: id"},
      {"id = :id AND extra = :n", kWithNumber, "Query condition missed key schema element: sk"},
      {"id = :id AND sk = :n", kHashOnly,
       "The number of query conditions (2) exceeds the number of key attributes defined in the "
       "schema (1)"},
      {"id = :id AND sk > :n AND extra = :n", kWithNumber,
       "The number of query conditions (3) exceeds the number of key attributes defined in the "
       "schema (2)"},
      {"id > :id", kHashOnly, "Query key condition not supported"},
      {"begins_with(id, :id)", kHashOnly, "Query key condition not supported"},
      {"id BETWEEN :id AND :s", kWithNumber, "Query key condition not supported"},
      {"id = :n", kHashOnly, kType},
      {"id = :b", kHashOnly, kType},
      {"id = :bool", kHashOnly, kType},
      {"id = :id AND sk = :s", kWithNumber, kType},
      {"id = :id AND sk = :bool", kWithNumber, kType},
      {"id = :id AND begins_with(sk, :s)", kWithNumber, kType},
      {"id = :id AND sk BETWEEN :n AND :m", kWithString, kType},
      {"id = :empty", kHashOnly,
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
       "contain an empty string value. Key: id"},
      {"id = :id AND sk > :empty", kWithString,
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
       "contain an empty string value. Key: sk"},
      {"id = :id AND sk BETWEEN :empty AND :s", kWithString,
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
       "contain an empty string value. Key: sk"},
  };
  for (const Case& c : cases) EXPECT_EQ(MessageOf(Match(c.text, c.schema)), c.message) << c.text;

  const item::KeySchema binary{{"id", item::Type::kBinary}, std::nullopt};
  EXPECT_EQ(MessageOf(Match("id = :nothing", binary)),
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty binary value. Key: id");
}

}  // namespace
}  // namespace tidemark::expression
