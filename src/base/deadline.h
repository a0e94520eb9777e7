// The moment by which a request must be answered. It is made when the request arrives. Every wait
// and every retry for the request checks how much time is left.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace tidemark {

class Deadline {
 public:
  // The clock outlives the deadline. The length is measured on its monotonic clock.
  static Deadline After(const Clock& clock, std::chrono::nanoseconds length) {
    return Deadline(clock, clock.Monotonic() + length);
  }

  // The time that is left; zero after the deadline.
  std::chrono::nanoseconds Remaining() const {
    return std::max(at_ - clock_->Monotonic(), std::chrono::nanoseconds(0));
  }
  bool HasPassed() const { return Remaining() == std::chrono::nanoseconds(0); }

 private:
  Deadline(const Clock& clock, std::chrono::nanoseconds at) : clock_(&clock), at_(at) {}

  const Clock* clock_;
  std::chrono::nanoseconds at_;
};

}  // namespace tidemark
