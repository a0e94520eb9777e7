#include "base/worker_pool.h"

#include <utility>

namespace tidemark {

WorkerPool::WorkerPool(WorkerPoolOptions options) : options_(options) {
  workers_.reserve(options_.threads);
  for (size_t i = 0; i < options_.threads; ++i) {
    Worker* worker = workers_.emplace_back(std::make_unique<Worker>()).get();
    worker->thread = std::thread([this, worker] { RunWorker(worker); });
  }
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::Submit(std::function<void()> work) {
  auto [turn, later] = MakeLater<Done>();
  std::move(later).Then([work = std::move(work)](const Status& granted) {
    if (granted) work();
  });
  return Enqueue(&turn);
}

bool WorkerPool::Enqueue(Promise<Done>* turn) {
  Worker* called = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || queue_.size() >= options_.max_waiting) return false;
    queue_.push_back(std::move(*turn));
    called = CallOne();
  }
  // Without the lock: the woken thread needs it at once.
  if (called != nullptr) called->wake.notify_one();
  return true;
}

void WorkerPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  for (const auto& worker : workers_) worker->wake.notify_one();
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

size_t WorkerPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

// At most one worker is on its way at a time. It calls the next one when it has taken its work. So
// a burst of short work does not wake all threads only to find an empty queue.
WorkerPool::Worker* WorkerPool::CallOne() {
  if (is_one_called_ || queue_.empty() || asleep_.empty()) return nullptr;
  Worker* worker = asleep_.back();
  asleep_.pop_back();
  worker->called = is_one_called_ = true;
  return worker;
}

void WorkerPool::RunWorker(Worker* self) {
  std::unique_lock lock(mutex_);
  while (true) {
    if (queue_.empty()) {
      if (stopped_) return;
      asleep_.push_back(self);
      self->wake.wait(lock, [&] { return stopped_ || self->called; });
      // Another worker may have taken the work in the meantime; then the next round sleeps again.
      // After a stop all workers are awake, so a worker that is still listed in asleep_ does no
      // harm.
      if (std::exchange(self->called, false)) is_one_called_ = false;
      continue;
    }
    {
      // The end of this block destroys the turn, and with it the work, before the lock is taken
      // again.
      Promise<Done> turn = std::move(queue_.front());
      queue_.pop_front();
      Worker* next = CallOne();
      lock.unlock();
      if (next != nullptr) next->wake.notify_one();
      turn.Fulfil(Done{});
    }
    lock.lock();
  }
}

}  // namespace tidemark
