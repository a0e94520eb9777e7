// An endless stream of Slack events in a pretend workspace: complete bodies of deliveries, with
// the mix, the sizes and the skew of a busy workspace. The same options and workspace give the same
// bytes.
//
//   EventGenerator generator({.seed = 7, .start = clock.NowSeconds()}, workspace);
//   GeneratedEvent event = generator.Next();
//   slack.Apply(event.changes);  // So that the Web API knows what the event tells of.
//
// Events come in the order in which they happen; out of order is the sender's business. Times
// move on by themselves and never read a clock. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "servers/demo/workspace.h"

namespace tidemark::demo {

// What happens how often.
enum class Mix {
  kBusy,      // As in a busy workspace: mostly messages.
  kEventful,  // Everything soon, for tests that are to see all of it in a few hundred events.
};

struct EventOptions {
  uint64_t seed = 1;
  Mix mix = Mix::kBusy;
  // When the first event happens; events of runs with other starts have other ids.
  EpochSeconds start = 1'700'000'000;
  // Between two events, on average.
  std::chrono::microseconds gap = std::chrono::milliseconds(100);
  // Tells of each public channel's creation before the first message in it: as if the app had been
  // there from the start, and so knew their names.
  bool names_channels = false;
  // Where the files are, before "/F…/name": PretendSlack::files_url().
  std::string files_url = "https://files.harbour.example/files";
};

struct GeneratedEvent {
  std::string event_id;
  std::string name;  // The inner event's subtype, or else its type.
  std::string body;
  Changes changes = {};
};

class Script;

class EventGenerator {
 public:
  EventGenerator(EventOptions options, Workspace workspace);
  ~EventGenerator();
  EventGenerator(EventGenerator&&) noexcept;
  EventGenerator& operator=(EventGenerator&&) noexcept;

  GeneratedEvent Next();

 private:
  std::unique_ptr<Script> script_;
};

}  // namespace tidemark::demo
