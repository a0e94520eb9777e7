#include "apps/documents/pause.h"

#include <thread>

#include <gtest/gtest.h>

namespace tidemark::documents {
namespace {

// A day, which the test does not take.
TEST(SystemPauserTest, AStopEndsThePause) {
  SystemPauser pauser;
  std::stop_source source;
  bool passed = true;
  std::thread waiter([&] { passed = pauser.Pause(std::chrono::hours(24), source.get_token()); });
  source.request_stop();
  waiter.join();
  EXPECT_FALSE(passed);
}

TEST(SystemPauserTest, AShortPausePasses) {
  SystemPauser pauser;
  EXPECT_TRUE(pauser.Pause(std::chrono::nanoseconds(1), {}));
  EXPECT_TRUE(pauser.Pause(std::chrono::nanoseconds(0), {}));
}

}  // namespace
}  // namespace tidemark::documents
