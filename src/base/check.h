// CHECK stops the program when one of its own invariants is broken. It is always
// on, in every build. Input can never reach a failing CHECK: what input can cause
// is an Error (see result.h).
#pragma once

namespace tidemark {

// Prints the broken invariant with its place, and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace tidemark

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) [[unlikely]]                             \
      ::tidemark::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)
