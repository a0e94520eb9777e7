// Coverage must never promise more than the archive knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/archive/views_world.h"

namespace tidemark::archive {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

slack::Timestamp At(EpochSeconds seconds) {
  return slack::Timestamp::FromSeconds(1'600'000'000 + seconds);
}

CoverageNews Began(EpochSeconds at) { return {.kind = CoverageKind::kBegan, .from = At(at)}; }
CoverageNews Ended(EpochSeconds at) { return {.kind = CoverageKind::kEnded, .from = At(at)}; }
CoverageNews Lost(EpochSeconds from, EpochSeconds to, const std::string& reason = "down") {
  return {.kind = CoverageKind::kLost, .from = At(from), .to = At(to), .reason = reason};
}
CoverageNews Imported(EpochSeconds from, EpochSeconds to) {
  return {.kind = CoverageKind::kImported, .from = At(from), .to = At(to)};
}

// "complete 10-20", "lost 20- (down)".
std::vector<std::string> Told(const std::vector<CoverageNews>& marks) {
  std::vector<std::string> told;
  for (const Interval& interval : ComputeCoverage(marks)) {
    const char* const name = interval.certainty == Certainty::kComplete ? "complete"
                             : interval.certainty == Certainty::kLost   ? "lost"
                                                                        : "imported";
    const auto seconds = [](const slack::Timestamp& ts) { return ts.seconds() - 1'600'000'000; };
    told.push_back(fmt::format("{} {}-{}{}", name, seconds(interval.from),
                               interval.to ? std::to_string(seconds(*interval.to)) : "",
                               interval.reason.empty() ? "" : " (" + interval.reason + ")"));
  }
  return told;
}

TEST(CoverageTest, WithoutMarksNothingIsKnown) { EXPECT_THAT(Told({}), IsEmpty()); }

TEST(CoverageTest, IsCompleteFromABeginningToItsEnd) {
  EXPECT_THAT(Told({Began(10)}), ElementsAre("complete 10-"));
  EXPECT_THAT(Told({Began(10), Ended(20)}), ElementsAre("complete 10-20"));
  EXPECT_THAT(Told({Ended(40), Began(30), Ended(20), Began(10)}),
              ElementsAre("complete 10-20", "complete 30-40"));
}

TEST(CoverageTest, ASecondBeginningAndAnEndAloneChangeNothing) {
  EXPECT_THAT(Told({Began(10), Began(15), Ended(20), Ended(25)}), ElementsAre("complete 10-20"));
  EXPECT_THAT(Told({Ended(20)}), IsEmpty());
}

// The order of the two is not known, so the archive must not claim coverage.
TEST(CoverageTest, AnEndAtTheTimeOfABeginningCountsAsLater) {
  EXPECT_THAT(Told({Began(10), Ended(10)}), IsEmpty());
}

TEST(CoverageTest, ALossIsCutOutWithItsReason) {
  EXPECT_THAT(Told({Began(10), Lost(20, 30)}),
              ElementsAre("complete 10-20", "lost 20-30 (down)", "complete 30-"));
  EXPECT_THAT(Told({Began(10), Ended(25), Lost(20, 30)}),
              ElementsAre("complete 10-20", "lost 20-30 (down)"));
}

TEST(CoverageTest, AdjacentLossesWithTheSameReasonAreJoined) {
  EXPECT_THAT(Told({Lost(20, 30), Lost(30, 40), Lost(25, 35)}), ElementsAre("lost 20-40 (down)"));
  EXPECT_THAT(Told({Lost(20, 30, "down"), Lost(30, 40, "rate limited")}),
              ElementsAre("lost 20-30 (down)", "lost 30-40 (rate limited)"));
}

TEST(CoverageTest, ALossWithoutAnEndContinues) {
  CoverageNews lost = Lost(20, 30);
  lost.to.reset();
  EXPECT_THAT(Told({Began(10), lost}), ElementsAre("complete 10-20", "lost 20- (down)"));
}

TEST(CoverageTest, AnImportCountsWhereNothingBetterIsKnown) {
  EXPECT_THAT(Told({Imported(0, 15), Began(10), Ended(20)}),
              ElementsAre("imported 0-10", "complete 10-20"));
  EXPECT_THAT(Told({Imported(0, 50), Began(10), Ended(20), Lost(30, 40)}),
              ElementsAre("imported 0-10", "complete 10-20", "imported 20-30", "lost 30-40 (down)",
                          "imported 40-50"));
}

TEST(CoverageTest, AMarkThatEndsBeforeItBeginsIsIgnored) {
  EXPECT_THAT(Told({Lost(30, 30), Lost(30, 20), Imported(9, 3)}), IsEmpty());
}

// Slack sends an event again for five minutes.
TEST(CoverageTest, ADowntimeLosesAllButItsLastFiveMinutes) {
  const auto loss = LossByDowntime(1'600'000'000, 1'600'001'000);
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->from, At(0));
  EXPECT_EQ(loss->to, At(700));
  EXPECT_EQ(loss->kind, CoverageKind::kLost);
  EXPECT_FALSE(loss->channel.has_value());
  EXPECT_FALSE(loss->reason.empty());
  EXPECT_EQ(LossByDowntime(1'600'000'000, 1'600'000'300), std::nullopt);
  EXPECT_EQ(LossByDowntime(1'600'000'000, 1'599'999'000), std::nullopt);
}

CoverageNews Of(const std::string& channel, CoverageNews mark) {
  mark.channel = PlaceOf(channel).channel;
  return mark;
}

TEST(LedgerTest, KeepsMarksOfAChannelAndOfAllChannels) {
  ViewsWorld world;
  const Place place = PlaceOf("C1X");
  Value(world.ledger.Add(place.team, Of("C1X", Began(10))));
  Value(world.ledger.Add(place.team, Of("C2X", Began(5))));
  Value(world.ledger.Add(place.team, Lost(20, 30)));
  EXPECT_THAT(Value(world.ledger.Marks(place)), SizeIs(2));
  EXPECT_THAT(Value(world.ledger.ChannelMarks(place)), SizeIs(1));
  EXPECT_THAT(Value(world.ledger.TeamMarks(place.team)), SizeIs(1));
  EXPECT_EQ(Value(world.ledger.Of(place)), ComputeCoverage({Began(10), Lost(20, 30)}));
}

// Redelivered events bring the same marks again.
TEST(LedgerTest, AnExistingMarkStaysAsItIs) {
  ViewsWorld world;
  const Place place = PlaceOf("C1X");
  Value(world.ledger.Add(place.team, Lost(20, 30, "first")));
  Value(world.ledger.Add(place.team, Lost(20, 25, "second")));
  const auto marks = Value(world.ledger.TeamMarks(place.team));
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(marks[0].reason, "first");
  EXPECT_EQ(marks[0].to, At(30));
}

// A server that notes its downtime and dies at once has a longer downtime at its next start.
TEST(LedgerTest, AMarkThatEndsLaterReplacesTheOther) {
  ViewsWorld world;
  const Place place = PlaceOf("C1X");
  Value(world.ledger.Add(place.team, Lost(20, 30)));
  Value(world.ledger.Add(place.team, Lost(20, 90)));
  const auto marks = Value(world.ledger.TeamMarks(place.team));
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(marks[0].to, At(90));
}

// The bot's own joins and leaves, and the removal of the app, come as events.
TEST(LedgerTest, ReadsTheMarksThatEventsMade) {
  ViewsWorld world;
  const auto member = [](const char* type, const char* at) {
    return fmt::format(R"({{"type":"{}","channel":"C1X","channel_type":"C","user":"UBOT",)"
                       R"("team":"T1X","event_ts":"{}"}})",
                       type, at);
  };
  world.archive.PostOfPublic(member("member_joined_channel", "1600000010.000000"));
  world.archive.Post(member("member_left_channel", "1600000020.000000"));
  world.archive.Post(member("member_joined_channel", "1600000030.000000"));
  world.archive.Post(R"({"type":"app_uninstalled","event_ts":"1600000040.000000"})");
  std::vector<CoverageNews> marks = Value(world.ledger.Marks(PlaceOf("C1X")));
  EXPECT_THAT(Told(marks), ElementsAre("complete 10-20", "complete 30-40"));
}

}  // namespace
}  // namespace tidemark::archive
