// The Runtime of one process among several that a test runs at the same time: they share the clock,
// and each has its own randomness, log and metrics.
//
//   ManualClock time;
//   ProcessRuntime first(time, &time, 1);
//   ProcessRuntime second(time, &time, 2);
#pragma once

#include <cstdint>
#include <sstream>

#include "base/runtime.h"
#include "tests/support/manual_time.h"

namespace tidemark::testing {

class ProcessRuntime {
 public:
  // Waiting moves `time` forward. `clock` is the clock that the process reads: `time` itself, or
  // one that differs from it.
  ProcessRuntime(const Clock& clock, ManualClock* time, uint64_t seed)
      : random(seed), sleeper(time), clock_(clock) {}

  Runtime runtime() {
    return {.clock = clock_,
            .random = random,
            .sleeper = sleeper,
            .logger = logger_,
            .metrics = metrics};
  }

  SeededRandom random;
  ManualSleeper sleeper;
  Metrics metrics;

 private:
  const Clock& clock_;
  std::ostringstream log_;
  Logger logger_{{.level = LogLevel::kError}, clock_, &log_};
};

}  // namespace tidemark::testing
