// The gate's metrics, each of which may be missing: whoever counts does not ask whether anybody
// listens, and no verdict depends on it. May be called from any thread.
#pragma once

#include "base/metrics.h"

namespace tidemark::gate {

struct ExistenceMetrics {
  // Null: nothing is counted.
  explicit ExistenceMetrics(Metrics* metrics);

  Counter* failures = nullptr;
  Counter* cache_hits = nullptr;
  Counter* cache_misses = nullptr;
  Histogram* slack_seconds = nullptr;
};

struct GateMetrics {
  explicit GateMetrics(Metrics* metrics);

  Counter* allowed = nullptr;
  Counter* denied = nullptr;
  Counter* unknown = nullptr;
  Counter* signature_failures = nullptr;
  Counter* replays = nullptr;
};

struct QuarantineMetrics {
  explicit QuarantineMetrics(Metrics* metrics);

  Counter* quarantined = nullptr;
  Counter* promoted = nullptr;
};

inline void Count(Counter* counter) {
  if (counter != nullptr) counter->Add();
}

}  // namespace tidemark::gate
