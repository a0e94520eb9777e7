#include "servers/demo/latencies.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tidemark::demo {
namespace {

constexpr int kBits = 4;
constexpr uint64_t kParts = 1 << kBits;

// Below 16 a bucket each; from there on, sixteen buckets for every doubling.
size_t BucketOf(uint64_t value) {
  if (value < kParts) return value;
  const int shift = std::bit_width(value) - 1 - kBits;
  return static_cast<size_t>(shift + 1) * kParts + ((value >> shift) - kParts);
}

uint64_t EndOf(size_t bucket) {
  if (bucket < kParts) return bucket;
  const uint64_t shift = bucket / kParts - 1;
  return ((bucket % kParts + kParts + 1) << shift) - 1;
}

}  // namespace

void Latencies::Add(std::chrono::nanoseconds length) {
  const auto value = static_cast<uint64_t>(std::max<int64_t>(length.count(), 0));
  ++buckets_[BucketOf(value)];
  ++count_;
  longest_ = std::max(longest_, length);
}

std::chrono::nanoseconds Latencies::Quantile(double share) const {
  const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets && count_ > 0; ++bucket) {
    seen += buckets_[bucket];
    if (seen < wanted || seen == 0) continue;
    return std::min(longest_, std::chrono::nanoseconds(EndOf(bucket)));
  }
  return std::chrono::nanoseconds(0);
}

}  // namespace tidemark::demo
