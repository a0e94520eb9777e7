#include "http/retry_schedule.h"

#include <algorithm>

namespace tidemark::http {

RetrySchedule::RetrySchedule(size_t count, const Clock* clock, Sleeper* sleeper)
    : clock_(*clock), sleeper_(*sleeper) {
  const auto now = clock_.Monotonic();
  for (size_t index = 0; index < count; ++index) waiting_.push_back({index, now});
}

std::vector<size_t> RetrySchedule::Next() {
  if (waiting_.empty()) return {};
  const auto by_due = [](const Waiting& a, const Waiting& b) { return a.due < b.due; };
  const auto first = std::min_element(waiting_.begin(), waiting_.end(), by_due)->due;
  if (const auto now = clock_.Monotonic(); first > now) sleeper_.Sleep(first - now);

  // At least the first one is due now, even if the sleeper returned early. So the caller's loop
  // always ends.
  const auto now = std::max(first, clock_.Monotonic());
  std::vector<size_t> due;
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    if (waiting.due > now) return false;
    due.push_back(waiting.index);
    return true;
  });
  std::sort(due.begin(), due.end());
  return due;
}

void RetrySchedule::Again(size_t index, std::chrono::nanoseconds wait) {
  waiting_.push_back({index, clock_.Monotonic() + wait});
}

}  // namespace tidemark::http
