// Stops servers one after the other, so that all together wait until one deadline at most: a
// process that was told to stop and takes long is killed.
//
//   StopWithin(Deadline::After(clock, patience), {[&](auto left) { server.Stop(left); }, …});
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>

#include "base/deadline.h"

namespace tidemark::programs {

inline void StopWithin(
    const Deadline& deadline,
    std::initializer_list<std::function<void(std::chrono::milliseconds patience)>> stops) {
  for (const auto& stop : stops) {
    stop(std::chrono::duration_cast<std::chrono::milliseconds>(deadline.Remaining()));
  }
}

}  // namespace tidemark::programs
