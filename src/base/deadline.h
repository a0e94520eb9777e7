// The moment by which a request must be answered. One is made when the request comes in;
// every wait and every retry on its behalf asks it how much is left.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace tidemark {

class Deadline {
 public:
  // The clock outlives the deadline. Lengths are counted on its monotonic side.
  static Deadline After(const Clock& clock, std::chrono::nanoseconds length) {
    return Deadline(clock, clock.Monotonic() + length);
  }

  // What is left of it; zero once it has passed.
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
