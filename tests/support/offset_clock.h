// OffsetClock is another clock whose wall side is off by a fixed length: the clock of a machine
// that disagrees with the others. May be read from any thread.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace tidemark::testing {

class OffsetClock final : public Clock {
 public:
  // The clock outlives this.
  OffsetClock(const Clock* clock, std::chrono::milliseconds offset)
      : clock_(*clock), offset_(offset) {}

  std::chrono::milliseconds Now() const override { return clock_.Now() + offset_; }
  std::chrono::nanoseconds Monotonic() const override { return clock_.Monotonic(); }

 private:
  const Clock& clock_;
  const std::chrono::milliseconds offset_;
};

}  // namespace tidemark::testing
