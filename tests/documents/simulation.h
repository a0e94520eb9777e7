// A deterministic simulation of documents: several processes with one table, one object store and
// its events. At each call to a store, other processes may run complete operations first. Requests
// and replies get lost, requests arrive late, stores are not available for a while, processes die
// and restart, and their clocks differ. One seed decides everything.
//
// Every answer is checked against the history of the objects:
// - no reader gets a version that was never in the object, by id or in a range;
// - the cache never returns an older version after a newer one or after an acknowledged write;
// - a range that says that it is complete leaves out no document that was there all the time, since
//   the cache last showed it or since the time as of which the range is complete;
// - a write that was reported as failed never happens.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/documents/backfill.h"
#include "apps/documents/event_handler.h"
#include "apps/documents/fallback_reader.h"
#include "apps/documents/fsck.h"
#include "apps/documents/range_reader.h"
#include "apps/documents/repairs.h"
#include "apps/documents/write_through.h"
#include "tests/documents/world.h"
#include "tests/support/manual_time.h"
#include "tests/support/offset_clock.h"

namespace tidemark::documents {

// The history of an object, in order. It begins without an object.
class ObjectHistory {
 public:
  struct Version {
    std::string etag;
    std::optional<std::string> json;     // nullopt: there was none.
    std::chrono::milliseconds since{0};  // When it became this.
  };

  void Add(Version version) { versions_.push_back(std::move(version)); }
  size_t Last() const { return versions_.size() - 1; }
  // nullopt when the object never had this content.
  std::optional<size_t> Find(const std::string& etag, const std::string& json) const;
  // The last place at which it had this text.
  std::optional<size_t> FindText(const std::string& json) const;
  // The first place from `from` on at which there was no object.
  std::optional<size_t> FindAbsent(size_t from) const;
  // Whether there was no object at some time since then.
  bool WasAbsentSince(std::chrono::milliseconds time) const;

 private:
  std::vector<Version> versions_ = {{}};
};

struct SimulationOptions {
  uint64_t seed = 0;
  // Other programs write to the object store without the cache, and requests arrive after their
  // clients gave them up. Only events report this, and events may get lost. So at the end all
  // objects must be compared with their rows.
  bool outsiders = false;
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  ~Simulation();

  // Runs so many steps one after the other, each with steps of other processes inside it. Then
  // failures end, and everything is settled.
  void Run(int steps);

  // Shows that the run did something.
  struct Counts {
    size_t written = 0;
    size_t hits = 0;
    size_t complete_ranges = 0;  // From the cache.
    size_t marks = 0;            // Runs over all objects that ended.
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
  void Change();  // Of a program that does not use the cache.
  void DeliverEvent();
  void ComeToRest();
  Process* PickIdle();
  const std::string& PickId();
  // Called before each call to a store. It may throw, which ends the calling process.
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
  std::map<std::string, size_t>
      floors_;  // By id: the newest version that was returned or acknowledged.
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
