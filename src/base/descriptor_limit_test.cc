#include "base/descriptor_limit.h"

#include <sys/resource.h>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// Review: E8
TEST(DescriptorLimitTest, IsRaisedAsFarAsTheSystemAllows) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = 256, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(RaiseDescriptorLimit(), before.rlim_max);
  rlimit after = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

// Review: E8
TEST(DescriptorLimitTest, LeavesDescriptorsForTheStores) {
  EXPECT_EQ(ConnectionsWithin(1'024, 10'000), 512u);
  EXPECT_EQ(ConnectionsWithin(10'000, 10'000), 5'904u);
  EXPECT_EQ(ConnectionsWithin(1 << 20, 10'000), 10'000u);
  EXPECT_EQ(ConnectionsWithin(1 << 20, 5), 5u);
}

}  // namespace
}  // namespace tidemark
