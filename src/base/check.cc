#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tidemark {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}

}  // namespace tidemark
