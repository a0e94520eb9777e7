#include "apps/documents/retrier.h"

#include <fmt/format.h>

namespace tidemark::documents {

namespace {

ErrorCode TranslateCode(Store store, ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnavailable:
      return store == Store::kTable ? ErrorCode::kThrottled : ErrorCode::kUnreachable;
    case ErrorCode::kConflict:
    case ErrorCode::kInUse:
      return ErrorCode::kThrottled;
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:
      return ErrorCode::kInternal;
    default:
      return code;
  }
}

bool HasNoAnswer(ErrorCode code) {
  return code == ErrorCode::kUnknown || code == ErrorCode::kUnreachable;
}

}  // namespace

std::string_view ToString(Store store) {
  return store == Store::kTable ? "the table" : "the object store";
}

Error TranslateError(Store store, std::string_view doing, const Error& error) {
  return {TranslateCode(store, error.code),
          fmt::format("{}: {}: {}", ToString(store), doing, error.message)};
}

bool IsRetryable(ErrorCode code) {
  return code == ErrorCode::kThrottled || code == ErrorCode::kUnavailable ||
         code == ErrorCode::kConflict || code == ErrorCode::kCancelled || HasNoAnswer(code);
}

Error CombineErrors(const Error& first, const Error& second) {
  const bool may_recover = IsRetryable(first.code) || IsRetryable(second.code);
  return {may_recover ? ErrorCode::kUnavailable : ErrorCode::kInternal,
          fmt::format("{}; {}", first.message, second.message)};
}

void Retrier::PauseBeforeRetry(const Context& context, std::chrono::nanoseconds length) const {
  if (context.tally) ++context.tally->retries;
  runtime_.sleeper.SleepUnlessStopped(length, context.stop);
}

Retrier::Attempts::Attempts(const Retrier& retrier, const Context& context, Store store,
                            std::string_view doing)
    : retrier_(retrier), context_(context), store_(store), doing_(doing) {}

Status Retrier::Attempts::VerifyWanted() const {
  if (!context_.IsOver()) return Done{};
  return Error{
      ErrorCode::kCancelled,
      fmt::format("{}: {}: {}{}", ToString(store_), doing_,
                  context_.stop.stop_requested() ? "the caller gave up" : "the deadline has passed",
                  last_ ? "; the last attempt failed: " + last_->message : "")};
}

Status Retrier::Attempts::WaitAfter(const Error& error) {
  Error translated = TranslateError(store_, doing_, error);
  const bool is_throttled = translated.code == ErrorCode::kThrottled;
  if (is_throttled && context_.tally) ++context_.tally->throttled;
  if (!is_throttled && !HasNoAnswer(translated.code)) return translated;
  last_ = error;
  Backoff& backoff = is_throttled ? throttling_ : network_;
  const auto wait = backoff.Next(context_.deadline);
  if (!wait) return translated;
  // When the caller gives up during the pause, VerifyWanted says so before the next attempt.
  retrier_.PauseBeforeRetry(context_, *wait);
  return Done{};
}

}  // namespace tidemark::documents
