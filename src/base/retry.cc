#include "base/retry.h"

#include <algorithm>

namespace tidemark {

namespace {

// More doublings could overflow. The longest wait is reached long before.
constexpr uint32_t kMaxDoublings = 20;

}  // namespace

std::optional<std::chrono::nanoseconds> Backoff::Next(const Deadline& deadline,
                                                      std::chrono::nanoseconds at_least) {
  if (retries_ == policy_.max_retries) return std::nullopt;
  auto wait = std::min(policy_.first_wait * (int64_t{1} << std::min(retries_, kMaxDoublings)),
                       policy_.longest_wait);
  const auto spread = static_cast<uint64_t>(policy_.jitter * static_cast<double>(wait.count()));
  if (spread > 0) wait -= std::chrono::nanoseconds(random_->Below(spread + 1));
  wait = std::max(wait, at_least);
  if (wait >= deadline.Remaining()) return std::nullopt;
  ++retries_;
  return wait;
}

}  // namespace tidemark
