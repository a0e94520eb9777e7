// Whether the store is away, and when to ask it again: by comparing clocks, not by a timer, which
// would stand still while the process is frozen.
//
// Guarded by its owner's lock.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace tidemark::dedup {

class Outage {
 public:
  // The clock outlives this.
  Outage(std::chrono::seconds period, const Clock* clock) : period_(period), clock_(*clock) {}

  // The store is away, and the period in which it is not asked has not passed.
  bool InEffect() const;
  // The store did not answer. True when a new period begins with it.
  bool Begin();
  // The store answered. True when it had been away.
  bool End();

 private:
  const std::chrono::seconds period_;
  const Clock& clock_;
  bool away_ = false;
  std::chrono::milliseconds wall_start_ = {};
  std::chrono::nanoseconds start_ = {};
};

}  // namespace tidemark::dedup
