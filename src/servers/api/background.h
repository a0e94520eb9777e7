// A Background calls a function again and again on a thread of its own, with a pause after each
// call.
//
//   Background background(std::chrono::seconds(1), logger, [&] { ... });
//
// When the function throws, that is logged, and the function is called again after the pause. The
// destructor waits for a call that is running.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/log.h"

namespace tidemark::api {

class Background {
 public:
  // The logger outlives this.
  Background(std::chrono::milliseconds pause, const Logger& logger, std::function<void()> round);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  void Run();
  void CallRound() const;

  const std::chrono::milliseconds pause_;
  const Logger& logger_;
  const std::function<void()> round_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool ends_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace tidemark::api
