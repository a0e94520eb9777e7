#include "expression/path.h"

#include <gtest/gtest.h>

#include "tests/support/expression_request.h"

namespace tidemark::expression {
namespace {

TEST(PathTest, PrintsAPathAsDynamoDbDoes) {
  EXPECT_EQ(ToString(Path{{"a"}}), "[a]");
  EXPECT_EQ(ToString(Path{{"a", "b", 3U, 0U, "c.d"}}), "[a, b, [3], [0], c.d]");
}

// A name leads only into a map, and an index only into a list.
TEST(PathTest, FindsOnlyWhatIsThere) {
  const item::Item item{
      {"s", "text"},
      {"l", L({N(1), M({{"x", "deep"}}), L({N(2), N(3)})})},
      {"m", M({{"k", "v"}, {"0", "zero"}, {"", "unnamed"}})},
  };
  struct Case {
    Path path;
    const item::Value* expected;
  };
  const item::Value text("text");
  const item::Value deep("deep");
  const item::Value zero("zero");
  const item::Value v("v");
  const item::Value three = N(3);
  const Case cases[] = {
      {{{"s"}}, &text},
      {{{"l", 1U, "x"}}, &deep},
      {{{"l", 2U, 1U}}, &three},
      {{{"m", "k"}}, &v},
      {{{"m", "0"}}, &zero},
      {{{"missing"}}, nullptr},
      {{{"missing", "k"}}, nullptr},
      {{{"m", "missing"}}, nullptr},
      {{{"m", 0U}}, nullptr},
      {{{"l", 3U}}, nullptr},
      {{{"l", 4294967295U}}, nullptr},
      {{{"l", "0"}}, nullptr},
      {{{"s", 0U}}, nullptr},
      {{{"s", "x"}}, nullptr},
      {{{"l", 0U, "x"}}, nullptr},
  };
  for (const Case& c : cases) {
    const item::Value* found = Find(item, c.path);
    ASSERT_EQ(found != nullptr, c.expected != nullptr) << ToString(c.path);
    if (found == nullptr) continue;
    EXPECT_EQ(*found, *c.expected) << ToString(c.path);
  }
}

}  // namespace
}  // namespace tidemark::expression
