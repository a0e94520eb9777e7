// How much memory this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark {

// The memory of the machine, or the limit of the container or service if that is lower.
uint64_t MemoryBytes();

// The lowest limit that is set for the groups of a process or for groups above them; UINT64_MAX
// when none is set. `root` is where the groups are mounted (/sys/fs/cgroup), and `membership` is a
// file that lists the groups of the process (/proc/self/cgroup). Both versions of groups are read:
//
//   0::/a/b             version 2: ROOT/a/b/memory.max
//   5:cpu,memory:/a/b   version 1: ROOT/memory/a/b/memory.limit_in_bytes
uint64_t GroupMemoryLimit(const std::string& root, const std::string& membership);

}  // namespace tidemark
