// RateLimiter lets at most burst + rate × t calls begin in any time t. Other calls wait for their
// turn, first come, first served. It begins with a full burst.
//
//   auto limiter = TRY(RateLimiter::Make({.rate_per_second = 100}, clock, sleeper));
//   TRY(limiter->Take(deadline, stop));
//
// There is no thread and no ticker: each call gets the time of its turn when it arrives, and waits
// until then. Time is counted in whole nanoseconds on the monotonic clock. May be called from any
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/result.h"
#include "base/sleeper.h"
#include "base/token_bucket.h"

namespace tidemark {

struct RateLimiterOptions {
  int64_t rate_per_second = 100;
  int64_t burst = 0;  // 0: as many as the rate.
};

class RateLimiter {
 public:
  static constexpr int64_t kMaxRatePerSecond = 1'000'000;

  // Both outlive it. kInvalid when the rate or the burst is not positive or above the maximum.
  static Result<std::unique_ptr<RateLimiter>> Make(const RateLimiterOptions& options,
                                                   const Clock& clock, Sleeper& sleeper);

  // Returns when it is the caller's turn. kCancelled at once when the turn would come after the
  // deadline, and as soon as a stop is requested. A caller that gives up returns its turn, unless
  // later turns were given out already.
  Status Take(const Deadline& deadline, const std::stop_token& stop = {});

 private:
  RateLimiter(const TokenRate& rate, const Clock& clock, Sleeper& sleeper);

  const TokenRate rate_;
  const Clock& clock_;
  Sleeper& sleeper_;
  std::mutex mutex_;
  TokenBucket bucket_;
};

}  // namespace tidemark
