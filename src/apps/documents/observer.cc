#include "apps/documents/observer.h"

#include <string>

namespace tidemark::documents {

namespace {

void Add(Counter* counter) {
  if (counter) counter->Add();
}

// What a caller can do something about is an answer; that another version came first is one.
bool IsFailure(const CacheError& error) {
  return error.type != CacheErrorType::kNotFound && error.type != CacheErrorType::kValidation &&
         error.type != CacheErrorType::kConflict;
}

std::string_view OutcomeOf(const Operation& operation) {
  if (operation.error) return ToString(operation.error->type);
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

Observer::Observer(const Clock* clock, const Logger* logger, Metrics* metrics)
    : clock_(*clock), logger_(logger) {
  if (!metrics) return;
  counters_.hits = &metrics->AddCounter(
      {.name = "tidemark_documents_cache_hits_total", .help = "Documents that the cache had."});
  counters_.misses = &metrics->AddCounter({.name = "tidemark_documents_cache_misses_total",
                                           .help = "Documents that the cache did not have, had "
                                                   "expired, or could not be asked for."});
  counters_.throttled =
      &metrics->AddCounter({.name = "tidemark_documents_throttled_total",
                            .help = "Replies that a store of documents was asked for too much."});
  counters_.errors = &metrics->AddCounter(
      {.name = "tidemark_documents_errors_total",
       .help = "Operations on documents that failed, beside what was not found, not valid, or "
               "written by another first."});
  counters_.operations =
      &metrics->AddCounter({.name = "tidemark_documents_operations_total",
                            .help = "Operations on documents, whatever came of them."});
  counters_.seconds = &metrics->AddHistogram(
      {.metric = {.name = "tidemark_documents_operation_seconds",
                  .help = "How long operations on documents took."},
       .bounds = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 5, 30}});
}

void Observer::Tell(const Operation& operation) const {
  Count(operation);
  if (!logger_) return;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  logger_->Log(LevelOf(operation), operation.dry_run ? "documents (dry run)" : "documents",
               {{"operation", operation.name},
                {"key", operation.key},
                {"duration_ms", Milliseconds(operation.duration).count()},
                {"success", operation.error == nullptr},
                {"outcome", OutcomeOf(operation)},
                {"cache", ToString(operation.cache)},
                {"retries", operation.retries},
                {"dry_run", operation.dry_run},
                {"error", operation.error ? std::string_view(operation.error->message) : ""}});
}

void Observer::Warn(std::string_view message, std::string_view key, std::string_view what) const {
  if (logger_) logger_->Log(LogLevel::kWarning, message, {{"key", key}, {"what", what}});
}

std::optional<OperationCounts> Observer::counts() const {
  if (!counters_.operations) return std::nullopt;
  const auto count = [](const Counter* counter) { return static_cast<uint64_t>(counter->value()); };
  return OperationCounts{.operations = count(counters_.operations),
                         .hits = count(counters_.hits),
                         .misses = count(counters_.misses),
                         .errors = count(counters_.errors),
                         .throttled = count(counters_.throttled)};
}

void Observer::Count(const Operation& operation) const {
  Add(counters_.operations);
  if (counters_.seconds) {
    counters_.seconds->Observe(std::chrono::duration<double>(operation.duration).count());
  }
  if (operation.cache == CacheResult::kHit) Add(counters_.hits);
  if (operation.cache == CacheResult::kMiss) Add(counters_.misses);
  // Also what was retried with success: whoever is throttled is told so before it hurts.
  if (counters_.throttled) counters_.throttled->Add(operation.throttled);
  if (operation.error && IsFailure(*operation.error)) Add(counters_.errors);
}

}  // namespace tidemark::documents
