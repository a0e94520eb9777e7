#include "apps/archive/array_splitter.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::archive {
namespace {

struct Split {
  std::vector<std::string> elements;
  size_t too_large = 0;
  bool whole = false;
};

Split SplitIn(std::string_view text, size_t piece_bytes, size_t max_bytes = 100) {
  Split split;
  ArraySplitter splitter(max_bytes, [&](const ArrayElement& element) {
    split.elements.emplace_back(element.text);
    split.too_large += element.too_large ? 1 : 0;
  });
  for (size_t at = 0; at < text.size(); at += piece_bytes) {
    splitter.Feed(text.substr(at, piece_bytes));
  }
  split.whole = splitter.Finish().has_value();
  return split;
}

// The elements do not depend on how the text is split into pieces.
TEST(ArraySplitterTest, TheResultDoesNotDependOnThePieces) {
  const std::string text =
      "\xEF\xBB\xBF [ {\"a\": [1, {\"b\": \"]}\\\"\"}]},\n  2 , \"x\\\\\",[] ]\n";
  const std::vector<std::string> expected = {"{\"a\": [1, {\"b\": \"]}\\\"\"}]}", "2", "\"x\\\\\"",
                                             "[]"};
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    const Split split = SplitIn(text, piece);
    EXPECT_EQ(split.elements, expected) << piece;
    EXPECT_TRUE(split.whole);
  }
}

TEST(ArraySplitterTest, AnEmptyArrayHasNoElements) {
  const Split split = SplitIn("[]", 1);
  EXPECT_TRUE(split.elements.empty());
  EXPECT_TRUE(split.whole);
}

// The elements before the cut are returned, and Finish reports that the end is missing.
TEST(ArraySplitterTest, ACutArrayIsReportedAsCut) {
  for (const char* text : {"[1,2", "[1,2,", "[1,2,{\"a\":"}) {
    const Split split = SplitIn(text, 3);
    EXPECT_FALSE(split.whole) << text;
    EXPECT_GE(split.elements.size(), 1u);
  }
}

TEST(ArraySplitterTest, RefusesWhatIsNotAnArray) {
  for (const char* text : {"", "{}", "<html>", "[1] [2]", "null"}) {
    EXPECT_FALSE(SplitIn(text, 2).whole) << text;
  }
}

// An extra bracket is part of a bad element. The next element is found.
TEST(ArraySplitterTest, AStrayBraceIsPartOfItsElement) {
  const Split split = SplitIn("[}}, 2]", 1);
  EXPECT_EQ(split.elements, (std::vector<std::string>{"}}", "2"}));
  EXPECT_TRUE(split.whole);
}

// The limit bounds the memory, and the elements after a large one are found.
TEST(ArraySplitterTest, AnElementOverTheLimitIsCutAndReported) {
  const Split split = SplitIn("[\"" + std::string(1'000, 'x') + "\", 2]", 7);
  ASSERT_EQ(split.elements.size(), 2u);
  EXPECT_EQ(split.elements[0].size(), 100u);
  EXPECT_EQ(split.too_large, 1u);
  EXPECT_EQ(split.elements[1], "2");
  EXPECT_TRUE(split.whole);
}

}  // namespace
}  // namespace tidemark::archive
