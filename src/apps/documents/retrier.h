// Retrier calls a store until it answers: throttling is tried again after 100, 200, 400, 800 and
// 1600 ms, network errors after 1, 2 and 4 s, everything else not at all; never past the context's
// deadline, and not once its caller gave up. Here, and nowhere else, errors of the stores become
// those of documents.
//
//   Outcome<PutReply> reply = retrier.Run<PutReply>(context, Store::kTable, "writing the row",
//                                                   [&] { return tables.Put(request); });
//
// What is called must be safe to repeat: kUnknown is tried again like any lost answer.
// May be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/documents/cache_error.h"
#include "apps/documents/context.h"
#include "apps/documents/pause.h"
#include "apps/documents/token_bucket.h"
#include "base/clock.h"
#include "base/retry.h"

namespace tidemark::documents {

enum class Store { kTable, kObjects };

std::string_view ToString(Store store);  // "the table", "the object store"

// What a store's error means. kUnavailable of a table is throttling, of objects the network;
// kUnknown is the network; kConflict and kInUse are throttling. kInvalid and kNotFound of a store
// are our fault or the administrator's, not the caller's, and so kUnavailable without a retry.
CacheError Classify(Store store, std::string_view doing, Error error);

inline constexpr RetryPolicy kThrottlingRetries = {.max_retries = 5,
                                                   .first_wait = std::chrono::milliseconds(100),
                                                   .longest_wait = std::chrono::milliseconds(1600)};
inline constexpr RetryPolicy kNetworkRetries = {.max_retries = 3,
                                                .first_wait = std::chrono::seconds(1),
                                                .longest_wait = std::chrono::seconds(4)};

class Retrier {
 public:
  // Both outlive this. Every call of a table takes a token of the bucket; null: none is needed.
  explicit Retrier(Pauser* pauser, TokenBucket* table_calls = nullptr)
      : pauser_(*pauser), table_calls_(table_calls) {}

  template <typename T>
  Outcome<T> Run(const Context& context, Store store, std::string_view doing,
                 const std::function<Result<T>()>& call) const {
    Attempts attempts(pauser_, context, store, doing);
    while (true) {
      if (auto given_up = attempts.GivenUp()) return *std::move(given_up);
      if (store == Store::kTable && table_calls_) TRY(table_calls_->Take(context));
      Result<T> result = call();
      if (result) return *std::move(result);
      if (auto last = attempts.After(std::move(result).error())) return *std::move(last);
    }
  }

 private:
  class Attempts {
   public:
    Attempts(Pauser& pauser, const Context& context, Store store, std::string_view doing);
    // The error when nothing may be tried any more.
    std::optional<CacheError> GivenUp() const;
    // The error that is to be returned, or nullopt once it is time to try again.
    std::optional<CacheError> After(Error error);

   private:
    Pauser& pauser_;
    const Context& context_;
    const Store store_;
    const std::string doing_;
    std::optional<Error> last_;
    Backoff throttling_{kThrottlingRetries, nullptr};
    Backoff network_{kNetworkRetries, nullptr};
  };

  Pauser& pauser_;
  TokenBucket* const table_calls_;
};

}  // namespace tidemark::documents
