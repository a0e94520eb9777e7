// OffsetClock is a clock whose wall time differs from another clock by a fixed offset, as on a
// machine whose clock is wrong. Any thread may read it.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace tidemark::testing {

class OffsetClock final : public Clock {
 public:
  // The other clock must outlive this.
  OffsetClock(const Clock* clock, std::chrono::milliseconds offset)
      : clock_(*clock), offset_(offset) {}

  std::chrono::milliseconds Now() const override { return clock_.Now() + offset_; }
  std::chrono::nanoseconds Monotonic() const override { return clock_.Monotonic(); }

 private:
  const Clock& clock_;
  const std::chrono::milliseconds offset_;
};

}  // namespace tidemark::testing
