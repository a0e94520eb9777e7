// Limits the bad requests of each address: those without a valid token or signature, those for
// which there is no route, and those that are not valid HTTP. While an address has sent too many of
// them, each further one gets a 429 and no line in the log.
//
//   if (!bad_requests.Count(key, address)) response = TooManyBadRequests();
//
// A correct request is never refused, because Slack and other clients may share the address of a
// proxy with somebody who sends bad requests.
//
// Its memory is bounded: when there are too many addresses to remember, further ones count as one.
// May be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/token_bucket.h"
#include "http/limits.h"
#include "http/message.h"
#include "http/observer.h"

namespace tidemark::http {

class BadRequests {
 public:
  // Clock and observer outlive this.
  BadRequests(const ServerLimits& limits, const Clock& clock, Observer* observer);

  // Counts a bad request of this address, which may be the key of a network (Peer::admission_key).
  // False when the address has sent too many. `shown` is the address for the log.
  bool Count(const std::string& address, std::string_view shown);
  // Whether Count would return false at this time of the monotonic clock, which is now. Takes a
  // lock only if that holds for some address.
  bool IsOverLimit(const std::string& address, std::chrono::nanoseconds now);

 private:
  TokenBucket& BucketLocked(const std::string& address, std::chrono::nanoseconds now);
  void ForgetOldLocked(std::chrono::nanoseconds now);
  void NoteRefusalLocked(std::string_view shown, std::chrono::nanoseconds now);

  const TokenRate rate_;
  const Clock& clock_;
  Observer& observer_;
  std::atomic<std::chrono::nanoseconds> over_until_;  // Later no address is over the limit.
  std::mutex mutex_;
  std::unordered_map<std::string, TokenBucket> by_address_;
  TokenBucket others_;  // Of all addresses for which there was no room.
  std::chrono::nanoseconds forgot_at_;
  std::optional<std::chrono::nanoseconds> logged_at_;
  uint64_t unlogged_ = 0;  // Refusals since the last line.
};

// 429, with Retry-After.
Response TooManyBadRequests();

}  // namespace tidemark::http
