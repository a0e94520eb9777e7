// A RetrySchedule decides what to try next, when several things are tried together and each has its
// own wait before the next try.
//
//   RetrySchedule schedule(count, clock, sleeper);
//   for (auto due = schedule.Next(); !due.empty(); due = schedule.Next()) {
//     ... try each of `due`; for what failed: schedule.Again(index, wait);
//   }
//
// One thread at a time. It has no deadline: the caller must not ask for a wait that ends after its
// own.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "base/sleeper.h"

namespace tidemark::http {

class RetrySchedule {
 public:
  // All of 0 … count − 1 are due at once. Clock and sleeper outlive this.
  RetrySchedule(size_t count, const Clock* clock, Sleeper* sleeper);

  // Waits until something is due, and returns everything that is due, in order. Empty when nothing
  // is left.
  std::vector<size_t> Next();

  // Puts it back, due after the wait.
  void Again(size_t index, std::chrono::nanoseconds wait);

 private:
  struct Waiting {
    size_t index;
    std::chrono::nanoseconds due;  // On the monotonic clock.
  };

  const Clock& clock_;
  Sleeper& sleeper_;
  std::vector<Waiting> waiting_;
};

}  // namespace tidemark::http
