// The promise that single-item operations are linearizable, on the embedded tables: histories
// of 1,000 operations by 8 to 16 threads, some with a restart or a power cut in the middle.
#include <algorithm>
#include <atomic>
#include <deque>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/linearizability/checker.h"
#include "tests/linearizability/table_client.h"
#include "tests/support/interrupted_tables.h"
#include "tests/support/long_run.h"
#include "tests/support/threads.h"

namespace tidemark::testing {
namespace {

using embedded::Durability;

constexpr int kOperations = 1'000;

struct Plan {
  uint64_t seed = 0;
  int clients = 8;
  Durability durability = Durability::kEverySecond;
  Interruption interruption = Interruption::kNone;
  Increments increments = Increments::kAtomic;
};

// Every fourth history is synced, and of these every second loses its power; of the others
// every third is restarted.
Plan PlanOf(uint64_t seed) {
  Plan plan{.seed = seed, .clients = 8 + static_cast<int>(seed % 9)};
  if (seed % 4 == 0) {
    plan.durability = Durability::kSynced;
    if (seed % 8 == 0) plan.interruption = Interruption::kPowerCut;
  } else if (seed % 3 == 0) {
    plan.interruption = Interruption::kRestart;
  }
  return plan;
}

// A client that meets an error stops: after a power cut there is nothing more to do.
void Work(InterruptedTables& stage, std::deque<TableClient>& clients) {
  std::atomic<int> left = kOperations / 2;
  RunThreads(static_cast<int>(clients.size()), [&](int client) {
    while (left.fetch_sub(1) > 0) {
      const Status status = clients[static_cast<size_t>(client)].Step(stage.tables());
      if (status.has_value()) continue;
      EXPECT_FALSE(stage.powered()) << status.error().message;
      return;
    }
  });
}

History RunHistory(const Plan& plan) {
  InterruptedTables stage({.seed = plan.seed,
                           .durability = plan.durability,
                           .interruption = plan.interruption,
                           .table = TableClient::Table()});
  Recorder<Operation> recorder;
  std::deque<TableClient> clients;  // They do not move.
  for (int i = 0; i < plan.clients; ++i) {
    clients.emplace_back(
        ClientOptions{.number = i, .seed = plan.seed, .increments = plan.increments}, &recorder);
  }
  Work(stage, clients);
  stage.Interrupt();
  Work(stage, clients);
  return recorder.Take();
}

struct Tally {
  size_t operations = 0;
  size_t overlapping = 0;  // With another operation on the same key.
  size_t not_applied = 0;
  size_t unknown = 0;

  void Add(const History& history) {
    std::map<std::string, Tick> latest_return;
    History in_order = history;
    std::sort(in_order.begin(), in_order.end(),
              [](const Operation& a, const Operation& b) { return a.called < b.called; });
    for (const Operation& operation : in_order) {
      Tick& latest = latest_return[operation.key];
      overlapping += operation.called < latest;
      latest = std::max(latest, operation.returned);
      not_applied += operation.outcome == Outcome::kNotApplied;
      unknown += operation.outcome == Outcome::kUnknown;
    }
    operations += history.size();
  }
};

TEST(EmbeddedHistoryTest, HistoriesAreLinearizable) {
  const int histories = AmountOf({.usual = TIDEMARK_HISTORIES, .release = 20'000});
  Tally tally;
  for (int seed = 1; seed <= histories; ++seed) {
    const History history = RunHistory(PlanOf(static_cast<uint64_t>(seed)));
    const Verdict verdict = Check(history);
    ASSERT_TRUE(verdict.linearizable()) << "seed " << seed << ": " << verdict.explanation;
    tally.Add(history);
  }
  fmt::print("seeds 1 to {}: {} operations, {} overlapping, {} not applied, {} unknown\n",
             histories, tally.operations, tally.overlapping, tally.not_applied, tally.unknown);
  // Without concurrency, failed conditions and lost replies the histories would prove little.
  EXPECT_GT(tally.overlapping, tally.operations / 10);
  EXPECT_GT(tally.not_applied, tally.operations / 20);
  EXPECT_GT(tally.unknown, 0u);
}

// The same run with increments that are not atomic: that they are found shows that the threads
// truly meet, and that a violation would not go by.
TEST(EmbeddedHistoryTest, IncrementsInTwoStepsAreFound) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Plan plan{.seed = seed, .increments = Increments::kReadThenWrite};
    if (Check(RunHistory(plan)).answer != Verdict::Answer::kViolation) continue;
    fmt::print("found with seed {}\n", seed);
    return;
  }
  FAIL() << "no violation in 20 histories";
}

}  // namespace
}  // namespace tidemark::testing
