#include "apps/documents/retrier.h"

#include <fmt/format.h>

namespace tidemark::documents {

namespace {

CacheErrorType TypeOf(Store store, ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnavailable:
      return store == Store::kTable ? CacheErrorType::kThrottling : CacheErrorType::kNetwork;
    case ErrorCode::kConflict:
    case ErrorCode::kInUse:
      return CacheErrorType::kThrottling;
    case ErrorCode::kUnknown:
      return CacheErrorType::kNetwork;
    default:
      return CacheErrorType::kUnavailable;
  }
}

}  // namespace

std::string_view ToString(Store store) {
  return store == Store::kTable ? "the table" : "the object store";
}

CacheError Classify(Store store, std::string_view doing, Error error) {
  const CacheErrorType type = TypeOf(store, error.code);
  CacheError classified{.type = type,
                        .message = fmt::format("{}: {}: {}", ToString(store), doing, error.message),
                        .retryable = type != CacheErrorType::kUnavailable};
  classified.causes.push_back(std::move(error));
  return classified;
}

Retrier::Attempts::Attempts(Pauser& pauser, const Context& context, Store store,
                            std::string_view doing)
    : pauser_(pauser), context_(context), store_(store), doing_(doing) {}

std::optional<CacheError> Retrier::Attempts::GivenUp() const {
  if (!context_.IsOver()) return std::nullopt;
  CacheError given_up = Cancelled(fmt::format(
      "{}: {}: {}", ToString(store_), doing_,
      context_.stop.stop_requested() ? "the caller gave up" : "the deadline has passed"));
  if (last_) given_up.causes.push_back(*last_);
  return given_up;
}

std::optional<CacheError> Retrier::Attempts::After(Error error) {
  CacheError classified = Classify(store_, doing_, error);
  const bool is_throttled = classified.type == CacheErrorType::kThrottling;
  if (is_throttled && context_.tally) ++context_.tally->throttled;
  if (!classified.retryable) return classified;
  last_ = std::move(error);
  Backoff& backoff = is_throttled ? throttling_ : network_;
  const auto wait = backoff.Next(context_.deadline);
  if (!wait) return classified;
  if (context_.tally) ++context_.tally->retries;
  // Whoever gives up meanwhile is noticed before the next attempt.
  pauser_.Pause(*wait, context_.stop);
  return std::nullopt;
}

}  // namespace tidemark::documents
