// Code waits with a Sleeper, which is injected like the clock. So a test of code that waits for a
// minute takes no time.
//
//   sleeper.After(wait).Then([](Status slept) {...});               // No thread waits.
//   if (!sleeper.SleepUnlessStopped(wait, stop)) return Stopped();  // This thread waits.
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/later.h"

namespace tidemark {

class Sleeper {
 public:
  virtual ~Sleeper() = default;
  // Answers Done when the length has passed on the monotonic clock, and kCancelled as soon as it is
  // cancelled or the sleeper is destroyed. Callbacks run on a thread of the sleeper and must not
  // block it.
  virtual Later<Done> After(std::chrono::nanoseconds length) = 0;
  // Returns true when the length has passed, and false as soon as a stop is requested.
  virtual bool SleepUnlessStopped(std::chrono::nanoseconds length, const std::stop_token& stop) = 0;
  // The same without a stop.
  void Sleep(std::chrono::nanoseconds length) { SleepUnlessStopped(length, {}); }
};

// One thread, which starts with the first use, waits for all callers.
class SystemSleeper final : public Sleeper {
 public:
  ~SystemSleeper() override;
  Later<Done> After(std::chrono::nanoseconds length) override;
  bool SleepUnlessStopped(std::chrono::nanoseconds length, const std::stop_token& stop) override;

 private:
  using Moment = std::chrono::steady_clock::time_point;
  using Sleeping = std::multimap<Moment, Promise<Done>>;

  void Run();
  void Wake();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
  bool stopping_ = false;
  std::vector<std::pair<Moment, Promise<Done>>> added_;  // And not seen by Run yet.
  std::thread thread_;
};

}  // namespace tidemark
