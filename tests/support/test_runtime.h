// A Runtime for tests. Only the test, and code that waits, move its clock. Its randomness has a
// fixed seed, its log is kept as text, and it has its own metrics.
//
//   TestRuntime test;
//   Claims claims({}, &tables, test.runtime());
//   test.clock.Advance(std::chrono::seconds(60));
//   EXPECT_NE(test.TakeLog().find("claim lost"), std::string::npos);
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include "base/runtime.h"
#include "tests/support/manual_time.h"

namespace tidemark::testing {

class TestRuntime {
 public:
  explicit TestRuntime(uint64_t seed = 1) : random(seed) {}

  Runtime runtime() {
    return {
        .clock = clock, .random = random, .sleeper = sleeper, .logger = logger, .metrics = metrics};
  }

  // Returns the log lines since the last call, in JSON. Do not call it while another thread logs.
  std::string TakeLog() {
    std::string text = log_.str();
    log_.str("");
    return text;
  }

  ManualClock clock;
  SeededRandom random;
  ManualSleeper sleeper{&clock};

 private:
  std::ostringstream log_;

 public:
  Logger logger{{.level = LogLevel::kDebug, .format = LogFormat::kJson}, clock, &log_};
  Metrics metrics;
};

}  // namespace tidemark::testing
