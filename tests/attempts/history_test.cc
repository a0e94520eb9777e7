// Tests the checker itself: it reports impossible histories and accepts possible ones.
#include "tests/attempts/history.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::attempts {
namespace {

using ::testing::HasSubstr;

History Of(std::vector<Event> events) {
  History history;
  for (Event& event : events) {
    event.began = history.Begin();
    history.Add(std::move(event));
  }
  return history;
}

Event Started(const std::string& id, EpochSeconds at = 0) { return {.id = id, .at = at}; }
Event Right(const std::string& id) { return {.kind = EventKind::kRight, .id = id}; }
Event Settled(const std::string& id, bool right, bool reached = false) {
  return {.kind = EventKind::kSettled, .id = id, .right = right, .reached = reached};
}
Event Locked(EpochSeconds at, std::optional<EpochSeconds> until) {
  return {.kind = EventKind::kLockSeen, .at = at, .until = until};
}
Event Unlocked(EpochSeconds at) { return {.kind = EventKind::kNoLockSeen, .at = at}; }
Event Lifted() { return {.kind = EventKind::kLockLifted}; }

std::string ViolationIn(const std::vector<Event>& events, const Bound& bound = {.most = 2}) {
  return FindViolation(Of(events), bound).value_or("none");
}

TEST(HistoryTest, AcceptsValidHistories) {
  EXPECT_EQ(ViolationIn({}), "none");
  EXPECT_EQ(ViolationIn({Started("a"), Started("b"), Right("a"), Settled("a", true), Started("c"),
                         Settled("b", false), Settled("c", false, true), Locked(0, 900),
                         Locked(10, 900), Settled("c", false, true), Unlocked(900)}),
            "none");
}

TEST(HistoryTest, FindsOneVerificationTooMany) {
  EXPECT_THAT(ViolationIn({Started("a"), Started("b"), Started("c")}), HasSubstr("3 verif"));
  EXPECT_THAT(ViolationIn({Started("a"), Settled("a", false), Started("b"), Started("c")}),
              HasSubstr("3 verif"));
  const Bound spans{.most = 2, .span_seconds = 100};
  EXPECT_EQ(ViolationIn({Started("a", 0), Started("b", 1), Started("c", 100)}, spans), "none");
  EXPECT_THAT(ViolationIn({Started("a", 0), Started("b", 1), Started("c", 99)}, spans),
              HasSubstr("in 99 s"));
  EXPECT_THAT(
      ViolationIn({Started("x", 0), Started("a", 500), Started("b", 501), Started("c", 502)},
                  spans),
      HasSubstr("in 2 s"));
}

TEST(HistoryTest, FindsASlotThatWasGivenTwice) {
  EXPECT_THAT(ViolationIn({Started("a"), Started("a")}), HasSubstr("twice"));
  EXPECT_THAT(ViolationIn({Settled("a", true)}), HasSubstr("never started"));
}

TEST(HistoryTest, FindsALockThatMovesOrDisappears) {
  EXPECT_THAT(ViolationIn({Locked(0, 900), Locked(10, 910)}), HasSubstr("moved by 10 s"));
  EXPECT_THAT(ViolationIn({Locked(0, 900), Locked(10, 800)}), HasSubstr("moved"));
  EXPECT_THAT(ViolationIn({Locked(0, 900), Unlocked(899)}), HasSubstr("before its end"));
  EXPECT_EQ(ViolationIn({Locked(0, 900), Unlocked(899)}, {.most = 2, .skew_seconds = 1}), "none");
  EXPECT_EQ(ViolationIn({Locked(0, 900), Lifted(), Unlocked(5)}), "none");
  EXPECT_EQ(ViolationIn({Locked(0, 900), Locked(900, 1800)}), "none");
}

TEST(HistoryTest, FindsAPermanentLockThatEnds) {
  EXPECT_THAT(ViolationIn({Locked(0, std::nullopt), Unlocked(1'000'000)}), HasSubstr("lapsed"));
  EXPECT_THAT(ViolationIn({Locked(0, std::nullopt), Locked(5, 900)}), HasSubstr("moved"));
}

TEST(HistoryTest, FindsAVerificationUnderALock) {
  EXPECT_THAT(ViolationIn({Locked(0, 900), Started("a", 10)}), HasSubstr("under a lock"));
  EXPECT_EQ(ViolationIn({Locked(0, 900), Started("a", 900)}), "none");
  // The call had begun before the lock was seen.
  History history;
  history.Add(Locked(0, 900));
  history.Add({.id = "a", .at = 10, .began = 0});
  EXPECT_EQ(FindViolation(history, {.most = 2}), std::nullopt);
}

TEST(HistoryTest, FindsAnAnswerThatChanges) {
  EXPECT_THAT(ViolationIn({Started("a"), Settled("a", false), Settled("a", true)}),
              HasSubstr("another answer"));
  EXPECT_THAT(ViolationIn({Started("a"), Settled("a", false, true), Settled("a", false)}),
              HasSubstr("another answer"));
}

TEST(HistoryTest, FindsTwoAttemptsThatReachedOneLimit) {
  EXPECT_THAT(ViolationIn({Started("a"), Started("b"), Settled("a", false, true),
                           Settled("b", false, true)}),
              HasSubstr("one limit"));
}

}  // namespace
}  // namespace tidemark::attempts
