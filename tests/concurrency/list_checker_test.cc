#include "tests/concurrency/list_checker.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/concurrency/simulated_lists.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;

struct Span {
  Tick called;
  Tick returned;
};

Transaction Writes(Span span, std::vector<Append> appends) {
  return {.appends = std::move(appends),
          .called = span.called,
          .returned = span.returned,
          .outcome = Outcome::kApplied};
}

Transaction Reads(Span span, std::vector<ListRead> reads) {
  return {.reads = std::move(reads),
          .called = span.called,
          .returned = span.returned,
          .outcome = Outcome::kApplied};
}

Transaction With(Outcome outcome, Transaction transaction) {
  transaction.outcome = outcome;
  return transaction;
}

void ExpectViolation(const std::vector<Transaction>& transactions, const std::string& fragment) {
  const ListVerdict verdict = CheckLists(transactions);
  EXPECT_FALSE(verdict.serializable);
  EXPECT_THAT(verdict.explanation, HasSubstr(fragment));
}

void ExpectSerializable(const std::vector<Transaction>& transactions) {
  const ListVerdict verdict = CheckLists(transactions);
  EXPECT_TRUE(verdict.serializable) << verdict.explanation;
}

TEST(ListCheckerTest, AcceptsWhatHappensInOrder) {
  ExpectSerializable({Writes({1, 2}, {{"x", 1}, {"y", 2}}), Writes({3, 4}, {{"x", 3}}),
                      Reads({5, 6}, {{"x", {1, 3}}, {"y", {2}}})});
}

// A reader that sees one part of a transaction must see the other.
TEST(ListCheckerTest, RejectsReadSkew) {
  ExpectViolation({Writes({1, 10}, {{"x", 1}, {"y", 2}}), Reads({2, 9}, {{"x", {1}}, {"y", {}}}),
                   Reads({11, 12}, {{"x", {1}}, {"y", {2}}})},
                  "rw before");
}

// Each transaction read the other's list as empty, so neither can have been first.
TEST(ListCheckerTest, RejectsWriteSkew) {
  Transaction one = Writes({1, 10}, {{"x", 1}});
  one.checks = {{"y", 0}};
  Transaction two = Writes({2, 9}, {{"y", 2}});
  two.checks = {{"x", 0}};
  ExpectViolation({one, two, Reads({11, 12}, {{"x", {1}}, {"y", {2}}})}, "rw before");
}

// Two transactions must have the same order on every list.
TEST(ListCheckerTest, RejectsWritesInterleavedBothWays) {
  ExpectViolation({Writes({1, 10}, {{"x", 1}, {"y", 2}}), Writes({2, 9}, {{"x", 3}, {"y", 4}}),
                   Reads({11, 12}, {{"x", {1, 3}}, {"y", {4, 2}}})},
                  "ww before");
}

// Being serializable in some order is not enough: a later transaction must see the effects of one
// that has returned.
TEST(ListCheckerTest, RejectsAReadOfThePast) {
  ExpectViolation(
      {Writes({1, 2}, {{"x", 1}}), Reads({3, 4}, {{"x", {}}}), Reads({5, 6}, {{"x", {1}}})},
      "rt before");
}

TEST(ListCheckerTest, RejectsListsThatCannotBe) {
  ExpectViolation({Writes({1, 2}, {{"x", 1}}), Reads({3, 4}, {{"x", {1, 1}}})}, "twice");
  ExpectViolation({Reads({3, 4}, {{"x", {7}}})}, "no applied transaction appended");
  ExpectViolation({Writes({1, 9}, {{"x", 1}}), Writes({2, 9}, {{"x", 2}}),
                   Reads({3, 9}, {{"x", {1, 2}}}), Reads({4, 9}, {{"x", {2}}})},
                  "two orders");
  ExpectViolation(
      {With(Outcome::kNotApplied, Writes({1, 2}, {{"x", 1}})), Reads({3, 4}, {{"x", {1}}})},
      "no applied transaction appended");
}

// An acknowledged append that is never seen is lost.
TEST(ListCheckerTest, RejectsALostAppend) {
  ExpectViolation({Writes({1, 2}, {{"x", 1}}), Reads({3, 4}, {{"x", {}}})}, "rw before");
}

// A transaction whose reply was lost happens as a whole or not at all.
TEST(ListCheckerTest, UnknownTransactionsAreWhole) {
  const Transaction lost = With(Outcome::kUnknown, Writes({1, 2}, {{"x", 1}, {"y", 2}}));
  ExpectSerializable({lost, Reads({3, 4}, {{"x", {}}, {"y", {}}})});
  ExpectSerializable({lost, Reads({3, 4}, {{"x", {1}}, {"y", {2}}})});
  ExpectViolation({lost, Reads({3, 4}, {{"x", {1}}, {"y", {}}})}, "rw before");
}

constexpr uint64_t kSeedsOfTheCorrectStore = 500;
constexpr uint64_t kSeedsForEachBug = 30;

TEST(SimulatedListsTest, TheCorrectStoreIsAccepted) {
  for (uint64_t seed = 1; seed <= kSeedsOfTheCorrectStore; ++seed) {
    const ListVerdict verdict = CheckLists(SimulateLists(ListBug::kNone, seed));
    ASSERT_TRUE(verdict.serializable) << "seed " << seed << ": " << verdict.explanation;
  }
  fmt::print("correct store: seeds 1 to {} accepted\n", kSeedsOfTheCorrectStore);
}

class PlantedListBugTest : public ::testing::TestWithParam<ListBug> {};

// The checker finds each anomaly that serializability forbids.
TEST_P(PlantedListBugTest, IsRejected) {
  uint64_t first = 0;
  uint64_t rejected = 0;
  for (uint64_t seed = 1; seed <= kSeedsForEachBug; ++seed) {
    if (CheckLists(SimulateLists(GetParam(), seed)).serializable) continue;
    if (++rejected == 1) first = seed;
  }
  EXPECT_GT(rejected, 0u);
  fmt::print("{}: first rejected with seed {}, {} of seeds 1 to {}\n", NameOf(GetParam()), first,
             rejected, kSeedsForEachBug);
}

std::string TestNameOf(const ::testing::TestParamInfo<ListBug>& info) {
  std::string name(NameOf(info.param));
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, PlantedListBugTest, ::testing::ValuesIn(AllListBugs()), TestNameOf);

}  // namespace
}  // namespace tidemark::testing
