// The Runtime of a program: the system's clock and randomness, real waiting, a log on standard
// error, and the process's metrics. A program makes one when it starts.
//
//   ProgramRuntime program(LogOptionsOf(settings));
//   api::Service::Start(options, {.tables = …, .runtime = program.runtime()});
//
// Outlives everything that was given its runtime. May be used from any thread.
#pragma once

#include "base/runtime.h"
#include "base/settings.h"

namespace tidemark::programs {

inline LogOptions LogOptionsOf(const Settings& settings) {
  return {.level = LogLevelFrom(settings.Text("log.level")),
          .format = LogFormatFrom(settings.Text("log.format"))};
}

class ProgramRuntime {
 public:
  explicit ProgramRuntime(const LogOptions& log = {}) : logger_(log, clock_) {}
  ProgramRuntime(const ProgramRuntime&) = delete;
  ProgramRuntime& operator=(const ProgramRuntime&) = delete;

  Runtime runtime() {
    return {.clock = clock_,
            .random = random_,
            .sleeper = sleeper_,
            .logger = logger_,
            .metrics = metrics_};
  }

 private:
  SystemClock clock_;
  SystemRandom random_;
  SystemSleeper sleeper_;
  Logger logger_;
  Metrics metrics_;
};

}  // namespace tidemark::programs
