#include "apps/gate/metrics.h"

namespace tidemark::gate {

namespace {

Counter& AddVerdicts(Metrics& metrics, const std::string& decision) {
  return metrics.AddCounter({.name = "tidemark_gate_verdicts_total",
                             .help = "Decisions of the gate about signed events.",
                             .labels = {{"decision", decision}}});
}

}  // namespace

ExistenceMetrics::ExistenceMetrics(Metrics& metrics)
    : failures(metrics.AddCounter({.name = "tidemark_gate_existence_failures_total",
                                   .help = "Existence checks that ended in deny or unknown."})),
      cache_hits(metrics.AddCounter({.name = "tidemark_gate_existence_cache_hits_total",
                                     .help = "Existence checks that the table answered."})),
      cache_misses(metrics.AddCounter({.name = "tidemark_gate_existence_cache_misses_total",
                                       .help = "Existence checks that the table did not answer."})),
      listed(metrics.AddCounter({.name = "tidemark_gate_listed_total",
                                 .help = "Users and channels that needed no look-up, because a "
                                         "list of Slack had them."})),
      slack_seconds(
          metrics.AddHistogram({.metric = {.name = "tidemark_gate_slack_seconds",
                                           .help = "Time that Slack took for a set of look-ups."},
                                .bounds = {0.05, 0.1, 0.25, 0.5, 1, 2, 3}})) {}

GateMetrics::GateMetrics(Metrics& metrics)
    : allowed(AddVerdicts(metrics, "allow")),
      denied(AddVerdicts(metrics, "deny")),
      unknown(AddVerdicts(metrics, "unknown")),
      signature_failures(
          metrics.AddCounter({.name = "tidemark_gate_signature_failures_total",
                              .help = "Requests that were too large or not signed by Slack."})),
      replays(metrics.AddCounter({.name = "tidemark_gate_replays_total",
                                  .help = "Signed requests that were refused as replays, or "
                                          "because the replay memory was full."})) {}

QuarantineMetrics::QuarantineMetrics(Metrics& metrics)
    : quarantined(metrics.AddCounter({.name = "tidemark_gate_quarantined_total",
                                      .help = "Events that were put into quarantine."})),
      promoted(metrics.AddCounter({.name = "tidemark_gate_promoted_total",
                                   .help = "Events that left quarantine because they passed."})),
      given_up(metrics.AddCounter(
          {.name = "tidemark_gate_given_up_total",
           .help = "Events that could not be verified in time. They are not stored."})) {}

}  // namespace tidemark::gate
