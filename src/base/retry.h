// How often and after which waits something is tried again. Each wait is twice as long as the one
// before, their number is limited, and no wait ends after the deadline.
//
//   Backoff backoff(policy, random);
//   while (auto wait = backoff.Next(deadline)) {
//     sleeper.Sleep(*wait);
//     ...
//   }
//
// A Backoff is for one operation and one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/deadline.h"
#include "base/random.h"

namespace tidemark {

struct RetryPolicy {
  // Retries, not attempts: with 3 there are up to 4 attempts and 3 waits.
  uint32_t max_retries = 3;
  std::chrono::nanoseconds first_wait = std::chrono::seconds(1);
  std::chrono::nanoseconds longest_wait = std::chrono::seconds(8);
  // Each wait is drawn from [wait × (1 − jitter), wait], so that callers that failed together do
  // not retry at the same moment. Between 0 and 1.
  double jitter = 0;
};

class Backoff {
 public:
  // `random` is used when the policy has jitter, and outlives this.
  Backoff(RetryPolicy policy, Random* random) : policy_(policy), random_(random) {}

  // How long to wait before trying again; `at_least` is the wait that the server asked for. nullopt
  // when the retries are used up, or the wait would not end before the deadline.
  std::optional<std::chrono::nanoseconds> Next(
      const Deadline& deadline, std::chrono::nanoseconds at_least = std::chrono::nanoseconds(0));

  uint32_t retries() const { return retries_; }

 private:
  const RetryPolicy policy_;
  Random* const random_;
  uint32_t retries_ = 0;
};

}  // namespace tidemark
