// A Simulation delivers the events of a pretend workspace to two servers like Slack on its
// worst days: twice, out of order, late or not at all. The servers die at any call, and their
// tables, objects and file hosts fail. Both use the same tables. While one is in the
// middle of an operation, the other one may do a whole operation.
//
//   Simulation simulation({.seed = 7});
//   simulation.Run();
//   EXPECT_THAT(simulation.FindFaults(), IsEmpty());
//
// The seed decides everything: it has its own clock and one thread. Run ends when Slack has given
// up or got its answers, the servers run, and nothing is left to do.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "servers/demo/events.h"
#include "tests/model/model_tables.h"
#include "tests/simulation/differences.h"
#include "tests/simulation/file_host.h"
#include "tests/simulation/ground_truth.h"
#include "tests/simulation/process.h"
#include "tests/support/manual_time.h"
#include "tests/support/memory_objects.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {

struct SimulationOptions {
  uint64_t seed = 1;
  size_t events = 400;
};

// Counts what happened, so that a test can check that enough happened.
struct SimulationReport {
  uint64_t deliveries = 0;
  uint64_t lost = 0;  // Events that no server acknowledged.
  uint64_t duplicates = 0;
  uint64_t quarantined = 0;
  uint64_t deaths = 0;
  uint64_t faults = 0;  // Calls to tables that failed.
  uint64_t meetings =
      0;  // Times that a server worked while the other was in the middle of an operation.
  uint64_t downtimes = 0;                   // Downtimes that were longer than Slack's retries.
  std::map<Service, uint64_t> served = {};  // Downloads, by their result.
};

class Simulation final : private Chances {
 public:
  explicit Simulation(const SimulationOptions& options);
  ~Simulation() override;

  void Run();

  const GroundTruth& truth() const { return truth_; }
  // Differences between the archive and the truth, and answers that Slack must never get.
  std::vector<std::string> FindFaults();
  // For tests that damage the tables to see that the faults are found.
  model::ModelTables& tables() { return tables_; }
  MemoryObjects& objects() { return objects_; }

  // One line for each step, in order.
  const std::string& story() const { return story_; }
  const SimulationReport& report() const { return report_; }
  // A hash of all rows of all tables.
  std::string Digest();

 private:
  static constexpr size_t kProcesses = 2;
  using Milliseconds = int64_t;

  struct Event {
    demo::GeneratedEvent generated;
    bool is_doomed = false;  // No delivery of it succeeds.
    EpochSeconds next_timestamp = 0;
  };
  struct Attempt {
    size_t event = 0;
    uint32_t retry = 0;
    bool is_duplicate = false;
  };
  using When = std::pair<Milliseconds, uint64_t>;

  // Chances
  void OnMoment(size_t process) override;
  bool IsDead(size_t process) const override { return dead_[process]; }
  std::optional<Fault> FaultIn(size_t process, Operation operation) override;
  slack::LookupOutcome LookUp() override;
  bool ObjectsAreAway() override;

  void Generate();
  void LoseAMinute();
  void ScheduleEvents();
  void ScheduleOutage();

  void Schedule(const Attempt& attempt, Milliseconds delay);
  void At(Milliseconds delay, std::function<void()> task);
  void RunTasksUntil(Milliseconds due);
  void Quieten();

  void Deliver(const Attempt& attempt);
  std::optional<http::Response> Send(size_t process, const std::string& body,
                                     EpochSeconds timestamp);
  void Retry(const Attempt& attempt);
  void DeliverRateLimit(EpochSeconds minute, int attempts);

  // Runs something in a process. False when the process died in it.
  bool CallIn(size_t process, const std::function<void()>& call);
  std::optional<size_t> PickProcess();
  void Bury(size_t process);
  void Restart(size_t process);
  void Start(size_t process);
  void Meet(size_t other);
  Attempt TakeRelated(size_t event);
  void StepSomething(size_t process);
  void BeatAll();
  void StepAll();
  bool IsIdle();

  Milliseconds Now() const { return clock_.Now().count(); }
  void Tell(const std::string& line);
  bool Chance(uint64_t one_in) { return one_in > 0 && random_.Below(one_in) == 0; }

  const SimulationOptions options_;
  const demo::Workspace workspace_;
  SeededRandom random_;
  // How often things fail, by the seed: one time in so many.
  const uint64_t death_one_in_;
  const uint64_t fault_one_in_;
  const uint64_t drop_one_in_;

  ManualClock clock_;
  ManualSleeper sleeper_{&clock_};
  std::ostringstream log_;
  Logger logger_{{.level = LogLevel::kDebug}, clock_, &log_};
  model::ModelTables tables_{clock_};
  MemoryObjects objects_;
  FileHost host_;
  TempFolder folder_;
  GroundTruth truth_;

  std::vector<Event> events_;
  std::map<When, Attempt> deliveries_;
  std::map<When, std::function<void()>> tasks_;
  uint64_t next_place_ = 0;

  std::array<std::unique_ptr<Process>, kProcesses> processes_;
  std::array<bool, kProcesses> dead_ = {true, true};
  std::vector<size_t> running_;  // The innermost last.
  std::optional<size_t> event_under_way_;
  uint64_t lives_ = 0;
  bool quiet_ = false;
  Milliseconds down_until_ = 0;
  EpochSeconds last_beat_ = 0;           // Certainly stored.
  EpochSeconds last_possible_beat_ = 0;  // Possibly stored.
  std::vector<LostTime> known_losses_;
  bool may_fear_losses_ = false;

  SimulationReport report_;
  std::string story_;
  std::vector<std::string> complaints_;
};

}  // namespace tidemark::testing
