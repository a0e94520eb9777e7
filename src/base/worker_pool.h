// Threads that do work which may block, taken from one bounded queue in order.
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
  void Run();

  const WorkerPoolOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tidemark
