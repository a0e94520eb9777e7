#include "base/sleeper.h"

#include <thread>

namespace tidemark {

void SystemSleeper::Sleep(std::chrono::nanoseconds length) { std::this_thread::sleep_for(length); }

void ManualSleeper::Sleep(std::chrono::nanoseconds length) {
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(length);
  clock_.Advance(rounded);
  const std::lock_guard lock(mutex_);
  slept_.push_back(rounded);
}

std::vector<std::chrono::milliseconds> ManualSleeper::slept() const {
  const std::lock_guard lock(mutex_);
  return slept_;
}

}  // namespace tidemark
