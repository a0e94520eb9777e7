// A Context is what one request carries to everything that works for it: when it must be answered,
// whether its caller still wants the answer, and how often a store was asked again for it.
//
//   Tally tally;
//   const Context context{.deadline = Deadline::After(clock, options.deadline), .tally = &tally};
//
// Plain data. A context may be copied and used from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include "base/clock.h"
#include "base/deadline.h"

namespace tidemark::documents {

struct Tally {
  std::atomic<uint32_t> retries = 0;
  std::atomic<uint32_t> throttled = 0;  // Replies in which a store refused because of its load.
};

struct Context {
  Deadline deadline;
  // A default stop_token never stops.
  std::stop_token stop = {};
  Tally* tally = nullptr;  // Null: nothing is counted.

  bool IsOver() const { return stop.stop_requested() || deadline.HasPassed(); }
};

// A context for the last steps of a write, such as taking an intent out of its row: these must also
// run when the caller has given up. It is the given context while that has enough time left.
// Otherwise it has three seconds of its own and no stop.
inline Context ExtendToFinish(const Context& context, const Clock& clock) {
  constexpr std::chrono::seconds kTimeToFinish{3};
  if (!context.stop.stop_requested() && context.deadline.Remaining() >= kTimeToFinish) {
    return context;
  }
  return {.deadline = Deadline::After(clock, kTimeToFinish), .tally = context.tally};
}

}  // namespace tidemark::documents
