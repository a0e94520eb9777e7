// How long things took, in buckets of at most a sixteenth of their length, so that a day of them
// takes no more memory than a minute. One owner at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace tidemark::demo {

class Latencies {
 public:
  void Add(std::chrono::nanoseconds length);

  uint64_t count() const { return count_; }
  // The length that this share (0.99) of all did not exceed, rounded up to its bucket's end; zero
  // when there is none.
  std::chrono::nanoseconds Quantile(double share) const;
  std::chrono::nanoseconds longest() const { return longest_; }

 private:
  static constexpr size_t kBuckets = 64 * 16;
  std::array<uint64_t, kBuckets> buckets_ = {};
  uint64_t count_ = 0;
  std::chrono::nanoseconds longest_ = std::chrono::nanoseconds(0);
};

}  // namespace tidemark::demo
