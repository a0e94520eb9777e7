#include "base/worker_pool.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(WorkerPoolTest, DoesAllThatItTookBeforeItStops) {
  std::atomic<int> done = 0;
  WorkerPool workers({.threads = 4, .max_waiting = 1000});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(workers.Submit([&] { ++done; }));
  workers.Stop();
  EXPECT_EQ(done, 1000);
}

// A queue without bound would hide an overload until memory runs out.
TEST(WorkerPoolTest, RefusesWhatWouldWaitBeyondItsBound) {
  std::promise<void> started;
  std::promise<void> go;
  WorkerPool workers({.threads = 1, .max_waiting = 1});
  ASSERT_TRUE(workers.Submit([&] {
    started.set_value();
    go.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(workers.Submit([] {}));
  EXPECT_EQ(workers.waiting(), 1u);
  EXPECT_FALSE(workers.Submit([] {}));
  go.set_value();
}

TEST(WorkerPoolTest, TakesNothingAfterItStopped) {
  WorkerPool workers({.threads = 1, .max_waiting = 1});
  workers.Stop();
  EXPECT_FALSE(workers.Submit([] {}));
}

// Work that blocks does not keep other work from running.
TEST(WorkerPoolTest, RunsAsManyAtATimeAsItHasThreads) {
  std::promise<void> first;
  std::promise<void> second;
  WorkerPool workers({.threads = 2, .max_waiting = 2});
  ASSERT_TRUE(workers.Submit([&] {
    first.get_future().wait();
    second.set_value();
  }));
  ASSERT_TRUE(workers.Submit([&] { first.set_value(); }));
  second.get_future().wait();
}

}  // namespace
}  // namespace tidemark
