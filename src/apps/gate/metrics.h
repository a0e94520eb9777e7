// The metrics of the gate. May be used from any thread.
#pragma once

#include "base/metrics.h"

namespace tidemark::gate {

struct ExistenceMetrics {
  explicit ExistenceMetrics(Metrics& metrics);

  Counter& failures;
  Counter& cache_hits;
  Counter& cache_misses;
  Counter& listed;
  Histogram& slack_seconds;
};

struct GateMetrics {
  explicit GateMetrics(Metrics& metrics);

  Counter& allowed;
  Counter& denied;
  Counter& unknown;
  Counter& signature_failures;
  Counter& replays;
};

struct QuarantineMetrics {
  explicit QuarantineMetrics(Metrics& metrics);

  Counter& quarantined;
  Counter& promoted;
  Counter& given_up;
};

}  // namespace tidemark::gate
