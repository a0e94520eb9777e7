#include "tables/embedded/engine_metrics.h"

namespace tidemark::embedded {

EngineMetrics::EngineMetrics(Metrics* metrics)
    : changes(metrics->AddCounter({.name = "tidemark_tables_changes_total",
                                   .help = "Requests that write, decided by the committer."})),
      commit_seconds(metrics->AddHistogram(
          {.metric = {.name = "tidemark_tables_commit_seconds",
                      .help = "Time to write one group, with its sync."},
           .bounds = {0.00001, 0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5}})),
      group_changes(metrics->AddHistogram({.metric = {.name = "tidemark_tables_group_changes",
                                                      .help = "Requests that shared one commit."},
                                           .bounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 1024}})),
      failed_commits(metrics->AddCounter({.name = "tidemark_tables_failed_commits_total",
                                          .help = "Groups that could not be written to disk."})),
      swept_items(metrics->AddCounter({.name = "tidemark_tables_swept_items_total",
                                       .help = "Expired items that the sweeper found."})),
      housekeeping_failures(
          metrics->AddCounter({.name = "tidemark_tables_housekeeping_failures_total",
                               .help = "Rounds of housekeeping or of the watch that ended with an "
                                       "error."})),
      writable(
          metrics->AddGauge({.name = "tidemark_tables_writable",
                             .help = "1 while writes are accepted, 0 while all are refused."})),
      recoveries(metrics->AddCounter(
          {.name = "tidemark_tables_recoveries_total",
           .help = "Times that the store was opened again after a full disk or exhausted "
                   "descriptors."})),
      sorted_runs(
          metrics->AddGauge({.name = "tidemark_tables_sorted_runs",
                             .help = "Sorted runs of files that a read may have to look into."})) {
  writable.Set(1);
}

}  // namespace tidemark::embedded
