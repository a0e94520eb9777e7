#include "apps/dedup/content.h"

#include <chrono>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dedup/stage.h"

namespace tidemark::dedup {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Words(int count, const std::string& stem = "word") {
  std::string text;
  for (int i = 0; i < count; ++i) text += stem + std::to_string(i * 7919 % 1009) + " ";
  return text;
}

class ContentTest : public ::testing::Test {
 protected:
  ContentAdvice Note(const std::string& key, std::string_view content,
                     const std::string& team = "T1") {
    const auto advice = contents_.Note({.team = team, .key = key, .content = content});
    EXPECT_TRUE(advice.has_value()) << advice.error().message;
    return advice ? *advice : ContentAdvice{};
  }

  Stage stage_;
  Contents contents_{{.table = std::string(kDefaultTable)}, &stage_.tables, &stage_.clock};
};

// Equal contents under another key are reported, and earlier claims can be listed. The limit with
// two regions is documented.
// Spec: 004-48
TEST_F(ContentTest, EqualContentsAreReportedAndHistoryIsListed) {
  EXPECT_FALSE(Note("F1_1", "the minutes").duplicate_of.has_value());
  EXPECT_EQ(Note("F2_2", "the minutes").duplicate_of, "F1_1");
  EXPECT_EQ(Note("F3_3", "the minutes").duplicate_of, "F1_1");
  // The same event again, other contents, and another team's contents are not duplicates.
  EXPECT_FALSE(Note("F1_1", "the minutes").duplicate_of.has_value());
  EXPECT_FALSE(Note("F4_4", "the minutes.").duplicate_of.has_value());
  EXPECT_FALSE(Note("F5_5", "the minutes", "T2").duplicate_of.has_value());

  const Claim claim = stage_.Taken("F1_1");
  stage_.clock.Advance(5s);
  ASSERT_TRUE(stage_.claims.Complete(claim));
  const auto history = *stage_.claims.ListHistory(std::nullopt, 100);
  ASSERT_THAT(history.rows, SizeIs(1));  // Content rows are not events.
  EXPECT_EQ(history.rows[0].key, "F1_1");
  EXPECT_EQ(history.rows[0].status, RowStatus::kDone);
  EXPECT_EQ(history.rows[0].completed_at - history.rows[0].processed_at, 5);

  std::ifstream page(std::string(TIDEMARK_SOURCE) + "/docs/flows/dedup.md");
  const std::string text((std::istreambuf_iterator<char>(page)), {});
  EXPECT_THAT(text, ::testing::HasSubstr("two regions may both claim a key"));
}

// Contents are remembered as long as the window.
TEST_F(ContentTest, ContentsAreForgottenWithTheWindow) {
  Note("F1_1", "the minutes");
  stage_.clock.Advance(6h);
  const ContentAdvice advice = Note("F2_2", "the minutes");
  EXPECT_FALSE(advice.duplicate_of.has_value());
  EXPECT_THAT(advice.near, IsEmpty());
  EXPECT_EQ(Note("F3_3", "the minutes").duplicate_of, "F2_2");
}

// When three bits differ, at least one of the four quarters is equal, so the text is found.
TEST_F(ContentTest, NearContentsAreReported) {
  const std::string text = Words(500);
  Note("first", text);
  Note("other", Words(500, "other"));
  const ContentAdvice advice = Note("second", text + "one more");
  EXPECT_FALSE(advice.duplicate_of.has_value());
  ASSERT_THAT(advice.near, SizeIs(1));
  EXPECT_EQ(advice.near[0].key, "first");
  EXPECT_LE(advice.near[0].distance, 3);
  EXPECT_THAT(Note("third", text, "T2").near, IsEmpty());
}

// A text that many events contain must not make a row grow without bound.
TEST_F(ContentTest, TheEntriesForOneTextAreBounded) {
  for (int i = 0; i < 75; ++i) Note("F" + std::to_string(i), "hello world again");
  const auto near = Note("last", "hello world again").near;
  EXPECT_LE(near.size(), 66u);
  EXPECT_GE(near.size(), 64u);
}

// Exact and near matching can each be turned off.
TEST_F(ContentTest, EachKindCanBeTurnedOff) {
  Contents exact({.table = std::string(kDefaultTable), .near = false}, &stage_.tables,
                 &stage_.clock);
  Contents near({.table = std::string(kDefaultTable), .exact = false}, &stage_.tables,
                &stage_.clock);
  EXPECT_TRUE(exact.Note({.team = "T1", .key = "a", .content = "one two three"}));
  EXPECT_THAT(near.Note({.team = "T1", .key = "b", .content = "one two three"})->near, IsEmpty());
  EXPECT_EQ(exact.Note({.team = "T1", .key = "c", .content = "one two three"})->duplicate_of, "a");
  EXPECT_THAT(near.Note({.team = "T1", .key = "d", .content = "one two three"})->near, SizeIs(1));
}

}  // namespace
}  // namespace tidemark::dedup
