// Delivers one event to several processes in every order of their calls. The store may be
// unavailable at any call. Then an event may run twice, but that is reported, and it always runs.
#include <chrono>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "apps/dedup/deduplicator.h"
#include "tests/dedup/mark_now.h"
#include "tests/dedup/stage.h"
#include "tests/support/long_run.h"
#include "tests/support/manual_time.h"
#include "tests/support/process_runtime.h"
#include "tests/support/schedule.h"

namespace tidemark::dedup {
namespace {

using namespace std::chrono_literals;
using testing::Explore;
using testing::Operation;
using testing::Schedule;

// A process without retries that asks the store again at every call, so that every mixture of
// answers by memory and by the store occurs.
struct OutageOrdersProcess {
  OutageOrdersProcess(tables::Tables* tables, ManualClock* clock, uint64_t seed)
      : process(*clock, clock, seed),
        claims({.retry = {.max_retries = 0}}, tables, process.runtime()),
        dedup({.outage = 0s}, &claims, process.runtime()) {}

  testing::ProcessRuntime process;
  Claims claims;
  Deduplicator dedup;
};

class OutageWorld {
 public:
  // `faults`: how many calls of a run fail at most.
  OutageWorld(Schedule* schedule, size_t processes, size_t faults)
      : schedule_(*schedule), faults_(faults) {
    for (size_t i = 0; i < processes; ++i) {
      processes_.push_back(std::make_unique<OutageOrdersProcess>(&tables_, &clock_, i));
    }
    CHECK(processes_[0]->claims.CreateTable().has_value());
    tables_.decide = [this](Operation operation) { return AtCall(operation); };
  }

  // An actor: this process receives the event.
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

  // The store works again, and every process has called it.
  void Heal() {
    tables_.decide = nullptr;
    for (const auto& process : processes_) {
      EXPECT_TRUE(MarkNow(process->dedup, {.keys = {"after"}}));
      told += process->dedup.PossibleDuplicates().size();
    }
  }
  ClaimOutcome OutcomeNow() { return processes_[0]->claims.Take({.keys = {"k"}})->outcome; }

  int runs = 0;
  size_t told = 0;  // Reported: superseded, or listed as possible duplicates.

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
  std::vector<std::unique_ptr<OutageOrdersProcess>> processes_;
};

size_t FaultsInARun() { return static_cast<size_t>(testing::AmountOf({.usual = 2, .release = 4})); }

// Within one process memory and the store agree on who has the event.
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

// Two processes may both run the event in an outage. Then at least one of them reports it.
TEST(OutageOrdersTest, TwoProcessesReportEveryEventThatRanTwice) {
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
  EXPECT_GT(twice, 0u);  // Otherwise the test would prove nothing.
}

}  // namespace
}  // namespace tidemark::dedup
