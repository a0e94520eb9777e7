// A History is the list of answers that processes got, in order: verifications that were started,
// those that were right, locks that were seen. FindViolation finds an answer that is wrong for
// every store, every clock and every order of calls.
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
#include <utility>
#include <vector>

#include "base/clock.h"

namespace tidemark::attempts {

enum class EventKind {
  kStarted,     // A slot was given: a secret is being verified.
  kRight,       // The secret was right, so this was not a guess.
  kSettled,     // The result `right` was recorded, now or by an earlier call.
  kLockSeen,    // With its end; nullopt: permanent.
  kNoLockSeen,  // The lock was read, and there was none.
  kLockLifted,
};

struct Event {
  EventKind kind = EventKind::kStarted;
  std::string id = {};
  EpochSeconds at = 0;  // The true time, which no process knows.
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
  // The maximum number of verifications that were started and not right, in any span of
  // `span_seconds`.
  size_t most = 0;
  int64_t span_seconds = INT64_MAX;
  // How far the clock of a process may be from the true one.
  int64_t skew_seconds = 0;
};

// nullopt: there is none.
std::optional<std::string> FindViolation(const History& history, const Bound& bound);

}  // namespace tidemark::attempts
