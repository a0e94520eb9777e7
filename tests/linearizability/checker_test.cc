#include "tests/linearizability/checker.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/linearizability/simulated_store.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Answer = Verdict::Answer;

// --- Hand-written histories: one letter of the theory each ---

struct Span {
  Tick called;
  Tick returned;
};

Operation Make(Span span, Kind kind, int64_t argument = 0) {
  return {.key = "k",
          .kind = kind,
          .argument = argument,
          .called = span.called,
          .returned = span.returned,
          .outcome = Outcome::kApplied};
}

Operation Get(Span span, Value seen) {
  Operation operation = Make(span, Kind::kGet);
  operation.seen = seen;
  return operation;
}

Operation Put(Span span, int64_t value) { return Make(span, Kind::kPut, value); }
Operation Delete(Span span) { return Make(span, Kind::kDelete); }

Operation Increment(Span span, Value seen) {
  Operation operation = Make(span, Kind::kIncrement, 1);
  operation.seen = seen;
  return operation;
}

Operation PutIfAbsent(Span span, int64_t value, Outcome outcome) {
  Operation operation = Make(span, Kind::kPutIfAbsent, value);
  operation.outcome = outcome;
  return operation;
}

struct Swap {
  int64_t expected;
  int64_t value;
};
Operation PutIfEquals(Span span, Swap swap, Outcome outcome) {
  Operation operation = Make(span, Kind::kPutIfEquals, swap.value);
  operation.expected = swap.expected;
  operation.outcome = outcome;
  return operation;
}

Operation DeleteIfEquals(Span span, int64_t expected, Outcome outcome) {
  Operation operation = Make(span, Kind::kDeleteIfEquals);
  operation.expected = expected;
  operation.outcome = outcome;
  return operation;
}

Operation Unknown(Operation operation) {
  operation.outcome = Outcome::kUnknown;
  return operation;
}

Operation On(std::string key, Operation operation) {
  operation.key = std::move(key);
  return operation;
}

void ExpectLinearizable(const History& history) {
  const Verdict verdict = Check(history);
  EXPECT_TRUE(verdict.linearizable()) << verdict.explanation;
}

void ExpectViolation(const History& history) {
  EXPECT_EQ(Check(history).answer, Answer::kViolation);
}

TEST(CheckerTest, AcceptsTheEmptyHistory) { ExpectLinearizable({}); }

// A key holds nothing before the history begins.
TEST(CheckerTest, BeginsWithAbsentKeys) {
  ExpectLinearizable({Get({1, 2}, std::nullopt)});
  ExpectViolation({Get({1, 2}, 5)});
}

TEST(CheckerTest, ReadsSeeTheLastWriteThatReturned) {
  ExpectLinearizable({Put({1, 2}, 1), Put({3, 4}, 2), Get({5, 6}, 2)});
  ExpectViolation({Put({1, 2}, 1), Put({3, 4}, 2), Get({5, 6}, 1)});
  ExpectViolation({Put({1, 2}, 1), Get({3, 4}, std::nullopt)});
}

// During a write a read may see either value.
TEST(CheckerTest, ConcurrentReadsMaySeeOldOrNew) {
  ExpectLinearizable({Put({1, 10}, 1), Get({2, 3}, std::nullopt), Get({4, 5}, 1)});
}

// After one read saw the new value, no later read may see the old one.
TEST(CheckerTest, ReadsNeverGoBack) {
  ExpectViolation({Put({1, 10}, 1), Get({2, 3}, 1), Get({4, 5}, std::nullopt)});
  ExpectViolation({Put({1, 2}, 1), Put({3, 20}, 2), Get({4, 5}, 2), Get({6, 7}, 1)});
}

