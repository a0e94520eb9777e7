#include "apps/documents/observer.h"

#include <algorithm>
#include <array>
#include <string>

namespace tidemark::documents {

namespace {

constexpr std::string_view kOther = "other";
// The operations that take their time for themselves. A client waits for the first four.
constexpr std::array kMeasured = {std::string_view("read"),
                                  std::string_view("range"),
                                  std::string_view("write"),
                                  std::string_view("remove"),
                                  std::string_view("event"),
                                  std::string_view("backfill"),
                                  std::string_view("fsck"),
                                  std::string_view("compare"),
                                  std::string_view("repair"),
                                  std::string_view("settle"),
                                  kOther};

// An invalid request, an object that is not a document and a version that another caller replaced
// first are answers that the caller can act on. They must not raise the alarm on errors.
bool IsFailure(const Error& error) {
  return error.code != ErrorCode::kNotFound && error.code != ErrorCode::kInvalid &&
         error.code != ErrorCode::kConflict;
}

std::string_view OutcomeOf(const Operation& operation) {
  if (operation.error) return ToString(operation.error->code);
  if (!operation.found) return ToString(ErrorCode::kNotFound);
  return operation.outcome.empty() ? std::string_view("ok") : operation.outcome;
}

LogLevel LevelOf(const Operation& operation) {
  if (operation.dry_run) return LogLevel::kInfo;
  return operation.error && IsFailure(*operation.error) ? LogLevel::kWarning : LogLevel::kInfo;
}

}  // namespace

std::string_view ToString(CacheResult result) {
  if (result == CacheResult::kNone) return "none";
  return result == CacheResult::kHit ? "hit" : "miss";
}

Observer::Observer(const Runtime& runtime)
    : runtime_(runtime),
      hits_(runtime.metrics.AddCounter({.name = "tidemark_documents_cache_hits_total",
                                        .help = "Documents that the cache had."})),
      misses_(runtime.metrics.AddCounter(
          {.name = "tidemark_documents_cache_misses_total",
           .help = "Documents that the cache did not have, had expired, or could not be asked "
                   "for."})),
      throttled_(runtime.metrics.AddCounter(
          {.name = "tidemark_documents_throttled_total",
           .help = "Calls of the stores of documents that were refused because of their load."})),
      errors_(runtime.metrics.AddCounter(
          {.name = "tidemark_documents_errors_total",
           .help = "Operations on documents that failed. Not counted are documents that were not "
                   "found or not valid, and writes that lost to another writer."})),
      operations_(
          runtime.metrics.AddCounter({.name = "tidemark_documents_operations_total",
                                      .help = "Operations on documents, successful or not."})),
      event_delay_(runtime.metrics.AddHistogram(
          {.metric = {.name = "tidemark_documents_event_delay_seconds",
                      .help = "The time from a change of an object to the end of the handling of "
                              "its event, as far as events have their time."},
           .bounds = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600}})) {
  for (const std::string_view name : kMeasured) {
    seconds_[name] = &runtime.metrics.AddHistogram(
        {.metric = {.name = "tidemark_documents_operation_seconds",
                    .help = "How long operations on documents took, by operation.",
                    .labels = {{"operation", std::string(name)}}},
         .bounds = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 5, 30}});
  }
}

void Observer::Record(const Operation& operation) const {
  Count(operation);
  using Milliseconds = std::chrono::duration<double, std::milli>;
  runtime_.logger.Log(
      LevelOf(operation), operation.dry_run ? "documents (dry run)" : "documents",
      {{"operation", operation.name},
       {"key", operation.key},
       {"duration_ms", Milliseconds(operation.duration).count()},
       {"success", operation.error == nullptr && operation.found},
       {"outcome", OutcomeOf(operation)},
       {"cache", ToString(operation.cache)},
       {"retries", operation.retries},
       {"dry_run", operation.dry_run},
       {"error", operation.error ? std::string_view(operation.error->message) : ""}});
}

void Observer::RecordEvent(std::chrono::milliseconds changed) const {
  // The sender's clock may be ahead of ours.
  const auto delay = std::max(runtime_.clock.Now() - changed, std::chrono::milliseconds(0));
  event_delay_.Observe(std::chrono::duration<double>(delay).count());
}

void Observer::Warn(std::string_view message, std::string_view key, std::string_view what) const {
  runtime_.logger.Log(LogLevel::kWarning, message, {{"key", key}, {"what", what}});
}

OperationCounts Observer::counts() const {
  const auto count = [](const Counter& counter) { return static_cast<uint64_t>(counter.value()); };
  return {.operations = count(operations_),
          .hits = count(hits_),
          .misses = count(misses_),
          .errors = count(errors_),
          .throttled = count(throttled_)};
}

void Observer::Count(const Operation& operation) const {
  operations_.Add();
  const auto measured = seconds_.find(operation.name);
  Histogram& seconds = *(measured == seconds_.end() ? seconds_.at(kOther) : measured->second);
  seconds.Observe(std::chrono::duration<double>(operation.duration).count());
  if (operation.cache == CacheResult::kHit) hits_.Add();
  if (operation.cache == CacheResult::kMiss) misses_.Add();
  // Also calls that succeeded after a retry: throttling shows here before requests fail.
  throttled_.Add(operation.throttled);
  if (operation.error && IsFailure(*operation.error)) errors_.Add();
}

}  // namespace tidemark::documents
