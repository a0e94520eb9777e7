// CHECK stops the program when one of its own invariants is broken. It is active in every build. No
// input may make a CHECK fail: problems that input can cause are Errors (see result.h).
#pragma once

namespace tidemark {

// Prints the broken invariant with its file and line, and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace tidemark

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) [[unlikely]]                             \
      ::tidemark::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)
