// How much a randomised test does: enough for every change, or, when the environment says
// TIDEMARK_LONG=1, enough for a release. Any thread may ask.
#pragma once

#include <cstdlib>
#include <string_view>

namespace tidemark::testing {

struct Amounts {
  int usual = 0;
  int release = 0;
};

inline int AmountOf(Amounts amounts) {
  const char* wanted = std::getenv("TIDEMARK_LONG");
  return wanted != nullptr && std::string_view(wanted) == "1" ? amounts.release : amounts.usual;
}

}  // namespace tidemark::testing
