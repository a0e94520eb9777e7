#include "expression/bindings.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/expression_request.h"

namespace tidemark::expression {
namespace {

// Keys must be references: an expression could not use any other key.
TEST(BindingsTest, RefusesKeysThatAreNotReferences) {
  for (const std::string key : {"", "#", "n", ":n", "#a-b", "#a.b", "# a", "##a", "#é", "a#"}) {
    const Names names{{key, "name"}};
    const Values none;
    EXPECT_EQ(MessageOf(Bindings::Make(names, none, true)),
              "ExpressionAttributeNames contains invalid key: Syntax error; key: \"" + key + "\"");
  }
  for (const std::string key : {"", ":", "v", "#v", ":a-b", ":a b", "::a", "v:"}) {
    const Names none;
    const Values values{{key, "value"}};
    EXPECT_EQ(MessageOf(Bindings::Make(none, values, true)),
              "ExpressionAttributeValues contains invalid key: Syntax error; key: \"" + key + "\"");
  }
}

TEST(BindingsTest, RefusesKeysOfMoreThan255Bytes) {
  const Values none;
  const Names longest{{"#" + std::string(254, 'a'), "name"}};
  EXPECT_EQ(MessageOf(Bindings::Make(longest, none, true)), "");
  const Names longer{{"#" + std::string(255, 'a'), "name"}};
  EXPECT_EQ(MessageOf(Bindings::Make(longer, none, true)),
            "ExpressionAttributeNames contains invalid key: The expression attribute map contains "
            "a key that is too long; size of key: 256");
}

TEST(BindingsTest, RefusesEmptyNames) {
  const Names names{{"#n", ""}};
  const Values none;
  EXPECT_EQ(MessageOf(Bindings::Make(names, none, true)),
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #n");
}

// DynamoDB has other words for this than for names that an expression leaves unused.
TEST(BindingsTest, RefusesNamesAndValuesWithoutAnyExpression) {
  const Names names{{"#n", "name"}};
  const Names no_names;
  const Values values{{":v", "value"}};
  const Values no_values;
  EXPECT_EQ(MessageOf(Bindings::Make(names, values, false)),
            "ExpressionAttributeNames can only be specified when using expressions");
  EXPECT_EQ(MessageOf(Bindings::Make(no_names, values, false)),
            "ExpressionAttributeValues can only be specified when using expressions");
  EXPECT_EQ(MessageOf(Bindings::Make(no_names, no_values, false)), "");
}

TEST(BindingsTest, FindsWhatIsSupplied) {
  const Request request{{{"#n", "name"}}, {{":v", "value"}}};
  Bindings bindings = request.MakeBindings();
  ASSERT_NE(bindings.UseName("#n"), nullptr);
  EXPECT_EQ(*bindings.UseName("#n"), "name");
  ASSERT_NE(bindings.UseValue(":v"), nullptr);
  EXPECT_EQ(*bindings.UseValue(":v"), item::Value("value"));
  EXPECT_EQ(bindings.UseName("#N"), nullptr);
  EXPECT_EQ(bindings.UseName(":v"), nullptr);
  EXPECT_EQ(bindings.UseValue("#n"), nullptr);
}

// All expressions of a request use the same Bindings. One use in any of them is enough.
TEST(BindingsTest, ListsNamesAndValuesThatNoExpressionUses) {
  const Request request{{{"#a", "a"}, {"#b", "b"}, {"#c", "c"}}, {{":x", N(1)}, {":y", N(2)}}};
  Bindings bindings = request.MakeBindings();
  EXPECT_EQ(MessageOf(bindings.AllUsed()),
            "Value provided in ExpressionAttributeNames unused in expressions: "
            "keys: {#a, #b, #c}");
  ASSERT_TRUE(ParseCondition("#a = :x AND #a < :x", "ConditionExpression", &bindings));
  EXPECT_EQ(MessageOf(bindings.AllUsed()),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #c}");
  ASSERT_TRUE(ParseUpdate("REMOVE #b, d.#c", &bindings));
  EXPECT_EQ(MessageOf(bindings.AllUsed()),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:y}");
  ASSERT_TRUE(ParseUpdate("SET e = :y", &bindings));
  EXPECT_EQ(MessageOf(bindings.AllUsed()), "");
}

}  // namespace
}  // namespace tidemark::expression
