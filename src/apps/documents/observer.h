// Observer writes a line in the log and updates the metrics for each operation on documents.
//
//   return observer.Observe<ReadReply>(context, {.name = "read", .key = id},
//                                      [&](const Context& counted, Operation& operation) {
//                                        return Read(counted, id, operation);
//                                      });
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "apps/documents/context.h"
#include "base/result.h"
#include "base/runtime.h"

namespace tidemark::documents {

enum class CacheResult { kNone, kHit, kMiss };

std::string_view ToString(CacheResult result);  // "none", "hit", "miss"

// One operation that has ended.
struct Operation {
  std::string_view name;  // "read", "range", "write", "event", … The metrics have it as a label.
  std::string_view key;   // The document's id, or the range of a query.
  std::chrono::nanoseconds duration{0};
  const Error* error = nullptr;  // Null: it succeeded.
  bool found = true;             // False: there is no such document, which is not an error.
  // Logged in place of "ok": "unchanged", "not cached".
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
  explicit Observer(const Runtime& runtime);

  void Record(const Operation& operation) const;
  // An event about a change at `changed` was handled now.
  void RecordEvent(std::chrono::milliseconds changed) const;
  // A warning about something that is not an operation, such as a part of an answer that is
  // missing.
  void Warn(std::string_view message, std::string_view key, std::string_view what) const;
  const Clock& clock() const { return runtime_.clock; }
  // The counts since this process started.
  OperationCounts counts() const;

  // Does the work, then logs and counts it with its time, its error and its retries. The work gets
  // a context that counts retries, and may set more fields of the operation.
  template <typename T>
  Result<T> Observe(const Context& context, Operation operation,
                    const std::function<Result<T>(const Context&, Operation&)>& work) const {
    Tally tally;
    Context counted = context;
    counted.tally = &tally;
    const std::chrono::nanoseconds start = runtime_.clock.Monotonic();
    Result<T> result = work(counted, operation);
    operation.duration = runtime_.clock.Monotonic() - start;
    operation.retries = tally.retries;
    operation.throttled = tally.throttled;
    if (!result) operation.error = &result.error();
    Record(operation);
    if (context.tally) context.tally->retries += operation.retries;
    return result;
  }

 private:
  void Count(const Operation& operation) const;

  const Runtime runtime_;
  Counter& hits_;
  Counter& misses_;
  Counter& throttled_;
  Counter& errors_;
  Counter& operations_;
  // By the name of the operation. What has no histogram of its own is under "other".
  std::map<std::string_view, Histogram*> seconds_;
  Histogram& event_delay_;
};

}  // namespace tidemark::documents
