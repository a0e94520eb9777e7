// A deterministic simulation of documents: processes over one table and one object store, with
// events of what changes there. Whenever a process calls a store, others may do whole things before
// it goes on, replies and requests get lost, requests arrive late, stores are away for a while,
// processes die and begin anew, and their clocks disagree. All of it is drawn from one seed.
//
// What everybody is told is checked against what the objects have held:
//   - nobody is shown what was never in the object;
//   - what the cache shows never goes back, and not behind a write that was acknowledged;
//   - a write that is said to have failed never happens.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/documents/event_handler.h"
#include "apps/documents/fallback_reader.h"
#include "apps/documents/repairs.h"
#include "apps/documents/settler.h"
#include "apps/documents/write_through.h"
#include "tests/documents/world.h"
#include "tests/support/offset_clock.h"

namespace tidemark::documents {

// What an object has held, in order. It begins with nothing.
class ObjectHistory {
 public:
  struct Version {
    std::string etag;
    std::optional<std::string> json;  // nullopt: there was none.
  };

  void Add(Version version) { versions_.push_back(std::move(version)); }
  size_t Last() const { return versions_.size() - 1; }
  // nullopt when it never held this.
  std::optional<size_t> Find(const std::string& etag, const std::string& json) const;
  bool EverHeld(const std::string& json) const;
  // The first time from this on that there was none.
  std::optional<size_t> FindAbsent(size_t from) const;

 private:
  std::vector<Version> versions_ = {{}};
};

struct SimulationOptions {
  uint64_t seed = 0;
  // Others write to the object store past the cache, and requests arrive after they were given up.
  // Only events, which get lost, tell of it; at rest somebody has to look at all objects.
  bool outsiders = false;
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  ~Simulation();

  // So many things one after another, each with others within it; then everything comes to rest.
  void Run(int steps);

  // That anything happened.
  struct Counts {
    size_t written = 0;
    size_t hits = 0;
    size_t deaths = 0;
    size_t unknown = 0;
    size_t refused = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  class Process;
  class Bucket;

  void DoSomething();
  void PassTime();
  void Change();  // An outsider's.
  void DeliverEvent();
  void ComeToRest();
  Process* PickIdle();
  const std::string& PickId();
  // Before each call to a store: whoever calls may never come back.
  void Interrupt();
  std::optional<testing::Fault> AtTable(testing::Operation operation);

  const SimulationOptions options_;
  DocumentsOptions documents_;
  SeededRandom random_;
  ManualClock clock_{kToday};
  model::ModelTables model_{clock_};
  testing::FaultyTables tables_{&model_};
  std::unique_ptr<Bucket> bucket_;
  std::map<std::string, ObjectHistory> histories_;
  std::map<std::string, size_t> floors_;  // What has been shown or acknowledged.
  std::map<std::string, std::set<std::string>> failed_;
  std::vector<std::string> events_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<Process*> running_;
  Counts counts_;
  int last_version_ = 0;
  bool table_away_ = false;
  bool objects_away_ = false;
  bool quiet_ = false;
};

}  // namespace tidemark::documents
