// The promise that single-item operations are linearizable, on the embedded tables: histories
// of 1,000 operations by 8 to 16 threads, some with a restart or a power cut in the middle.
#include <atomic>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tests/linearizability/checker.h"
#include "tests/linearizability/table_client.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/long_run.h"
#include "tests/support/temp_folder.h"
#include "tests/support/threads.h"

namespace tidemark::testing {
namespace {

using embedded::Durability;
using embedded::EmbeddedTables;

constexpr int kOperations = 1'000;

enum class Interruption { kNone, kRestart, kPowerCut };

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

// On a disk a sync takes a while, and others come to wait for the next; the simulated one is
// too fast for that. When the power goes, many are to be under way.
bool ChangesSlowly(const FileCall& call) {
  for (int i = 0; call.kind == FileCallKind::kSync && i < 100; ++i) std::this_thread::yield();
  return Changes(call);
}

// One history on a folder of its own.
class Session {
 public:
  explicit Session(const Plan& plan) : plan_(plan), random_(plan.seed) {
    for (int i = 0; i < plan.clients; ++i) {
      clients_.push_back(std::make_unique<TableClient>(
          ClientOptions{.number = i, .seed = plan.seed, .increments = plan.increments},
          &recorder_));
    }
    if (plan.interruption == Interruption::kPowerCut) {
      files_ = std::make_shared<FaultFileSystem>(folder_.path(), &random_);
    }
  }

  History Finish() {
    Open();
    if (!tables_) return {};
    EXPECT_TRUE(tables_->CreateTable(TableClient::Table()).has_value());
    if (plan_.interruption == Interruption::kPowerCut) {
      files_->Arm({.matches = ChangesSlowly,
                   .nth = 1 + random_.Below(60),
                   .effect = FaultEffect::kPowerCut});
    }
    Work(kOperations / 2);
    if (plan_.interruption != Interruption::kNone) Reopen();
    if (!tables_) return {};
    Work(kOperations / 2);
    tables_.reset();
    return recorder_.Take();
  }

 private:
  void Open() {
    auto opened = EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                        .durability = plan_.durability,
                                        .file_system = files_});
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    tables_ = std::move(opened).value();
  }

  void Reopen() {
    if (files_) files_->PowerCut();
    tables_.reset();
    if (files_) {
      files_->Disarm();
      files_->Restart();
    }
    Open();
  }

  // A client that meets an error stops: after a power cut there is nothing more to do.
  void Work(int operations) {
    std::atomic<int> left = operations;
    RunThreads(plan_.clients, [&](int client) {
      while (left.fetch_sub(1) > 0) {
        const Status status = clients_[static_cast<size_t>(client)]->Step(*tables_);
        if (status.has_value()) continue;
        EXPECT_TRUE(files_ && !files_->powered()) << status.error().message;
        return;
      }
    });
  }

  const Plan plan_;
  TempFolder folder_;
  SeededRandom random_;
  std::shared_ptr<FaultFileSystem> files_;
  Recorder<Operation> recorder_;
  std::vector<std::unique_ptr<TableClient>> clients_;
  std::unique_ptr<EmbeddedTables> tables_;
};

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
    const History history = Session(PlanOf(static_cast<uint64_t>(seed))).Finish();
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
    if (Check(Session(plan).Finish()).answer != Verdict::Answer::kViolation) continue;
    fmt::print("found with seed {}\n", seed);
    return;
  }
  FAIL() << "no violation in 20 histories";
}

}  // namespace
}  // namespace tidemark::testing
