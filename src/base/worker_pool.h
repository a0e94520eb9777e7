// Threads that do work which may block, taken from one bounded queue in order.
//
// No more of them wake than the work needs: whoever is called takes some and calls the next when
// more is waiting, and the one that slept last is called first, since it is the fastest. Work that
// does not block so stays on as many threads as there are processors, however many could do it.
//
//   WorkerPool workers({.threads = 64, .max_waiting = 4096});
//   if (!workers.Submit([...] { ... })) return Busy();
//
// Submit may be called from any thread. Work does not throw. What was accepted is done before Stop
// returns.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tidemark {

struct WorkerPoolOptions {
  size_t threads = 1;
  size_t max_waiting = 1;
};

class WorkerPool {
 public:
  explicit WorkerPool(WorkerPoolOptions options);
  // As Stop.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False when too much is waiting, or after Stop; the work was not taken then.
  [[nodiscard]] bool Submit(std::function<void()> work);
  // Takes no more, does what was taken, and ends the threads.
  void Stop();
  size_t waiting() const;

 private:
  struct Worker {
    std::condition_variable wake;
    bool called = false;
    std::thread thread;
  };

  void Run(Worker* self);
  // Whom to wake for what is waiting; null when somebody is on the way already, or nobody sleeps.
  Worker* CallOne();

  const WorkerPoolOptions options_;
  mutable std::mutex mutex_;
  std::deque<std::function<void()>> queue_;
  bool stopped_ = false;
  std::vector<Worker*> asleep_;  // Who slept last is last.
  bool is_one_called_ = false;   // And has not looked at the queue yet.
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace tidemark
