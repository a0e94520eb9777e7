#include "apps/dedup/claims.h"

#include <gtest/gtest.h>

namespace tidemark::dedup {
namespace {

using namespace std::chrono_literals;

// Six hours are the seed's default. With Delayed Events Slack retries for a day.
TEST(WindowTest, WarnsWhenSlackMayComeAgainLater) {
  const Status status = CheckWindow(6h, {});
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("21600"), std::string::npos);
  EXPECT_NE(status.error().message.find("93604"), std::string::npos);
  EXPECT_TRUE(CheckWindow(ShortestWindow({}), {}));
  EXPECT_FALSE(CheckWindow(ShortestWindow({}) - 1s, {}));
}

// Without Delayed Events: the last retry comes after six minutes.
TEST(WindowTest, AcceptsTheSeedsWindowWithoutDelayedEvents) {
  EXPECT_TRUE(CheckWindow(6h, {.longest_redelivery = 6min}));
}

}  // namespace
}  // namespace tidemark::dedup
