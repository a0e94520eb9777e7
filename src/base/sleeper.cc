#include "base/sleeper.h"

namespace tidemark {

namespace {

Error Interrupted() { return {ErrorCode::kCancelled, "the wait was interrupted"}; }

}  // namespace

SystemSleeper::~SystemSleeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  Wake();
  if (thread_.joinable()) thread_.join();
}

Later<Done> SystemSleeper::After(std::chrono::nanoseconds length) {
  auto [promise, later] = MakeLater<Done>();
  // Set before the promise goes to the thread: a Cancel may come at any time after that.
  promise.OnCancel([this] { Wake(); });
  {
    const std::lock_guard lock(mutex_);
    added_.emplace_back(std::chrono::steady_clock::now() + length, std::move(promise));
    if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  }
  Wake();
  return std::move(later);
}

bool SystemSleeper::SleepUnlessStopped(std::chrono::nanoseconds length,
                                       const std::stop_token& stop) {
  Later<Done> slept = After(length);
  const std::stop_callback on_stop(stop, [&slept] { slept.Cancel(); });
  return slept.Wait().has_value();
}

void SystemSleeper::Wake() {
  const std::lock_guard lock(mutex_);
  // A flag, because a notification is lost if Run is not waiting at this moment.
  is_woken_ = true;
  changed_.notify_one();
}

void SystemSleeper::Run() {
  Sleeping sleeping;
  for (bool goes_on = true; goes_on;) {
    {
      std::unique_lock lock(mutex_);
      const auto is_woken = [this] { return is_woken_; };
      if (sleeping.empty()) {
        changed_.wait(lock, is_woken);
      } else {
        changed_.wait_until(lock, sleeping.begin()->first, is_woken);
      }
      is_woken_ = false;
      goes_on = !stopping_;
      for (auto& [due, promise] : added_) sleeping.emplace(due, std::move(promise));
      added_.clear();
    }
    // The lock is not held here, because the following code runs callbacks, and a Cancel on another
    // thread may be in Wake.
    const Moment now = std::chrono::steady_clock::now();
    for (auto at = sleeping.begin(); at != sleeping.end();) {
      const bool is_due = at->first <= now;
      if (!is_due && goes_on && !at->second.cancelled()) {
        ++at;
        continue;
      }
      auto ended = sleeping.extract(at++);
      ended.mapped().Fulfil(is_due ? Status(Done{}) : Status(Interrupted()));
    }
  }
}

}  // namespace tidemark
