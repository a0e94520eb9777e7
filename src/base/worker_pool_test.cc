#include "base/worker_pool.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(WorkerPoolTest, DoesAllAcceptedWorkBeforeItStops) {
  std::atomic<int> done = 0;
  WorkerPool workers({.threads = 4, .max_waiting = 1000});
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(workers.Submit([&] { ++done; }));
  workers.Stop();
  EXPECT_EQ(done, 1000);
}

// A queue without a limit would hide an overload until there is no memory left.
TEST(WorkerPoolTest, RefusesWorkWhenTheQueueIsFull) {
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

TEST(WorkerPoolTest, AcceptsNothingAfterItStopped) {
  WorkerPool workers({.threads = 1, .max_waiting = 1});
  workers.Stop();
  EXPECT_FALSE(workers.Submit([] {}));
}

// The caller gets what the work returns, without blocking a thread.
TEST(WorkerPoolTest, GivesWhatTheWorkReturns) {
  WorkerPool workers({.threads = 1, .max_waiting = 10});
  std::thread::id ran_on;
  EXPECT_EQ(*workers
                 .Run([&] {
                   ran_on = std::this_thread::get_id();
                   return 7;
                 })
                 .Wait(),
            7);
  EXPECT_NE(ran_on, std::this_thread::get_id());
  EXPECT_EQ(workers.Run([]() -> Result<int> { return Invalid("no"); }).Wait().error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(*workers.Run([]() -> Later<int> { return 8; }).Wait(), 8);
  EXPECT_EQ(*workers.Run([] {}).Wait(), Done{});
  EXPECT_EQ(workers.Run([]() -> int { throw 1; }).Wait().error().code, ErrorCode::kInternal);
}

// The refused work is destroyed before the caller gets the refusal.
TEST(WorkerPoolTest, AnswersUnavailableForWorkThatItDoesNotAccept) {
  WorkerPool workers({.threads = 1, .max_waiting = 1});
  workers.Stop();
  bool ran = false;
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = held;
  Result<Done> answer = Done{};
  bool is_gone = false;
  workers.Run([&ran, held = std::move(held)] { ran = true; }).Then([&](Status status) {
    answer = std::move(status);
    is_gone = watched.expired();
  });
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(is_gone);
}

// Work that blocks does not prevent other work from running, although each Submit wakes at most one
// thread.
void ExpectAsManyAtATimeAsThreads() {
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

// The scheduler of the machine decides which worker wakes, so one round proves little.
TEST(WorkerPoolTest, RunsAsManyAtATimeAsItHasThreads) {
  for (int round = 0; round < 50 && !::testing::Test::HasFailure(); ++round) {
    ExpectAsManyAtATimeAsThreads();
  }
}

}  // namespace
}  // namespace tidemark
