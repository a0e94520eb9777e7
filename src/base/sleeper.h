// How code waits: injected like the clock, so that a test in which something waits for a
// minute takes no time.
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include "base/clock.h"

namespace tidemark {

class Sleeper {
 public:
  virtual ~Sleeper() = default;
  // Returns when the length has passed on the monotonic clock. May be called from any thread.
  virtual void Sleep(std::chrono::nanoseconds length) = 0;
};

// Blocks the calling thread.
class SystemSleeper final : public Sleeper {
 public:
  void Sleep(std::chrono::nanoseconds length) override;
};

// Moves a ManualClock on instead of waiting, and remembers for how long.
class ManualSleeper final : public Sleeper {
 public:
  explicit ManualSleeper(ManualClock* clock) : clock_(*clock) {}
  void Sleep(std::chrono::nanoseconds length) override;
  std::vector<std::chrono::milliseconds> slept() const;

 private:
  ManualClock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::chrono::milliseconds> slept_;
};

}  // namespace tidemark
