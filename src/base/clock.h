// The one source of time. Everything that asks what time it is takes a Clock&, so
// that a test decides. Stored deadlines are wall time in epoch seconds; lengths are
// measured on the monotonic clock.
//
// All clocks may be read from any thread.
#pragma once

#include <atomic>
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

// A clock that stands still until it is told to move.
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
  // Sets the wall clock alone, as an administrator or NTP does; it may go back.
  void SetNow(EpochSeconds now) { now_ms_ = now * 1000; }

 private:
  std::atomic<int64_t> now_ms_;
  std::atomic<int64_t> monotonic_ns_ = 0;
};

}  // namespace tidemark
