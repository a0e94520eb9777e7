// Threads that do work which may block. They take it from one queue with a limit, in order.
//
//   WorkerPool workers({.threads = 64, .max_waiting = 4096});
//   Later<Row> row = workers.Run([&] { return LoadRow(key); });
//
// No more threads wake than the work needs. A thread that wakes takes the first work, and wakes the
// next thread only when more is waiting. The thread that went to sleep last is woken first: its
// stack is still in the processor's cache. So work that does not block stays on about as many
// threads as there are processors, even when the pool has many more.
//
// Each job that blocks has a pool of its own, with its own bound: the routes, the bodies that are
// read from files, an import. So a job that waits for a slow disk uses up its own threads only.
//
// Run and Submit may be called from any thread. All accepted work is done before Stop returns.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/later.h"

namespace tidemark {

struct WorkerPoolOptions {
  size_t threads = 1;
  size_t max_waiting = 1;
};

class WorkerPool {
 public:
  explicit WorkerPool(WorkerPoolOptions options);
  // Calls Stop.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls `work` on one of the threads. The answer is what `work` returns: a value, a Result, a
  // Later, or Done if it returns nothing. When too much work is waiting, and after Stop, `work` is
  // not called, and the answer is kUnavailable at once. An exception in it becomes kInternal.
  template <typename Work>
  auto Run(Work work);
  // The same for work without an answer, which must not throw. False: it was not accepted.
  [[nodiscard]] bool Submit(std::function<void()> work);
  // Accepts no more work, does the accepted work, and ends the threads.
  void Stop();
  size_t waiting() const;

 private:
  struct Worker {
    std::condition_variable wake;
    bool called = false;
    std::thread thread;
  };

  // Fulfils `turn` on one of the threads. False: not accepted, and `turn` is untouched.
  bool Enqueue(Promise<Done>* turn);
  void RunWorker(Worker* self);
  // The thread to wake for the waiting work; null when one is already waking up, or when none
  // sleeps.
  Worker* CallOne();

  const WorkerPoolOptions options_;
  mutable std::mutex mutex_;
  std::deque<Promise<Done>> queue_;  // Fulfilling a promise runs its work.
  bool stopped_ = false;
  std::vector<Worker*> asleep_;  // The thread that went to sleep last is at the end.
  bool is_one_called_ = false;   // A thread was woken and has not read the queue yet.
  std::vector<std::unique_ptr<Worker>> workers_;
};

template <typename Work>
auto WorkerPool::Run(Work work) {
  using R = std::invoke_result_t<Work&>;
  using Answer = std::conditional_t<std::is_void_v<R>, Done, R>;
  auto [turn, later] = MakeLater<Done>();
  // The work is attached before the turn is queued, so that it never runs on this thread.
  auto answer = std::move(later).Then(
      [work = std::move(work)](Status granted) mutable -> later_detail::AsLater<Answer> {
        if (!granted) return std::move(granted).error();
        if constexpr (std::is_void_v<R>) {
          work();
          return Done{};
        } else {
          return work();
        }
      });
  if (!Enqueue(&turn)) {
    turn.Fulfil(Error{ErrorCode::kUnavailable, "too much is waiting already: try again later"});
  }
  return answer;
}

}  // namespace tidemark
