// Counts durations in buckets, so that the memory does not grow with time. The error is at most one
// sixteenth. Only one thread may use it at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace tidemark::demo {

class Latencies {
 public:
  void Add(std::chrono::nanoseconds length);

  uint64_t count() const { return count_; }
  // The duration that this share (such as 0.99) of all does not exceed, rounded up to the end of
  // its bucket. Zero if there are none.
  std::chrono::nanoseconds Quantile(double share) const;
  std::chrono::nanoseconds longest() const { return longest_; }

 private:
  static constexpr size_t kBuckets = 64 * 16;
  std::array<uint64_t, kBuckets> buckets_ = {};
  uint64_t count_ = 0;
  std::chrono::nanoseconds longest_ = std::chrono::nanoseconds(0);
};

}  // namespace tidemark::demo
