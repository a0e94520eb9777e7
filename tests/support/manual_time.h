// Time for tests: a clock that only the test moves, and a sleeper that moves it.
//
//   ManualClock clock;
//   ManualSleeper sleeper(&clock);
//   sleeper.Sleep(std::chrono::seconds(60));  // Returns at once; the clock is a minute later.
//
// May be used from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/later.h"
#include "base/sleeper.h"

namespace tidemark {

// A clock that only the test moves.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(EpochSeconds start = 1'700'000'000) : now_ms_(start * 1000) {}

  std::chrono::milliseconds Now() const override { return std::chrono::milliseconds(now_ms_); }
  std::chrono::nanoseconds Monotonic() const override {
    return std::chrono::nanoseconds(monotonic_ns_);
  }

  // Moves both clocks on.
  void Advance(std::chrono::milliseconds length) {
    now_ms_ += length.count();
    monotonic_ns_ += std::chrono::nanoseconds(length).count();
  }
  // Sets only the wall clock, as an administrator or NTP does. It may go back.
  void SetNow(EpochSeconds now) { now_ms_ = now * 1000; }

 private:
  std::atomic<int64_t> now_ms_;
  std::atomic<int64_t> monotonic_ns_ = 0;
};

// Does not wait, but moves a ManualClock forward, and remembers by how much.
class ManualSleeper final : public Sleeper {
 public:
  explicit ManualSleeper(ManualClock* clock) : clock_(*clock) {}

  Later<Done> After(std::chrono::nanoseconds length) override {
    Sleep(length);
    return Done{};
  }
  bool SleepUnlessStopped(std::chrono::nanoseconds length, const std::stop_token& stop) override {
    if (on_sleep) on_sleep(length);
    if (stop.stop_requested()) return false;
    const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(length);
    clock_.Advance(rounded);
    const std::lock_guard lock(mutex_);
    slept_.push_back(rounded);
    return true;
  }
  std::vector<std::chrono::milliseconds> slept() const {
    const std::lock_guard lock(mutex_);
    return slept_;
  }

  // Called before each wait, if it is set: a test can stop the wait or change something here.
  std::function<void(std::chrono::nanoseconds)> on_sleep;

 private:
  ManualClock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::chrono::milliseconds> slept_;
};

}  // namespace tidemark
