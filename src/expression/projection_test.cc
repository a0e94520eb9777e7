#include "expression/projection.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/expression_request.h"

namespace tidemark::expression {
namespace {

item::Item Whole() {
  return {
      {"a", "text"},
      {"l", L({"zero", M({{"x", N(1)}, {"y", N(2)}}), L({N(10), N(11), N(12)}), "three"})},
      {"m", M({{"k", "v"}, {"nest", M({{"z", N(1)}, {"w", N(2)}})}})},
      {"n", N(5)},
      {"x.y", "dotted"},
  };
}

item::Item ProjectText(std::string_view text) {
  const Request request{{{"#dot", "x.y"}, {"#k", "k"}}, {}};
  return Project(Whole(), request.Projection(text).value());
}

struct Case {
  std::string_view text;
  item::Item expected;
};

TEST(ProjectionTest, KeepsThePartsThatThePathsName) {
  const Case cases[] = {
      {"a", {{"a", "text"}}},
      {"n, a", {{"a", "text"}, {"n", N(5)}}},
      {"m", {{"m", M({{"k", "v"}, {"nest", M({{"z", N(1)}, {"w", N(2)}})}})}}},
      {"m.k", {{"m", M({{"k", "v"}})}}},
      {"m.#k, m.nest.z", {{"m", M({{"k", "v"}, {"nest", M({{"z", N(1)}})}})}}},
      {"#dot", {{"x.y", "dotted"}}},
      {"l[1].y, l[1].x", {{"l", L({M({{"x", N(1)}, {"y", N(2)}})})}}},
  };
  for (const Case& c : cases) EXPECT_TRUE(ProjectText(c.text) == c.expected) << c.text;
}

// The elements form a list without gaps, in the order of the list and not of the text.
TEST(ProjectionTest, ListsInTheResultHaveNoGaps) {
  const Case cases[] = {
      {"l[3], l[0]", {{"l", L({"zero", "three"})}}},
      {"l[2][2], l[2][0]", {{"l", L({L({N(10), N(12)})})}}},
      {"l[10], l[2][1], l[9], l[1].x", {{"l", L({M({{"x", N(1)}}), L({N(11)})})}}},
  };
  for (const Case& c : cases) EXPECT_TRUE(ProjectText(c.text) == c.expected) << c.text;
}

// A path that leads to no value adds nothing to the result, not even an empty map or list.
TEST(ProjectionTest, LeavesOutWhatIsNotThere) {
  for (const std::string_view text :
       {"absent", "absent.k", "m.absent", "m.k.v", "m[0]", "l.x", "l[4]", "l[1].z", "l[0].x",
        "a[0]", "a.b", "n.x, m.nest.absent, l[2][3]"}) {
    EXPECT_TRUE(ProjectText(text).empty()) << text;
  }
  EXPECT_TRUE(ProjectText("absent, a") == (item::Item{{"a", "text"}}));
}

TEST(ProjectionTest, KeepsEmptyMapsAndListsThatAreNamed) {
  const Request request;
  const item::Item item{{"l", L({})}, {"m", M({{"e", M({})}})}};
  EXPECT_TRUE(Project(item, request.Projection("l, m.e").value()) == item);
}

// A caller that makes its own paths may name a map and a part of it. Then the whole map is kept.
TEST(ProjectionTest, KeepsTheWholeValueWhenAPartOfItIsNamedToo) {
  const std::vector<Path> paths = {{{"m", "k"}}, {{"m"}}, {{"a"}}, {{"a"}}};
  const item::Item whole = Whole();
  EXPECT_TRUE(Project(whole, paths) == (item::Item{{"a", "text"}, {"m", *whole.Find("m")}}));
  EXPECT_TRUE(Project(whole, {}).empty());
}

TEST(ProjectionTest, NamesTheParameterInItsErrors) {
  EXPECT_EQ(MessageOf(Request().Projection("")),
            "Invalid ProjectionExpression: The expression can not be empty;");
  EXPECT_EQ(MessageOf(Request().Projection("a b")),
            "Invalid ProjectionExpression: Syntax error; token: \"b\", near: \"a b\"");
  EXPECT_EQ(MessageOf(Request().Projection("#a")),
            "Invalid ProjectionExpression: An expression attribute name used in the document path "
            "is not defined; attribute name: #a");
}

}  // namespace
}  // namespace tidemark::expression
