// A Process is one server of the simulation: everything that `tidemark serve` runs, without sockets
// and threads. It shares tables, objects and the HTTP client with the other processes. It can die
// at every call to any of them, before the call or right after it.
//
//   Process process(parts, 7);
//   Status started = process.Start();
//   http::Response response = process.Receive(request);
//
// A process that dies throws Killed through all its code, and nothing that it does afterwards has
// an effect. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/dedup/deduplicator.h"
#include "apps/gate/gate.h"
#include "apps/gate/quarantine.h"
#include "base/sleeper.h"
#include "objects/objects.h"
#include "servers/api/archive/service.h"
#include "servers/api/front_door/slack_events.h"
#include "tests/support/forwarding_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::testing {

inline constexpr char kSigningSecret[] = "0123456789abcdef0123456789abcdef";

struct Killed {};

// Decides what happens at a call. The simulation implements it.
struct Chances {
  virtual ~Chances() = default;
  // Called before and after each call. May throw Killed: then the process is dead.
  virtual void OnMoment(size_t process) = 0;
  virtual bool IsDead(size_t process) const = 0;
  virtual std::optional<Fault> FaultIn(size_t process, Operation operation) = 0;
  // How a request to Slack's directory ends.
  virtual slack::LookupOutcome LookUp() = 0;
  virtual bool ObjectsAreAway() = 0;
};

// All outlive the process.
struct ProcessParts {
  size_t number = 0;
  Chances* chances = nullptr;
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;
  http::Client* client = nullptr;
  ManualClock* clock = nullptr;
  Sleeper* sleeper = nullptr;
  const Logger* logger = nullptr;
  std::string spool;
};

class Process {
 public:
  Process(const ProcessParts& parts, uint64_t seed);
  ~Process();

  Status Start();
  http::Response Receive(const http::Request& request);
  Status StepRows();
  Status StepFiles();
  Status Recheck();
  Status Beat();

 private:
  class Tables;
  class Objects;
  class Directory;
  class Service;
  struct Own;
  std::unique_ptr<Own> own_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<Objects> objects_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<Service> service_;
};

}  // namespace tidemark::testing
