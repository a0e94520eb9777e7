// A History is what processes were told, in order: which verifications were started, which of them
// were right, which locks were seen. FindViolation says what in it cannot be, whatever the store,
// the clocks and the order of things were.
//
//   const size_t began = history.Begin();
//   if (Reserve(...) == permitted) history.Add({.kind = EventKind::kStarted, .began = began, ...});
//   EXPECT_EQ(FindViolation(history, {.most = 6}), std::nullopt);
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace tidemark::attempts {

enum class EventKind {
  kStarted,     // A slot was given: a secret is being verified.
  kRight,       // The secret was right: this was no guess.
  kSettled,     // The outcome was recorded, as `right` says; also when it had been before.
  kLockSeen,    // With its end; nullopt: permanent.
  kNoLockSeen,  // The lock was looked for.
  kLockLifted,
};

struct Event {
  EventKind kind = EventKind::kStarted;
  std::string id = {};
  EpochSeconds at = 0;  // By the true clock, which no process has.
  size_t began = 0;     // How many events there were when the call began.
  std::optional<EpochSeconds> until = std::nullopt;
  bool right = false;
  bool reached = false;
};

class History {
 public:
  size_t Begin() const { return events_.size(); }
  void Add(Event event) { events_.push_back(std::move(event)); }
  const std::vector<Event>& events() const { return events_; }

 private:
  std::vector<Event> events_;
};

struct Bound {
  // Verifications that were started and not right, in any span of so many seconds.
  size_t most = 0;
  int64_t span_seconds = INT64_MAX;
  // How far the clock of a process may be from the true one.
  int64_t skew_seconds = 0;
};

// nullopt: there is none.
std::optional<std::string> FindViolation(const History& history, const Bound& bound);

}  // namespace tidemark::attempts
