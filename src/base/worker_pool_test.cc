#include "base/worker_pool.h"

#include <atomic>
#include <chrono>
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

// Work that blocks does not keep other work from running, however little each Submit wakes.
TEST(WorkerPoolTest, RunsAsManyAtATimeAsItHasThreads) {
  constexpr int kThreads = 16;
  std::atomic<int> missing = kThreads;
  std::promise<void> all_run;
  std::promise<void> go;
  const std::shared_future<void> may_end = go.get_future().share();
  WorkerPool workers({.threads = kThreads, .max_waiting = kThreads});
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_TRUE(workers.Submit([&] {
      if (--missing == 0) all_run.set_value();
      may_end.wait();
    }));
  }
  EXPECT_EQ(all_run.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  go.set_value();
}

}  // namespace
}  // namespace tidemark
