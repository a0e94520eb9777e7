#include "base/rate_limiter.h"

#include <fmt/format.h>

namespace tidemark {

namespace {

Status VerifyCount(std::string_view what, int64_t count) {
  if (count >= 1 && count <= RateLimiter::kMaxRatePerSecond) return Done{};
  return Invalid(fmt::format("a {} of {} calls: it must be between 1 and {}", what, count,
                             RateLimiter::kMaxRatePerSecond));
}

Error GaveUp(std::string_view why) {
  return {ErrorCode::kCancelled, fmt::format("the rate limit: {}", why)};
}

}  // namespace

Result<std::unique_ptr<RateLimiter>> RateLimiter::Make(const RateLimiterOptions& options,
                                                       const Clock& clock, Sleeper& sleeper) {
  TRY(VerifyCount("rate", options.rate_per_second));
  const int64_t burst = options.burst == 0 ? options.rate_per_second : options.burst;
  TRY(VerifyCount("burst", burst));
  const TokenRate rate = TokenRate::Of(options.rate_per_second, std::chrono::seconds(1), burst);
  return std::unique_ptr<RateLimiter>(new RateLimiter(rate, clock, sleeper));
}

RateLimiter::RateLimiter(const TokenRate& rate, const Clock& clock, Sleeper& sleeper)
    : rate_(rate), clock_(clock), sleeper_(sleeper), bucket_(clock.Monotonic()) {}

Status RateLimiter::Take(const Deadline& deadline, const std::stop_token& stop) {
  if (stop.stop_requested()) return GaveUp("the caller gave up before its turn");
  if (deadline.HasPassed()) return GaveUp("the deadline passed before the call's turn");
  std::unique_lock lock(mutex_);
  const std::chrono::nanoseconds now = clock_.Monotonic();
  const std::chrono::nanoseconds wait = bucket_.WaitAt(rate_, now);
  const bool must_wait = wait > std::chrono::nanoseconds(0);
  if (must_wait && wait >= deadline.Remaining()) {
    return GaveUp("the call's turn would come after the deadline");
  }
  // The turn is taken before the wait, so callers get their turns in the order in which they came.
  const std::chrono::nanoseconds turn = bucket_.Take(rate_, now);
  lock.unlock();
  if (!must_wait || sleeper_.SleepUnlessStopped(wait, stop)) return Done{};
  lock.lock();
  bucket_.Return(rate_, turn);
  return GaveUp("the caller gave up while it waited for its turn");
}

}  // namespace tidemark