// Two readers cannot disagree on the order of two concurrent writes.
TEST(CheckerTest, ReadersAgreeOnTheOrderOfWrites) {
  ExpectViolation(
      {Put({1, 4}, 1), Put({2, 5}, 2), Get({6, 9}, 1), Get({10, 11}, 2), Get({12, 13}, 1)});
  ExpectLinearizable({Put({1, 4}, 1), Put({2, 5}, 2), Get({6, 9}, 1), Get({7, 11}, 1)});
}

// A read cannot see a value before it was asked to be written.
TEST(CheckerTest, RejectsAReadFromTheFuture) { ExpectViolation({Get({1, 2}, 7), Put({3, 4}, 7)}); }

TEST(CheckerTest, IncrementsCountEachOnce) {
  ExpectLinearizable({Increment({1, 5}, 2), Increment({2, 6}, 1), Get({7, 8}, 2)});
  ExpectViolation({Increment({1, 5}, 1), Increment({2, 6}, 1)});
  ExpectViolation({Increment({1, 5}, 1), Increment({2, 6}, 3)});
  ExpectViolation({Increment({1, 2}, 2), Increment({3, 4}, 1)});
}

TEST(CheckerTest, PutIfAbsentHasOneWinner) {
  ExpectLinearizable({PutIfAbsent({1, 5}, 1, Outcome::kNotApplied),
                      PutIfAbsent({2, 6}, 2, Outcome::kApplied), Get({7, 8}, 2)});
  ExpectViolation(
      {PutIfAbsent({1, 5}, 1, Outcome::kApplied), PutIfAbsent({2, 6}, 2, Outcome::kApplied)});
  ExpectViolation({PutIfAbsent({1, 5}, 1, Outcome::kNotApplied)});
}

TEST(CheckerTest, PutIfEqualsNeedsItsValue) {
  ExpectLinearizable({Put({1, 2}, 1), PutIfEquals({3, 4}, {1, 2}, Outcome::kApplied),
                      PutIfEquals({5, 6}, {1, 3}, Outcome::kNotApplied), Get({7, 8}, 2)});
  ExpectViolation({Put({1, 2}, 1), PutIfEquals({3, 4}, {9, 2}, Outcome::kApplied)});
  ExpectViolation({Put({1, 2}, 1), PutIfEquals({3, 4}, {1, 2}, Outcome::kNotApplied)});
  ExpectViolation({Put({1, 2}, 1), PutIfEquals({3, 6}, {1, 2}, Outcome::kApplied),
                   PutIfEquals({4, 5}, {1, 3}, Outcome::kApplied)});
}

TEST(CheckerTest, DeletesRemove) {
  ExpectLinearizable({Put({1, 2}, 1), Delete({3, 4}), Get({5, 6}, std::nullopt)});
  ExpectViolation({Put({1, 2}, 1), Delete({3, 4}), Get({5, 6}, 1)});
  ExpectLinearizable(
      {Put({1, 2}, 5), DeleteIfEquals({3, 4}, 5, Outcome::kApplied), Increment({5, 6}, 1)});
  ExpectViolation({Put({1, 2}, 5), DeleteIfEquals({3, 4}, 6, Outcome::kApplied)});
  ExpectViolation({Put({1, 2}, 5), DeleteIfEquals({3, 4}, 5, Outcome::kNotApplied)});
}

// A failed condition may return the value that made it fail. The key must have held that value.
TEST(CheckerTest, TheValueSeenByAFailureCounts) {
  Operation failed = PutIfAbsent({3, 4}, 2, Outcome::kNotApplied);
  failed.seen = Value(1);
  ExpectLinearizable({Put({1, 2}, 1), failed});
  failed.seen = Value(9);
  ExpectViolation({Put({1, 2}, 1), failed});
}

