// How much a randomised test does: little in every run, or more if the environment has
// TIDEMARK_LONG=1 (./dev test --long). Any thread may call this.
// Sanitizers make a program many times slower, so that long tests do less in the debug presets.
#pragma once

#include <cstdlib>
#include <string_view>

namespace tidemark::testing {

struct Amounts {
  int usual = 0;
  int release = 0;
  int debug = 0;  // In place of `usual` in the debug presets, unless it is 0.
};

inline int AmountOf(Amounts amounts) {
  const char* wanted = std::getenv("TIDEMARK_LONG");
  if (wanted != nullptr && std::string_view(wanted) == "1") return amounts.release;
#ifndef NDEBUG
  if (amounts.debug != 0) return amounts.debug;
#endif
  return amounts.usual;
}

}  // namespace tidemark::testing
