#include "apps/documents/token_bucket.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/limits.h"

namespace tidemark::documents {

Result<std::unique_ptr<TokenBucket>> TokenBucket::Make(const TokenBucketOptions& options,
                                                       const Clock* clock, Pauser* pauser) {
  if (options.rate_per_second <= 0 || options.rate_per_second > kMaxRatePerSecond) {
    return Invalid(fmt::format("a rate of {} calls a second: it must be between 1 and {}",
                               options.rate_per_second, kMaxRatePerSecond));
  }
  const int64_t burst = options.burst == 0 ? options.rate_per_second : options.burst;
  if (burst < 0 || burst > kMaxRatePerSecond) {
    return Invalid(
        fmt::format("a burst of {} calls: it must be between 1 and {}", burst, kMaxRatePerSecond));
  }
  // Rounded up: a rate that does not divide a second is kept to, not exceeded.
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t interval = (kSecond + options.rate_per_second - 1) / options.rate_per_second;
  return std::unique_ptr<TokenBucket>(
      new TokenBucket(std::chrono::nanoseconds(interval), burst, clock, pauser));
}

TokenBucket::TokenBucket(std::chrono::nanoseconds interval, int64_t burst, const Clock* clock,
                         Pauser* pauser)
    : interval_(interval),
      slack_(interval * (burst - 1)),
      clock_(*clock),
      pauser_(*pauser),
      end_(clock->Monotonic()) {}

Outcome<Done> TokenBucket::Take(const Context& context) {
  if (stopped_.stop_requested()) return Cancelled("the rate limit is stopped");
  if (context.IsOver()) return Cancelled("gave up before its turn at the rate limit");
  std::unique_lock lock(mutex_);
  const std::chrono::nanoseconds now = clock_.Monotonic();
  const std::chrono::nanoseconds end = std::max(end_, now) + interval_;
  const std::chrono::nanoseconds wait = end - interval_ - slack_ - now;
  if (wait > std::chrono::nanoseconds(0) && wait >= context.deadline.Remaining()) {
    return Cancelled("its turn at the rate limit comes behind the deadline");
  }
  end_ = end;
  lock.unlock();
  if (wait <= std::chrono::nanoseconds(0) || Wait(context, wait)) return Done{};
  GiveBack(end);
  return Cancelled("gave up waiting for its turn at the rate limit");
}

// Either the caller or Stop ends the waiting: the pause ends by a third, which both set off.
bool TokenBucket::Wait(const Context& context, std::chrono::nanoseconds length) {
  std::stop_source either;
  const auto set_off = [&either] { either.request_stop(); };
  const std::stop_callback by_caller(context.stop, set_off);
  const std::stop_callback by_stop(stopped_.get_token(), set_off);
  return pauser_.Pause(length, either.get_token());
}

void TokenBucket::GiveBack(std::chrono::nanoseconds end) {
  const std::lock_guard lock(mutex_);
  if (end_ == end) end_ -= interval_;
}

void TokenBucket::Stop() { stopped_.request_stop(); }

}  // namespace tidemark::documents
