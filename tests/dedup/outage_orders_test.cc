// Deliveries of one event to processes that lose sight of the store at any call, in every order:
// an event may run twice then, but never silently, and never not at all.
#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "apps/dedup/deduplicator.h"
#include "tests/dedup/stage.h"
#include "tests/support/long_run.h"
#include "tests/support/schedule.h"

namespace tidemark::dedup {
namespace {

using namespace std::chrono_literals;
using testing::Explore;
using testing::Operation;
using testing::Schedule;

// A process that tries each call once, and asks the store again at the next: so that every mixture
// of memory and store comes about.
struct Process {
  Process(tables::Tables* tables, ManualClock* clock, uint64_t seed)
      : random(seed),
        sleeper(clock),
        claims({.retry = {.max_retries = 0}}, tables, clock, &random, &sleeper),
        dedup({.outage = 0s}, &claims, clock, &random, nullptr, nullptr) {}

  SeededRandom random;
  ManualSleeper sleeper;
  Claims claims;
  Deduplicator dedup;
};

class OutageWorld {
 public:
  // `faults`: how many calls fail in a run, at most.
  OutageWorld(Schedule* schedule, size_t processes, size_t faults)
      : schedule_(*schedule), faults_(faults) {
    for (size_t i = 0; i < processes; ++i) {
      processes_.push_back(std::make_unique<Process>(&tables_, &clock_, i));
    }
    CHECK(processes_[0]->claims.CreateTable().has_value());
    tables_.decide = [this](Operation operation) { return AtCall(operation); };
  }

  // An actor: the event comes to this process.
  std::function<void()> Delivery(size_t process) {
    return [this, process] {
      Deduplicator& dedup = processes_[process]->dedup;
      const auto reply = dedup.Take({.keys = {"k"}});
      ASSERT_TRUE(reply.has_value()) << reply.error().message;
      if (!reply->claim) return;
      ++runs;
      const auto outcome = dedup.Complete(*reply->claim);
      if (outcome && *outcome == SettleOutcome::kSuperseded) ++told;
    };
  }

  // The store is well again, and everybody has had to do with it.
  void Heal() {
    tables_.decide = nullptr;
    for (const auto& process : processes_) {
      EXPECT_TRUE(process->dedup.Mark({.keys = {"after"}}));
      told += process->dedup.PossibleDuplicates().size();
    }
  }
  ClaimOutcome OutcomeNow() { return processes_[0]->claims.Take({.keys = {"k"}})->outcome; }

  int runs = 0;
  size_t told = 0;  // Superseded, or listed as possible duplicates.

 private:
  std::optional<testing::Fault> AtCall(Operation) {
    schedule_.Step();
    if (faults_ == 0) return std::nullopt;
    const size_t choice = schedule_.Choose(3);
    if (choice == 0) return std::nullopt;
    --faults_;
    return choice == 1 ? testing::Throttled() : testing::LostReply();
  }

  Schedule& schedule_;
  size_t faults_;
  ManualClock clock_;
  model::ModelTables model_{clock_};
  testing::FaultyTables tables_{&model_};
  std::vector<std::unique_ptr<Process>> processes_;
};

size_t FaultsInARun() { return static_cast<size_t>(testing::AmountOf({.usual = 2, .release = 4})); }

// One process remembers for itself: its memory and the store agree on who has the event.
TEST(OutageOrdersTest, OneProcessRunsAnEventOnce) {
  const size_t runs = Explore(5'000'000, [](Schedule& schedule) {
    OutageWorld world(&schedule, 1, FaultsInARun());
    schedule.Run({world.Delivery(0), world.Delivery(0)});
    world.Heal();
    EXPECT_EQ(world.runs, 1);
    EXPECT_EQ(world.OutcomeNow(), ClaimOutcome::kDone);
  });
  EXPECT_GT(runs, 100u);
}

// Two processes may both run it while the store is away; then at least one of them says so.
TEST(OutageOrdersTest, TwoProcessesNeverRunAnEventTwiceInSilence) {
  size_t twice = 0;
  Explore(5'000'000, [&](Schedule& schedule) {
    OutageWorld world(&schedule, 2, FaultsInARun());
    schedule.Run({world.Delivery(0), world.Delivery(1)});
    world.Heal();
    EXPECT_GE(world.runs, 1);
    if (world.runs > 1) {
      ++twice;
      EXPECT_GE(world.told, 1u);
    }
    EXPECT_EQ(world.OutcomeNow(), ClaimOutcome::kDone);
  });
  EXPECT_GT(twice, 0u);  // Or the test would show nothing.
}

}  // namespace
}  // namespace tidemark::dedup
