#include "base/single_flight.h"

#include <atomic>
#include <functional>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {

// Each caller's own work gives another number: equal numbers are shared results.
TEST(SingleFlightTest, ThoseWhoComeMeanwhileShareTheResult) {
  SingleFlight<int> flights;
  std::atomic<int> works = 0;
  std::mutex mutex;
  std::multiset<int> results;
  auto call = [&](const std::function<void()>& during) {
    int result = flights.Do("key", [&] {
      during();
      return ++works;
    });
    std::lock_guard lock(mutex);
    results.insert(result);
    return result;
  };
  std::latch started(1);
  std::latch release(1);
  std::jthread first([&] {
    // Nobody worked beside it, or its number would not be the first.
    EXPECT_EQ(call([&] {
                started.count_down();
                release.wait();
              }),
              1);
  });
  started.wait();
  std::vector<std::jthread> others;
  for (int i = 0; i < 8; ++i) others.emplace_back([&] { call([] {}); });
  // Another key does not wait.
  EXPECT_EQ(flights.Do("other", [] { return 7; }), 7);
  release.count_down();
  others.clear();
  first.join();
  EXPECT_EQ(results.size(), 9U);
  EXPECT_EQ(std::set<int>(results.begin(), results.end()).size(), static_cast<size_t>(works));
}

// A failure must not stick.
TEST(SingleFlightTest, NothingIsKept) {
  SingleFlight<int> flights;
  EXPECT_EQ(flights.Do("key", [] { return 1; }), 1);
  EXPECT_EQ(flights.Do("key", [] { return 2; }), 2);
}

}  // namespace tidemark
