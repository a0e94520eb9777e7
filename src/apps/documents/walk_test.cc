#include "apps/documents/walk.h"

#include <gtest/gtest.h>

namespace tidemark::documents {
namespace {

TEST(CheckpointTest, ParsesWhatItFormatted) {
  const CoverageMark mark{.complete_from = 1'752'883'200,
                          .as_of = std::chrono::milliseconds(1'760'659'200'000)};
  for (const Checkpoint& checkpoint :
       {Checkpoint{.last_key = "archive/a,b.json", .mark = mark},
        Checkpoint{.last_key = "~rows/17/CHG-1"}, Checkpoint{.last_key = "", .mark = mark}}) {
    EXPECT_EQ(*ParseCheckpoint(ToText(checkpoint)), checkpoint);
  }
  EXPECT_EQ(ToText({.last_key = "archive/CHG-1.json", .mark = mark}),
            "1760659200000,1752883200,archive/CHG-1.json");
}

// A wrong mark would make ranges claim to be complete.
TEST(CheckpointTest, RefusesOtherTexts) {
  for (const char* text : {"", "archive/CHG-1.json", "1,archive/CHG-1.json", "1,,archive/x.json",
                           ",1,archive/x.json", "-1,1,archive/x.json", "1,1x,archive/x.json"}) {
    EXPECT_FALSE(ParseCheckpoint(text)) << text;
  }
}

}  // namespace
}  // namespace tidemark::documents