// A write whose reply was lost may happen late, early or never, but not twice.
TEST(CheckerTest, UnknownOperationsStayOpen) {
  const Operation lost = Unknown(Put({1, 2}, 1));
  ExpectLinearizable({lost, Get({3, 4}, std::nullopt)});
  ExpectLinearizable({lost, Get({3, 4}, 1)});
  ExpectLinearizable({lost, Get({3, 4}, std::nullopt), Get({50, 60}, 1)});
  ExpectViolation({lost, Get({3, 4}, 1), Delete({5, 6}), Get({7, 8}, 1)});
  ExpectViolation({Get({1, 2}, 1), Unknown(Put({3, 4}, 1))});
  ExpectViolation({Unknown(Make({1, 2}, Kind::kIncrement, 1)), Increment({3, 4}, 3)});
}

// A get whose reply was lost adds no constraint, and must not block the search.
TEST(CheckerTest, UnknownGetsAreHarmless) {
  ExpectLinearizable({Unknown(Get({1, 2}, std::nullopt)), Put({3, 4}, 1), Get({5, 6}, 1)});
}

// A violation on one key is found among correct keys and named.
TEST(CheckerTest, NamesTheKeyOfTheViolation) {
  const Verdict verdict = Check({On("good", Put({1, 2}, 1)), On("bad", Put({3, 4}, 2)),
                                 On("good", Get({5, 6}, 1)), On("bad", Get({7, 8}, std::nullopt))});
  EXPECT_EQ(verdict.answer, Answer::kViolation);
  EXPECT_THAT(verdict.explanation, HasSubstr("key bad"));
  EXPECT_THAT(verdict.explanation, HasSubstr("saw nothing"));
}

// The explanation leaves out operations that are far before or after the violation.
TEST(CheckerTest, ExplainsWithASmallWindow) {
  History history;
  for (Tick tick = 0; tick < 400; tick += 4) {
    const int64_t value = static_cast<int64_t>(tick);
    history.push_back(Put({tick, tick + 1}, value));
    history.push_back(Get({tick + 2, tick + 3}, tick == 200 ? 192 : value));
  }
  const Verdict verdict = Check(history);
  EXPECT_EQ(verdict.answer, Answer::kViolation);
  EXPECT_THAT(verdict.explanation, HasSubstr("these 2 of 200 operations"));
  EXPECT_THAT(verdict.explanation, HasSubstr("put 200 -> applied"));
  EXPECT_THAT(verdict.explanation, HasSubstr("get -> applied, saw 192"));
}

// Twelve concurrent blind writes have 12! orders. The cache of configurations makes this cheap.
TEST(CheckerTest, DecidesManyConcurrentBlindWrites) {
  History history;
  for (int64_t i = 1; i <= 12; ++i) history.push_back(Put({static_cast<Tick>(i), 100}, i));
  history.push_back(Get({101, 102}, 1));
  ExpectLinearizable(history);
  history.push_back(Get({103, 104}, 2));
  ExpectViolation(history);
}

// --- Against an exhaustive search: small random histories, every order tried ---

bool HasAnOrder(const History& open, const Value& value) {
  bool all_unknown = true;
  Tick earliest_return = UINT64_MAX;
  for (const Operation& operation : open) {
    if (operation.outcome == Outcome::kUnknown) continue;
    all_unknown = false;
    earliest_return = std::min(earliest_return, operation.returned);
  }
  if (all_unknown) return true;
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i].called > earliest_return) continue;
    const Evaluation evaluation = Evaluate(open[i], value);
    const bool replied = open[i].outcome != Outcome::kUnknown;
    if (replied && open[i].outcome != evaluation.answered.outcome) continue;
    if (replied && open[i].seen && open[i].seen != evaluation.answered.seen) continue;
    History rest = open;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (HasAnOrder(rest, evaluation.next)) return true;
  }
  return false;
}

