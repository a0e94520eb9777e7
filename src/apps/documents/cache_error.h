// What can go wrong with documents, by what the caller can do about it: the five types of errors
// that callers know, and two of ours. An Outcome<T> is a value or such an error.
//
//   Outcome<Document> read = manager.Get(context, id);
//   if (!read && read.error().type == CacheErrorType::kNotFound) ...
//
// Errors of the stores become these in one place, the Retrier; nothing above it sees the others
// but as causes. TRY works in functions that return an Outcome, on Outcomes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::documents {

enum class CacheErrorType {
  kNotFound,     // There is no such document.
  kThrottling,   // The table had too much to do, and still has after the retries.
  kValidation,   // The request is wrong: change it.
  kNetwork,      // No answer, also after the retries.
  kUnavailable,  // A store is away or refuses us; when both are, `causes` has two.
  kConflict,     // Another write came first: read, and try again.
  kCancelled,    // The caller gave up, or its deadline passed while waiting.
};

std::string_view ToString(CacheErrorType type);  // "not_found", "throttling", …

struct CacheError {
  CacheErrorType type = CacheErrorType::kUnavailable;
  std::string message;
  // What the stores said, in the order it happened; empty when the error is our own.
  std::vector<Error> causes = {};
  bool retryable = false;

  friend bool operator==(const CacheError&, const CacheError&) = default;
};

// Each sets what its type says about retrying.
CacheError NotFound(std::string message);
CacheError Refused(std::string message);  // kValidation
CacheError Refused(Error error);          // kValidation, with its cause.
CacheError Conflict(std::string message);
CacheError Cancelled(std::string message);
// One error out of two, retryable when one of them is: "first; second".
CacheError Both(CacheError first, CacheError second);

// The same as an Error, for those who know only that.
Error ToError(const CacheError& error);

template <typename T>
using Outcome = Result<T, CacheError>;

}  // namespace tidemark::documents
