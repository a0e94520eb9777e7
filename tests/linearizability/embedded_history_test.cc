// Tests that single-item operations of the embedded tables are linearizable: histories of 1,000
// operations by 8 to 16 threads, some with a restart or a power cut in the middle.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <deque>
#include <map>
#include <optional>

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
  // All clients begin each operation together. Without this they run freely, and on a busy machine
  // few operations may overlap.
  bool in_waves = false;
};

// Every fourth history is synced, and half of these have a power cut. A third of the others have a
// restart. Half of all histories run in waves.
Plan PlanOf(uint64_t seed) {
  Plan plan{.seed = seed, .clients = 8 + static_cast<int>(seed % 9), .in_waves = seed % 2 == 0};
  if (seed % 4 == 0) {
    plan.durability = Durability::kSynced;
    if (seed % 8 == 0) plan.interruption = Interruption::kPowerCut;
  } else if (seed % 3 == 0) {
    plan.interruption = Interruption::kRestart;
  }
  return plan;
}

// A barrier at which the clients of a history in waves wait for each other.
class MeetingPlace {
 public:
  explicit MeetingPlace(int clients) : barrier_(clients) {}

  void Meet() { barrier_.arrive_and_wait(); }
  // Called by a client that stops, so that the others no longer wait for it.
  void Leave() { barrier_.arrive_and_drop(); }

 private:
  std::barrier<> barrier_;
};

// A client stops at the first error, because after a power cut every call fails.
void Work(InterruptedTables& stage, std::deque<TableClient>& clients, MeetingPlace* place) {
  std::atomic<int> left = kOperations / 2;
  RunThreads(static_cast<int>(clients.size()), [&](int client) {
    while (left.fetch_sub(1) > 0) {
      const Status status = clients[static_cast<size_t>(client)].Step(stage.tables());
      if (status.has_value()) continue;
      EXPECT_FALSE(stage.powered()) << status.error().message;
      break;
    }
    if (place != nullptr) place->Leave();
  });
}

History RunHistory(const Plan& plan) {
  InterruptedTables stage({.seed = plan.seed,
                           .durability = plan.durability,
                           .interruption = plan.interruption,
                           .table = TableClient::Table()});
  Recorder<Operation> recorder;
  std::optional<MeetingPlace> place;
  std::deque<TableClient> clients;  // A deque, so that clients keep their addresses.
  for (int i = 0; i < plan.clients; ++i) {
    ClientOptions options{.number = i, .seed = plan.seed, .increments = plan.increments};
    if (plan.in_waves) options.meet = [&place] { place->Meet(); };
    clients.emplace_back(std::move(options), &recorder);
  }
  const auto work = [&] {
    if (plan.in_waves) place.emplace(plan.clients);
    Work(stage, clients, place ? &*place : nullptr);
  };
  work();
  stage.Interrupt();
  work();
  return recorder.Take();
}

struct Tally {
  size_t operations = 0;
  size_t overlapping = 0;  // Operations that overlap another one on the same key.
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
  const int histories = AmountOf({.usual = 200, .release = 20'000, .debug = 16});
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
  // Histories in waves overlap even on a slow machine.
  EXPECT_GT(tally.overlapping, tally.operations / 10);
  EXPECT_GT(tally.not_applied, tally.operations / 20);
  EXPECT_GT(tally.unknown, 0u);
}

// The same run with increments that are not atomic. The checker must find them, which shows that it
// would find a real violation. All clients of a wave read before one of them writes.
TEST(EmbeddedHistoryTest, FindsIncrementsInTwoSteps) {
  const Plan plan{.seed = 1, .increments = Increments::kReadThenWrite, .in_waves = true};
  EXPECT_EQ(Check(RunHistory(plan)).answer, Verdict::Answer::kViolation);
}

}  // namespace
}  // namespace tidemark::testing
