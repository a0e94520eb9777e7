#include "http/bad_requests.h"

#include <algorithm>
#include <utility>

namespace tidemark::http {

namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::minutes kBadRequestsMinute(1);

}  // namespace

BadRequests::BadRequests(const ServerLimits& limits, const Clock& clock, Observer* observer)
    : rate_(TokenRate::Of(limits.max_bad_requests_a_minute, kBadRequestsMinute,
                          limits.max_bad_requests_a_minute)),
      clock_(clock),
      observer_(*observer),
      over_until_(clock.Monotonic()),
      others_(clock.Monotonic()),
      forgot_at_(clock.Monotonic()) {}

bool BadRequests::Count(const std::string& address, std::string_view shown) {
  const nanoseconds now = clock_.Monotonic();
  const std::lock_guard lock(mutex_);
  observer_.CountBadRequest();
  TokenBucket& bucket = BucketLocked(address, now);
  if (bucket.WaitAt(rate_, now) > nanoseconds(0)) {
    NoteRefusalLocked(shown, now);
    return false;
  }
  bucket.Take(rate_, now);
  over_until_ = std::max(over_until_.load(), now + bucket.WaitAt(rate_, now));
  return true;
}

bool BadRequests::IsOverLimit(const std::string& address, nanoseconds now) {
  if (now >= over_until_.load()) return false;
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(address);
  if (found != by_address_.end()) return found->second.WaitAt(rate_, now) > nanoseconds(0);
  return by_address_.size() >= kMaxBadAddresses && others_.WaitAt(rate_, now) > nanoseconds(0);
}

TokenBucket& BadRequests::BucketLocked(const std::string& address, nanoseconds now) {
  ForgetOldLocked(now);
  const auto found = by_address_.find(address);
  if (found != by_address_.end()) return found->second;
  if (by_address_.size() >= kMaxBadAddresses) return others_;
  return by_address_.emplace(address, TokenBucket(now)).first->second;
}

// A full bucket is like a new one. Every bucket is full after a minute without bad requests.
void BadRequests::ForgetOldLocked(nanoseconds now) {
  if (now - forgot_at_ < kBadRequestsMinute) return;
  forgot_at_ = now;
  std::erase_if(by_address_, [&](const auto& entry) { return entry.second.IsFull(now); });
}

// One line a minute for all addresses: a line for each address could be as many as requests.
void BadRequests::NoteRefusalLocked(std::string_view shown, nanoseconds now) {
  ++unlogged_;
  observer_.CountOverLimit();
  if (logged_at_ && now - *logged_at_ < kBadRequestsMinute) return;
  logged_at_ = now;
  observer_.LogOverLimit(shown, std::exchange(unlogged_, 0));
}

Response TooManyBadRequests() {
  Response response =
      Problem(429, "Too many bad requests came from this address: try again in a minute.");
  response.headers.Set("Retry-After", "60");
  return response;
}

}  // namespace tidemark::http
