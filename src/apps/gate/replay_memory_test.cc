#include "apps/gate/replay_memory.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/hashing.h"
#include "tests/support/manual_time.h"

namespace tidemark::gate {

using std::chrono::seconds;

std::string Digest(int number) { return Sha256(std::to_string(number)); }

TEST(ReplayMemoryTest, RemembersForItsLife) {
  ManualClock clock;
  ReplayMemory memory(100, &clock);
  EXPECT_EQ(memory.Remember(Digest(1)), Remembered::kFirst);
  clock.Advance(seconds(604));
  EXPECT_EQ(memory.Remember(Digest(1)), Remembered::kSeen);
  clock.Advance(seconds(1));
  EXPECT_EQ(memory.Remember(Digest(1)), Remembered::kFirst);
}

// Setting the wall clock forward and back must not allow a replay.
TEST(ReplayMemoryTest, IgnoresTheWallClock) {
  ManualClock clock;
  ReplayMemory memory(100, &clock);
  EXPECT_EQ(memory.Remember(Digest(1)), Remembered::kFirst);
  const EpochSeconds now = clock.NowSeconds();
  clock.SetNow(now + 86'400);
  EXPECT_EQ(memory.Remember(Digest(2)), Remembered::kFirst);
  clock.SetNow(now);
  EXPECT_EQ(memory.Remember(Digest(1)), Remembered::kSeen);
}

// If a full memory dropped entries, a flood of requests would allow a replay.
TEST(ReplayMemoryTest, RefusesWhenFullAndForgetsNothing) {
  ManualClock clock;
  ReplayMemory memory(50, &clock);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(memory.Remember(Digest(i)), Remembered::kFirst) << i;
  for (int i = 50; i < 100; ++i) EXPECT_EQ(memory.Remember(Digest(i)), Remembered::kFull) << i;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(memory.Remember(Digest(i)), Remembered::kSeen) << i;
  clock.Advance(seconds(605));
  for (int i = 50; i < 100; ++i) EXPECT_EQ(memory.Remember(Digest(i)), Remembered::kFirst) << i;
  EXPECT_EQ(memory.Remember(Digest(100)), Remembered::kFull);
}

TEST(ReplayMemoryTest, AcceptsAForgottenRequestAgain) {
  ManualClock clock;
  ReplayMemory memory(100, &clock);
  memory.Remember(Digest(1));
  clock.Advance(seconds(100));
  memory.Forget(Digest(1));
  memory.Forget(Digest(2));
  EXPECT_EQ(memory.Remember(Digest(1)), Remembered::kFirst);
  // When it is remembered again, its life begins again.
  clock.Advance(seconds(604));
  EXPECT_EQ(memory.Remember(Digest(1)), Remembered::kSeen);
  clock.Advance(seconds(1));
  EXPECT_EQ(memory.Remember(Digest(1)), Remembered::kFirst);
}

// Otherwise requests that fail again and again would fill the memory.
TEST(ReplayMemoryTest, LimitsRepeatedRememberingAndForgetting) {
  ManualClock clock;
  ReplayMemory memory(10, &clock);
  int first = 0;
  for (int i = 0; i < 100; ++i) {
    first += memory.Remember(Digest(1)) == Remembered::kFirst ? 1 : 0;
    memory.Forget(Digest(1));
  }
  EXPECT_EQ(first, 10);
}

TEST(ReplayMemoryTest, OneOfManyConcurrentCallsIsTheFirst) {
  ManualClock clock;
  ReplayMemory memory(1'000, &clock);
  std::atomic<int> first = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (memory.Remember(Digest(i)) == Remembered::kFirst) ++first;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(first, 200);
}

}  // namespace tidemark::gate
