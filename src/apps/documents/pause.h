// How documents wait, so that who gives up does not wait on: injected like the clock.
#pragma once

#include <chrono>
#include <stop_token>

namespace tidemark::documents {

class Pauser {
 public:
  virtual ~Pauser() = default;
  // Returns when the length has passed on the monotonic clock, or at once when a stop is asked
  // for. False: it was. May be called from any thread.
  virtual bool Pause(std::chrono::nanoseconds length, const std::stop_token& stop) = 0;
};

// Blocks the calling thread.
class SystemPauser final : public Pauser {
 public:
  bool Pause(std::chrono::nanoseconds length, const std::stop_token& stop) override;
};

}  // namespace tidemark::documents
