// How much memory this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark {

// The memory of the machine, or the limit of the container or service if that is lower.
uint64_t MemoryBytes();

// The lowest limit that is set for a group of processes (cgroup v2) or for one above it;
// UINT64_MAX when none is set. `root` is where the groups are mounted, `group` is "/" or "/a/b".
uint64_t GroupMemoryLimit(const std::string& root, const std::string& group);

}  // namespace tidemark