// Half of the replies are random, so that about half of the histories are wrong.
History RandomSmallHistory(Random& random) {
  History history;
  Value value;
  Tick now = 1;
  for (int i = 0; i < 7; ++i) {
    Operation operation = Make({}, static_cast<Kind>(random.Below(7)), 1);
    if (operation.kind != Kind::kIncrement)
      operation.argument = 1 + static_cast<int64_t>(random.Below(3));
    operation.expected = 1 + static_cast<int64_t>(random.Below(3));
    Evaluation evaluation = Evaluate(operation, value);
    value = evaluation.next;
    operation = evaluation.answered;
    if (random.Below(4) == 0) operation.seen.reset();
    if (random.Below(12) == 0) operation.seen = Value(1 + static_cast<int64_t>(random.Below(3)));
    if (random.Below(6) == 0) operation.outcome = Outcome::kUnknown;
    now += 2;
    operation.called = now - random.Below(std::min<uint64_t>(now, 6));
    operation.returned = now + 1 + random.Below(6);
    history.push_back(operation);
  }
  return history;
}

TEST(CheckerTest, AgreesWithAnExhaustiveSearch) {
  int good = 0;
  constexpr int kHistories = 5000;
  for (uint64_t seed = 1; seed <= kHistories; ++seed) {
    SeededRandom random(seed);
    const History history = RandomSmallHistory(random);
    const bool expected = HasAnOrder(history, std::nullopt);
    good += expected;
    ASSERT_EQ(Check(history).linearizable(), expected) << "seed " << seed;
  }
  fmt::print("seeds 1 to {}: {} linearizable\n", kHistories, good);
  EXPECT_GT(good, kHistories / 5);
  EXPECT_LT(good, kHistories * 4 / 5);
}

// --- Against a simulated store ---

constexpr uint64_t kSeedsOfTheCorrectStore = 1000;
constexpr uint64_t kSeedsForEachBug = 20;

// A checker must not give false alarms: the store without bugs passes with every seed.
TEST(SimulatedStoreTest, TheCorrectStoreIsAccepted) {
  for (uint64_t seed = 1; seed <= kSeedsOfTheCorrectStore; ++seed) {
    const Verdict verdict = Check(Simulate(Bug::kNone, seed));
    ASSERT_TRUE(verdict.linearizable()) << "seed " << seed << ": " << verdict.explanation;
  }
  fmt::print("correct store: seeds 1 to {} accepted\n", kSeedsOfTheCorrectStore);
}

class PlantedBugTest : public ::testing::TestWithParam<Bug> {};

// Each bug has occurred in a real store. The checker finds every one.
TEST_P(PlantedBugTest, IsRejected) {
  uint64_t first = 0;
  uint64_t rejected = 0;
  for (uint64_t seed = 1; seed <= kSeedsForEachBug; ++seed) {
    const Verdict verdict = Check(Simulate(GetParam(), seed));
    ASSERT_NE(verdict.answer, Answer::kUndecided) << "seed " << seed;
    if (verdict.linearizable()) continue;
    EXPECT_THAT(verdict.explanation, HasSubstr("no order explains"));
    if (++rejected == 1) first = seed;
  }
  EXPECT_GT(rejected, 0u);
  fmt::print("{}: first rejected with seed {}, {} of seeds 1 to {}\n", NameOf(GetParam()), first,
             rejected, kSeedsForEachBug);
}

std::string TestNameOf(const ::testing::TestParamInfo<Bug>& info) {
  std::string name(NameOf(info.param));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugTest, ::testing::ValuesIn(AllBugs()), TestNameOf);

TEST(SimulatedStoreTest, HasAtLeastTwentyBugs) { EXPECT_GE(AllBugs().size(), 20u); }

// A seed printed by a failure replays it.
TEST(SimulatedStoreTest, TheSameSeedGivesTheSameHistory) {
  const auto print = [](const History& history) {
    std::string text;
    for (const Operation& operation : history) text += Describe(operation) + "\n";
    return text;
  };
  EXPECT_EQ(print(Simulate(Bug::kNone, 7)), print(Simulate(Bug::kNone, 7)));
  EXPECT_THAT(print(Simulate(Bug::kNone, 8)), Not(print(Simulate(Bug::kNone, 7))));
}

}  // namespace
}  // namespace tidemark::testing
