// Observer tells what documents do: a line in the log and the metrics for each operation. Its
// logger and metrics may be missing. May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "apps/documents/cache_error.h"
#include "apps/documents/context.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"

namespace tidemark::documents {

enum class CacheResult { kNone, kHit, kMiss };

std::string_view ToString(CacheResult result);  // "none", "hit", "miss"

// One operation that is over.
struct Operation {
  std::string_view name;  // "put", "get", "query", "write", "event", …
  std::string_view key;   // The document's id, or what else it was about.
  std::chrono::nanoseconds duration{0};
  const CacheError* error = nullptr;  // Null: it succeeded.
  // Instead of "ok" when there is more to say: "unchanged", "not cached".
  std::string_view outcome = {};
  CacheResult cache = CacheResult::kNone;
  uint32_t retries = 0;
  uint32_t throttled = 0;
  bool dry_run = false;
};

struct OperationCounts {
  uint64_t operations = 0;
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t errors = 0;
  uint64_t throttled = 0;
};

class Observer {
 public:
  // All outlive this; logger and metrics may be null.
  Observer(const Clock* clock, const Logger* logger, Metrics* metrics);

  void Tell(const Operation& operation) const;
  // A line beside the operations: a repair that is due, a part of an answer that is missing.
  void Warn(std::string_view message, std::string_view key, std::string_view what) const;
  const Clock& clock() const { return clock_; }
  // Of this process so far; nullopt when there are no metrics, and so nobody counts.
  std::optional<OperationCounts> counts() const;

  // Does the work and tells of it, with its time, its error and its retries. The work may fill in
  // what else there is to say.
  template <typename T>
  Outcome<T> Observe(const Context& context, Operation operation,
                     const std::function<Outcome<T>(const Context&, Operation&)>& work) const {
    Tally tally;
    Context counted = context;
    counted.tally = &tally;
    const std::chrono::nanoseconds start = clock_.Monotonic();
    Outcome<T> outcome = work(counted, operation);
    operation.duration = clock_.Monotonic() - start;
    operation.retries = tally.retries;
    operation.throttled = tally.throttled;
    if (!outcome) operation.error = &outcome.error();
    Tell(operation);
    if (context.tally) context.tally->retries += operation.retries;
    return outcome;
  }

 private:
  struct Counters {
    Counter* hits = nullptr;
    Counter* misses = nullptr;
    Counter* throttled = nullptr;
    Counter* errors = nullptr;
    Counter* operations = nullptr;
    Histogram* seconds = nullptr;
  };

  void Count(const Operation& operation) const;

  const Clock& clock_;
  const Logger* const logger_;
  Counters counters_;
};

}  // namespace tidemark::documents
