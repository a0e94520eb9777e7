// The source of time. Code that needs the time takes a Clock&, so that a test can control it.
// Stored deadlines are wall time in epoch seconds. Durations are measured on the monotonic clock.
//
// All clocks may be read from any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace tidemark {

// Seconds since 1970-01-01T00:00:00Z.
using EpochSeconds = int64_t;

class Clock {
 public:
  virtual ~Clock() = default;

  // Wall time since the epoch. It may step backwards.
  virtual std::chrono::milliseconds Now() const = 0;
  // Time since some fixed moment. It never goes back.
  virtual std::chrono::nanoseconds Monotonic() const = 0;

  EpochSeconds NowSeconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(Now()).count();
  }
};

// The machine's clocks.
class SystemClock final : public Clock {
 public:
  std::chrono::milliseconds Now() const override;
  std::chrono::nanoseconds Monotonic() const override;
};

}  // namespace tidemark
