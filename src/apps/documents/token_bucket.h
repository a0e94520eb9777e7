// TokenBucket lets at most burst + rate · t calls begin in any time t; the others wait their turn,
// first come, first served. It begins full.
//
//   auto bucket = TRY(TokenBucket::Make({.rate_per_second = 100}, &clock, &pauser));
//   TRY(bucket->Take(context));
//
// Time is counted in whole nanoseconds on the monotonic clock. There is no thread and no ticker:
// a call is given the moment of its turn when it comes, and waits until then.
// May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>

#include "apps/documents/cache_error.h"
#include "apps/documents/context.h"
#include "apps/documents/pause.h"
#include "base/clock.h"
#include "base/result.h"

namespace tidemark::documents {

struct TokenBucketOptions {
  int64_t rate_per_second = 100;
  int64_t burst = 0;  // 0: as many as the rate.
};

class TokenBucket {
 public:
  // Both outlive it. kInvalid when the rate is not positive or above kMaxRatePerSecond, or the
  // burst negative.
  static Result<std::unique_ptr<TokenBucket>> Make(const TokenBucketOptions& options,
                                                   const Clock* clock, Pauser* pauser);

  // Returns when it is the caller's turn. kCancelled at once when the turn would come behind the
  // deadline, when the caller's stop is asked for while it waits, or after Stop; its turn then
  // goes to who comes next, if nobody came behind it.
  Outcome<Done> Take(const Context& context);

  // Nobody waits on, and nobody passes from now on.
  void Stop();

 private:
  TokenBucket(std::chrono::nanoseconds interval, int64_t burst, const Clock* clock, Pauser* pauser);
  // False when the caller or Stop ended it.
  bool Wait(const Context& context, std::chrono::nanoseconds length);
  // The turn that ends here, unless others were given out behind it.
  void GiveBack(std::chrono::nanoseconds end);

  const std::chrono::nanoseconds interval_;
  const std::chrono::nanoseconds slack_;  // How far turns may be ahead of their time: the burst.
  const Clock& clock_;
  Pauser& pauser_;
  std::stop_source stopped_;
  std::mutex mutex_;
  // Turns are given out up to here.
  std::chrono::nanoseconds end_;
};

}  // namespace tidemark::documents
