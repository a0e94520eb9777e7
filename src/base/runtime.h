// The services that all parts of the program share: time, randomness, waiting, the log and the
// metrics. `programs` makes one when the program starts; tests make theirs with
// tests/support/test_runtime.h. It is passed by value and kept by value.
//
//   Claims::Claims(ClaimsOptions options, tables::Tables* tables, const Runtime& runtime)
//       : runtime_(runtime) {...}
//
// All five outlive everything that they are given to, and may be used from any thread. They are
// references and never null.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sleeper.h"

namespace tidemark {

struct Runtime {
  const Clock& clock;
  Random& random;
  Sleeper& sleeper;
  const Logger& logger;
  Metrics& metrics;
};

}  // namespace tidemark
