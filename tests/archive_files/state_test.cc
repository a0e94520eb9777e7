#include "apps/archive/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "tests/model/model_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::archive {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

slack::TeamId Team(const char* text) { return slack::TeamId::Parse(text).value(); }

struct StateTest : ::testing::Test {
  StateTest() { EXPECT_TRUE(state.CreateTable()); }

  static PendingFetch FetchOf(const char* ts, EpochSeconds due) {
    return {.place = {.team = Team("T01"), .channel = slack::ChannelId::Parse("C01").value()},
            .ts = slack::Timestamp::Parse(ts).value(),
            .due = due};
  }
  std::vector<std::string> Due(EpochSeconds now, uint32_t limit = 100) {
    std::vector<std::string> due;
    const auto fetches = state.DueFetches(now, limit).value();
    for (const PendingFetch& fetch : fetches) due.push_back(fetch.ts.text());
    return due;
  }

  ManualClock clock;
  model::ModelTables tables{clock};
  State state{"state", &tables};
};

constexpr char kFirst[] = "1700000000.000100";
constexpr char kSecond[] = "1700000000.000200";

TEST_F(StateTest, GivesWhatIsDueTheOldestFirst) {
  ASSERT_TRUE(state.Schedule(FetchOf(kSecond, 1'700'000'005), std::nullopt));
  ASSERT_TRUE(state.Schedule(FetchOf(kFirst, 1'700'000'010), std::nullopt));
  EXPECT_THAT(Due(1'700'000'004), IsEmpty());
  EXPECT_THAT(Due(1'700'000'005), ElementsAre(kSecond));
  EXPECT_THAT(Due(1'700'000'010), ElementsAre(kSecond, kFirst));
  EXPECT_THAT(Due(1'700'000'010, 1), ElementsAre(kSecond));
  EXPECT_EQ(state.CountFetches().value(), 2u);
}

TEST_F(StateTest, KeepsAllOfAFetch) {
  PendingFetch fetch = FetchOf(kFirst, 1'700'000'005);
  fetch.attempts = 2;
  fetch.delays = 3;
  fetch.reason = "F1: the server answered 500";
  ASSERT_TRUE(state.Schedule(fetch, std::nullopt));
  const PendingFetch kept = state.DueFetches(1'700'000'005, 1)->front();
  EXPECT_EQ(kept.place, fetch.place);
  EXPECT_EQ(kept.due, fetch.due);
  EXPECT_EQ(kept.attempts, 2);
  EXPECT_EQ(kept.delays, 3);
  EXPECT_EQ(kept.reason, fetch.reason);
}

// Two rows for one attempt would be two attempts.
TEST_F(StateTest, PuttingOffMovesTheRow) {
  const PendingFetch first = FetchOf(kFirst, 1'700'000'005);
  ASSERT_TRUE(state.Schedule(first, std::nullopt));
  PendingFetch later = FetchOf(kFirst, 1'700'000'006);
  later.attempts = 1;
  ASSERT_TRUE(state.Schedule(later, first));
  EXPECT_EQ(state.CountFetches().value(), 1u);
  // Also to the same second.
  later.attempts = 2;
  ASSERT_TRUE(state.Schedule(later, later));
  EXPECT_EQ(state.DueFetches(1'700'000'006, 10)->front().attempts, 2);
  ASSERT_TRUE(state.Finish(later));
  ASSERT_TRUE(state.Finish(later));
  EXPECT_EQ(state.CountFetches().value(), 0u);
}

TEST_F(StateTest, ReportsAnInvalidRow) {
  ASSERT_TRUE(tables.Put({.table = "state", .item = {{"kind", "file"}, {"name", "0000000001#x"}}}));
  const auto due = state.DueFetches(1'700'000'000, 10);
  ASSERT_FALSE(due);
  EXPECT_EQ(due.error().code, ErrorCode::kCorrupt);
}

// A fetch without a valid time could be tried, but its row could never be deleted. It would be
// tried for ever.
TEST_F(StateTest, ReportsARowWithoutAValidTime) {
  for (const char* time : {"000000000x", "1", ""}) {
    const std::string name = std::string(time) + "#T01#C01#" + kFirst;
    ASSERT_TRUE(tables.Put({.table = "state", .item = {{"kind", "file"}, {"name", name}}}));
    const auto due = state.DueFetches(1'700'000'000, 10);
    ASSERT_FALSE(due) << time;
    EXPECT_EQ(due.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(due.error().message, ::testing::HasSubstr(name));
    ASSERT_TRUE(tables.Delete({.table = "state", .key = {{"kind", "file"}, {"name", name}}}));
  }
}

TEST_F(StateTest, RemembersTeamsOnce) {
  for (const char* team : {"T02", "T01", "T02"}) ASSERT_TRUE(state.AddTeam(Team(team)));
  EXPECT_THAT(state.Teams().value(), ElementsAre(Team("T01"), Team("T02")));
}

TEST_F(StateTest, RemembersWhenTheListenerWasAlive) {
  EXPECT_EQ(state.LastAlive().value(), std::nullopt);
  ASSERT_TRUE(state.SetAlive(5));
  ASSERT_TRUE(state.SetAlive(7));
  EXPECT_EQ(state.LastAlive().value(), 7);
}

}  // namespace
}  // namespace tidemark::archive
