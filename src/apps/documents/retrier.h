// Retrier calls a store until it answers. A throttled call is tried again after 100, 200, 400, 800
// and 1600 ms, a call without an answer after 1, 2 and 4 s, and any other error not at all. It
// never waits past the context's deadline, and stops when the caller has given up.
//
//   Result<PutReply> reply = retrier.Run<PutReply>(context, Store::kTable, "writing the row",
//                                                  [&] { return tables.Put(request); });
//
// The call must be safe to repeat: after kUnknown it is made again although it may have been done.
//
// Errors of the stores are translated here and nowhere else. The rest of the folder therefore
// branches on these codes:
//
//   kThrottled                     the table has too much to do, also after the retries
//   kUnreachable, kUnknown         no answer, also after the retries
//   kUnavailable                   no store could answer
//   kCancelled                     the caller gave up, or the deadline passed
//   kDenied, kCorrupt, kInternal   a store refuses, or a mistake of ours: a retry does not help
//   kInvalid, kConflict            the caller's request; never from a store
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/documents/context.h"
#include "base/rate_limiter.h"
#include "base/result.h"
#include "base/retry.h"
#include "base/runtime.h"

namespace tidemark::documents {

enum class Store { kTable, kObjects };

std::string_view ToString(Store store);  // "the table", "the object store"

// A store's error in the words of documents, "the table: writing a row: …". kUnavailable from the
// table means throttling, from the object store that it did not answer. kInvalid and kNotFound from
// a store are a mistake of ours or of the administrator, not of the caller, and become kInternal.
Error TranslateError(Store store, std::string_view doing, const Error& error);

// Whether the same call may succeed later.
bool IsRetryable(ErrorCode code);

// One error for two stores that failed, "first; second". kUnavailable when one of them may recover,
// otherwise kInternal.
Error CombineErrors(const Error& first, const Error& second);

inline constexpr RetryPolicy kThrottlingRetries = {.max_retries = 5,
                                                   .first_wait = std::chrono::milliseconds(100),
                                                   .longest_wait = std::chrono::milliseconds(1600)};
inline constexpr RetryPolicy kNetworkRetries = {.max_retries = 3,
                                                .first_wait = std::chrono::seconds(1),
                                                .longest_wait = std::chrono::seconds(4)};

class Retrier {
 public:
  // The limiter outlives this. Every call of a table waits for its turn there; null: no limit.
  explicit Retrier(const Runtime& runtime, RateLimiter* table_calls = nullptr)
      : runtime_(runtime), table_calls_(table_calls) {}

  template <typename T>
  Result<T> Run(const Context& context, Store store, std::string_view doing,
                const std::function<Result<T>()>& call) const {
    Attempts attempts(*this, context, store, doing);
    while (true) {
      TRY(attempts.VerifyWanted());
      if (store == Store::kTable && table_calls_)
        TRY(table_calls_->Take(context.deadline, context.stop));
      Result<T> result = call();
      if (result) return *std::move(result);
      TRY(attempts.WaitAfter(std::move(result).error()));
    }
  }

  // Waits before the next attempt and counts it. Returns early when the caller gives up.
  void PauseBeforeRetry(const Context& context, std::chrono::nanoseconds length) const;

 private:
  // The attempts at one call.
  class Attempts {
   public:
    Attempts(const Retrier& retrier, const Context& context, Store store, std::string_view doing);
    // kCancelled when the caller gave up or the deadline has passed.
    Status VerifyWanted() const;
    // Waits until it is time to try again. The error when it is not to be tried again.
    Status WaitAfter(const Error& error);

   private:
    const Retrier& retrier_;
    const Context& context_;
    const Store store_;
    const std::string doing_;
    std::optional<Error> last_;
    Backoff throttling_{kThrottlingRetries, nullptr};
    Backoff network_{kNetworkRetries, nullptr};
  };

  const Runtime runtime_;
  RateLimiter* const table_calls_;
};

}  // namespace tidemark::documents
