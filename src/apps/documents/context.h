// What a request carries to everything that works for it: when it must be answered, whether its
// caller still wants it, and how often something was tried again for it.
//
//   Tally tally;
//   const Context context{.deadline = Deadline::After(clock, options.deadline), .tally = &tally};
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "base/deadline.h"

namespace tidemark::documents {

struct Tally {
  std::atomic<uint32_t> retries = 0;
  std::atomic<uint32_t> throttled = 0;  // Replies that a store was asked for too much.
};

struct Context {
  Deadline deadline;
  // Of a default stop_token nobody asks to stop.
  std::stop_token stop = {};
  Tally* tally = nullptr;  // Null: nobody counts.

  bool IsOver() const { return stop.stop_requested() || deadline.HasPassed(); }
};

}  // namespace tidemark::documents
