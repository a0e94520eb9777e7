// A Background does one thing again and again on a thread of its own, with a pause between.
//
//   Background background(std::chrono::seconds(1), [&] { ... });
//
// The work does not throw. It ends with the Background, which waits for a round under way.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tidemark::api {

class Background {
 public:
  Background(std::chrono::milliseconds pause, std::function<void()> round);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  void Run();

  const std::chrono::milliseconds pause_;
  const std::function<void()> round_;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool ends_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace tidemark::api
