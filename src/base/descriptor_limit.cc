#include "base/descriptor_limit.h"

#include <algorithm>
#include <sys/resource.h>

#include "base/check.h"

namespace tidemark {

namespace {

// Enough for the files of large stores and for all connections of the HTTP client.
constexpr size_t kReservedDescriptors = 4'096;

}  // namespace

size_t RaiseDescriptorLimit() {
  rlimit limit = {};
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  const bool raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
  return raised ? limit.rlim_max : before;
}

size_t ConnectionsWithin(size_t limit, size_t wanted) {
  return std::min(wanted, limit - std::min(limit / 2, kReservedDescriptors));
}

}  // namespace tidemark
