// Ticker does some work on a thread of its own: every second, or at once after Poke.
//
//   Ticker ticker;
//   ticker.Start([&] { LookAtTheDisk(); });
//
// Start and Stop are for the owner; any thread may call Poke and stopping.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace tidemark::embedded {

class Ticker {
 public:
  ~Ticker() { Stop(); }

  void Start(std::function<void()> work) {
    thread_ = std::thread([this, work = std::move(work)] { Loop(work); });
  }
  // Waits for the work that is under way, which may ask `stopping`.
  void Stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  void Poke() {
    {
      std::lock_guard lock(mutex_);
      poked_ = true;
    }
    wake_.notify_all();
  }
  bool stopping() const {
    std::lock_guard lock(mutex_);
    return stopping_;
  }

 private:
  static constexpr std::chrono::seconds kInterval{1};

  void Loop(const std::function<void()>& work) {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      wake_.wait_for(lock, kInterval, [&] { return poked_ || stopping_; });
      // Cleared before the work, so that a Poke during the work starts it once more.
      poked_ = false;
      lock.unlock();
      work();
      lock.lock();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool poked_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tidemark::embedded
