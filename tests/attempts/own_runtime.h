// A Runtime with its own log, metrics and sleeper, for one of several processes in a test. The
// waits between two rounds of a decision take no time, and do not move the clock of the test.
#pragma once

#include <chrono>
#include <sstream>
#include <vector>

#include "base/runtime.h"
#include "tests/support/manual_time.h"

namespace tidemark::attempts {

class OwnRuntime {
 public:
  // Both outlive this.
  OwnRuntime(const Clock* clock, Random* random) : clock_(*clock), random_(*random) {}

  Runtime runtime() {
    return {.clock = clock_,
            .random = random_,
            .sleeper = sleeper_,
            .logger = logger,
            .metrics = metrics};
  }

  std::vector<std::chrono::milliseconds> slept() const { return sleeper_.slept(); }

 private:
  const Clock& clock_;
  Random& random_;
  ManualClock waited_;
  ManualSleeper sleeper_{&waited_};

 public:
  std::ostringstream log;
  Logger logger{{}, clock_, &log};
  Metrics metrics;
};

}  // namespace tidemark::attempts
