#include "apps/dedup/observer.h"

#include <string>

namespace tidemark::dedup {

namespace {

// The metric's labels, in the order of ClaimOutcome; the last is for checks that failed.
constexpr std::array<std::string_view, 8> kLabels = {
    "new",     "duplicate", "running", "failed", "payload_mismatch", "outcome_unknown",
    "refused", "error"};

// In the log there are, as the seed has it, new and duplicate; and what is neither.
std::string_view ResultOf(const Result<ClaimReply>& reply) {
  if (!reply) return "error";
  if (reply->outcome == ClaimOutcome::kNew) return "new";
  return reply->outcome == ClaimOutcome::kRefused ? "refused" : "duplicate";
}

}  // namespace

Observer::Observer(const Logger* logger, Metrics* metrics) : logger_(logger) {
  if (!metrics) return;
  for (size_t i = 0; i < kLabels.size(); ++i) {
    checks_[i] = &metrics->AddCounter({.name = "tidemark_dedup_checks_total",
                                       .help = "Checks of a key, by what came of them.",
                                       .labels = {{"result", std::string(kLabels[i])}}});
  }
  store_errors_ = &metrics->AddCounter(
      {.name = "tidemark_dedup_store_errors_total",
       .help = "Calls to the claims in the table that failed after their retries."});
  possible_duplicates_ = &metrics->AddCounter(
      {.name = "tidemark_dedup_possible_duplicates_total",
       .help = "Keys that may have been handled twice because the table was away."});
  fallback_ = &metrics->AddGauge({.name = "tidemark_dedup_fallback",
                                  .help = "1 while memory decides because the table is away."});
  seconds_ = &metrics->AddHistogram(
      {.metric = {.name = "tidemark_dedup_check_seconds", .help = "Time to check a key."},
       .bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}});
}

void Observer::Checked(std::string_view key, const Result<ClaimReply>& reply,
                       std::chrono::nanoseconds latency) {
  const std::chrono::duration<double> seconds = latency;
  if (seconds_) {
    seconds_->Observe(seconds.count());
    checks_[reply ? static_cast<size_t>(reply->outcome) : kLabels.size() - 1]->Add();
  }
  if (!logger_) return;
  logger_->Log(reply ? LogLevel::kInfo : LogLevel::kError, "deduplication check",
               {{"key", key},
                {"result", ResultOf(reply)},
                {"reason", reply ? std::string_view(reply->reason) : reply.error().message},
                {"latency_ms", seconds.count() * 1000},
                {"fallback", reply && reply->fallback}});
}

void Observer::StoreFailed() {
  if (store_errors_) store_errors_->Add();
}

void Observer::OutageBegan(const Error& error, std::chrono::seconds period) {
  if (fallback_) fallback_->Set(1);
  if (!logger_) return;
  logger_->Log(LogLevel::kError, "deduplication store is away",
               {{"error", error.message}, {"asked_again_after_s", period.count()}});
}

void Observer::OutageEnded() {
  if (fallback_) fallback_->Set(0);
  if (logger_) logger_->Log(LogLevel::kInfo, "deduplication store is back");
}

void Observer::MaybeDuplicate(std::string_view key, std::string_view reason) {
  if (possible_duplicates_) possible_duplicates_->Add();
  if (!logger_) return;
  logger_->Log(LogLevel::kWarning, "event may have been handled twice",
               {{"key", key}, {"reason", reason}});
}

}  // namespace tidemark::dedup
