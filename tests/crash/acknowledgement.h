// What crash_writer tells kill_test about each operation that was answered, in the writer's
// order. Plain bytes on a pipe between two programs of one build.
#pragma once

#include <cstdint>

namespace tidemark::crash {

struct Acknowledgement {
  uint32_t writer = 0;
  uint32_t applied = 0;
  uint64_t count = 0;
};

}  // namespace tidemark::crash
