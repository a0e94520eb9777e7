// The metrics of the engine (docs/metrics.md).
#pragma once

#include "base/metrics.h"

namespace tidemark::embedded {

class EngineMetrics {
 public:
  explicit EngineMetrics(Metrics* metrics);

  Counter& changes;
  Histogram& commit_seconds;
  Histogram& group_changes;
  Counter& failed_commits;
  Counter& swept_items;
  Counter& housekeeping_failures;
  Gauge& writable;
  Counter& recoveries;
  Gauge& sorted_runs;
};

}  // namespace tidemark::embedded
