#include "servers/demo/latencies.h"

#include <gtest/gtest.h>

namespace tidemark::demo {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(LatenciesTest, HaveNoQuantilesBeforeTheFirstOne) {
  EXPECT_EQ(Latencies().Quantile(0.5), nanoseconds(0));
}

// The error is at most one sixteenth.
TEST(LatenciesTest, GiveQuantilesWithinASixteenth) {
  Latencies latencies;
  for (int i = 1; i <= 10'000; ++i) latencies.Add(microseconds(i));
  EXPECT_EQ(latencies.count(), 10'000u);
  for (const double share : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const double exact = share * 10'000'000;
    const auto found = static_cast<double>(latencies.Quantile(share).count());
    EXPECT_GE(found, exact) << share;
    EXPECT_LE(found, exact * 17 / 16) << share;
  }
  EXPECT_EQ(latencies.longest(), microseconds(10'000));
}

TEST(LatenciesTest, HaveABucketForEveryLength) {
  Latencies latencies;
  for (int shift = 0; shift < 63; ++shift) latencies.Add(nanoseconds(int64_t{1} << shift));
  latencies.Add(nanoseconds::max());
  EXPECT_EQ(latencies.Quantile(1), nanoseconds::max());
}

}  // namespace
}  // namespace tidemark::demo
