// A TokenBucket decides whether something may happen now, or how long to wait for it: at most
// `burst` times at once, and then once in every interval. It starts full.
//
//   if (bucket.WaitAt(rate, now) > std::chrono::nanoseconds(0)) return Refuse();
//   bucket.Take(rate, now);
//
// The whole state is one number: the time at which the bucket is full again. Every token that is
// taken moves this time by one interval. Times are on the monotonic clock, in whole nanoseconds. A
// bucket has no lock: if several threads use it, the owner must lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tidemark {

struct TokenRate {
  std::chrono::nanoseconds interval = {};
  int64_t burst = 1;

  // `count` times in `length`. The interval is rounded up, so that rounding never allows one too
  // many.
  static TokenRate Of(int64_t count, std::chrono::nanoseconds length, int64_t burst) {
    return {.interval = (length + std::chrono::nanoseconds(count - 1)) / count, .burst = burst};
  }
};

class TokenBucket {
 public:
  explicit TokenBucket(std::chrono::nanoseconds now) : full_at_(now) {}

  // The time until the next token is available; zero or less when it is available now.
  std::chrono::nanoseconds WaitAt(const TokenRate& rate, std::chrono::nanoseconds now) const {
    return std::max(full_at_, now) - now - rate.interval * (rate.burst - 1);
  }
  // Takes the next token, also one that is not available yet. Returns a mark with which it can be
  // returned. Unused time is not saved up beyond the burst.
  std::chrono::nanoseconds Take(const TokenRate& rate, std::chrono::nanoseconds now) {
    return full_at_ = std::max(full_at_, now) + rate.interval;
  }
  // Returns a token, unless another one was taken after it: other callers already wait for their
  // times.
  void Return(const TokenRate& rate, std::chrono::nanoseconds mark) {
    if (full_at_ == mark) full_at_ -= rate.interval;
  }
  bool IsFull(std::chrono::nanoseconds now) const { return full_at_ <= now; }

 private:
  std::chrono::nanoseconds full_at_;
};

}  // namespace tidemark
