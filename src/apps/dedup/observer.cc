#include "apps/dedup/observer.h"

#include <string>

namespace tidemark::dedup {

namespace {

// The labels of the metric, in the order of ClaimOutcome. The last one is for checks that failed.
constexpr std::array<std::string_view, 8> kCheckLabels = {
    "new",     "duplicate", "running", "failed", "payload_mismatch", "outcome_unknown",
    "refused", "error"};

// The log has "new" and "duplicate", as the seed has it, and two more for what is neither.
std::string_view LoggedResultOf(const Result<ClaimReply>& reply) {
  if (!reply) return "error";
  if (reply->outcome == ClaimOutcome::kNew) return "new";
  return reply->outcome == ClaimOutcome::kRefused ? "refused" : "duplicate";
}

// A busy server makes tens of thousands of checks a second, so the usual ones are not logged at the
// default level.
LogLevel LevelOf(const Result<ClaimReply>& reply) {
  if (!reply) return LogLevel::kError;
  return reply->fallback ? LogLevel::kInfo : LogLevel::kDebug;
}

}  // namespace

Observer::Observer(const std::string& table, const Logger& logger, Metrics& metrics)
    : logger_(logger),
      store_errors_(metrics.AddCounter(
          {.name = "tidemark_dedup_store_errors_total",
           .help = "Calls to the claims in the table that failed after their retries.",
           .labels = {{"table", table}}})),
      possible_duplicates_(metrics.AddCounter(
          {.name = "tidemark_dedup_possible_duplicates_total",
           .help = "Keys that may have been handled twice because the table was not available.",
           .labels = {{"table", table}}})),
      fallback_(
          metrics.AddGauge({.name = "tidemark_dedup_fallback",
                            .help = "1 while memory decides because the table is not available.",
                            .labels = {{"table", table}}})),
      seconds_(metrics.AddHistogram(
          {.metric = {.name = "tidemark_dedup_check_seconds",
                      .help = "Time to check a key.",
                      .labels = {{"table", table}}},
           .bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}})) {
  for (size_t i = 0; i < kCheckLabels.size(); ++i) {
    checks_[i] = &metrics.AddCounter(
        {.name = "tidemark_dedup_checks_total",
         .help = "Checks of a key, by their result.",
         .labels = {{"result", std::string(kCheckLabels[i])}, {"table", table}}});
  }
}

void Observer::RecordCheck(std::string_view key, const Result<ClaimReply>& reply,
                           std::chrono::nanoseconds latency) {
  const std::chrono::duration<double> seconds = latency;
  seconds_.Observe(seconds.count());
  checks_[reply ? static_cast<size_t>(reply->outcome) : kCheckLabels.size() - 1]->Add();
  logger_.Log(LevelOf(reply), "deduplication check",
              {{"key", key},
               {"result", LoggedResultOf(reply)},
               {"reason", reply ? std::string_view(reply->reason) : reply.error().message},
               {"latency_ms", seconds.count() * 1000},
               {"fallback", reply && reply->fallback}});
}

void Observer::RecordStoreError() { store_errors_.Add(); }

void Observer::RecordOutage(const Error& error, std::chrono::seconds period) {
  fallback_.Set(1);
  logger_.Log(LogLevel::kError, "deduplication store is not available",
              {{"error", error.message}, {"asked_again_after_s", period.count()}});
}

void Observer::RecordRecovery() {
  fallback_.Set(0);
  logger_.Log(LogLevel::kInfo, "deduplication store is available again");
}

void Observer::RecordPossibleDuplicate(std::string_view key, std::string_view reason) {
  possible_duplicates_.Add();
  logger_.Log(LogLevel::kWarning, "event may have been handled twice",
              {{"key", key}, {"reason", reason}});
}

}  // namespace tidemark::dedup
