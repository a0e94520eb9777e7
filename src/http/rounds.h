// Rounds says what is to be tried next, when several things are tried together and each may
// have to wait before it is tried again.
//
//   Rounds rounds(count, clock, sleeper);
//   for (auto due = rounds.Next(); !due.empty(); due = rounds.Next()) {
//     ... try each of `due`; for what failed: rounds.Again(index, wait);
//   }
//
// It has one owner. It knows no deadline: the caller names no wait that would pass it.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "base/sleeper.h"

namespace tidemark::http {

class Rounds {
 public:
  // All of 0 … count − 1 are due at once. Clock and sleeper outlive this.
  Rounds(size_t count, const Clock* clock, Sleeper* sleeper);

  // Waits until something is due, and takes out all that is, in order; empty when nothing is left.
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
