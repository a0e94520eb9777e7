// An endless stream of Slack events of a simulated workspace. Each is the complete body of a
// delivery. The mix, the sizes and the distribution over channels are those of a busy workspace.
// The same options and workspace give the same bytes.
//
//   EventGenerator generator({.seed = 7, .start = clock.NowSeconds()}, workspace);
//   GeneratedEvent event = generator.Next();
//   slack.Apply(event.changes);  // So that the Web API knows about the change.
//
// Events come in the order in which they happen; the Sender may change the order. Times advance
// with each event, and no clock is read. Only one thread may use a generator at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "servers/demo/workspace.h"

namespace tidemark::demo {

// How often each kind of event happens.
enum class Mix {
  kBusy,      // As in a busy workspace: mostly messages.
  kEventful,  // Every kind within a few hundred events, for tests.
};

struct EventOptions {
  uint64_t seed = 1;
  Mix mix = Mix::kBusy;
  // The time of the first event. Runs with other start times have other event ids.
  EpochSeconds start = 1'700'000'000;
  // The average time between two events.
  std::chrono::microseconds gap = std::chrono::milliseconds(100);
  // Sends channel_created for each public channel before its first message, as if the app had been
  // installed from the start. So a receiver knows the names of channels.
  bool names_channels = false;
  // The URL of files, without "/F…/name": PretendSlack::files_url().
  std::string files_url = "https://files.harbour.example/files";
};

struct GeneratedEvent {
  std::string event_id;
  std::string name;  // The subtype of the inner event, or its type if it has none.
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
