#include "base/arrivals.h"

namespace tidemark {

void Arrivals::Handle(std::chrono::nanoseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (expected_ > 0) {
    const std::vector<Work> arrived = inbox_->Take(until);
    if (arrived.empty()) return;
    // Before the work, which may throw: what has arrived is no longer expected.
    expected_ -= arrived.size();
    for (const Work& work : arrived) work();
  }
}

void Arrivals::Inbox::Add(Work work) {
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  changed_.notify_one();
}

void Arrivals::Inbox::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  changed_.notify_one();
}

std::vector<Arrivals::Work> Arrivals::Inbox::Take(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [&] { return !work_.empty() || is_stopped_; });
  return std::exchange(work_, {});
}

}  // namespace tidemark
