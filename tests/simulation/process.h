// A Process is one server of the simulation: all that `tidemark serve` makes, but for sockets and
// threads, over tables, objects and a client that it shares with the other processes. It can die at
// every call that it makes to any of them, before the call or right after it.
//
//   Process process(parts, 7);
//   Status started = process.Start();
//   http::Response response = process.Receive(request);
//
// A process that dies throws Killed through everything, and what it does from then on reaches
// nobody. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/dedup/deduplicator.h"
#include "apps/gate/gate.h"
#include "apps/gate/quarantine.h"
#include "base/sleeper.h"
#include "objects/objects.h"
#include "servers/api/archive_service.h"
#include "servers/api/slack_events.h"
#include "tests/support/forwarding_tables.h"

namespace tidemark::testing {

inline constexpr char kSigningSecret[] = "0123456789abcdef0123456789abcdef";

struct Killed {};

// What may happen at a call: the simulation decides.
struct Chances {
  virtual ~Chances() = default;
  // Before a call and after it; may throw Killed, and then the process is dead.
  virtual void OnMoment(size_t process) = 0;
  virtual bool IsDead(size_t process) const = 0;
  virtual std::optional<Fault> FaultIn(size_t process, Operation operation) = 0;
  // How a question to Slack's directory ends.
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
