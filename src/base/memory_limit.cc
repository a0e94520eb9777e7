#include "base/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace tidemark {

namespace {

// The lowest number in the files of this name, from the group up to the root. In a container the
// group may be named as on the host, where it is not mounted; then only the root has a file.
uint64_t LowestLimit(const std::string& root, std::string group, const char* name) {
  uint64_t lowest = UINT64_MAX;
  for (;; group.erase(group.rfind('/'))) {
    std::ifstream file(root + group + "/" + name);
    uint64_t limit = 0;
    // Without a limit version 2 has the word "max", and version 1 a number near 2^63.
    if (file >> limit) lowest = std::min(lowest, limit);
    if (group.rfind('/') == std::string::npos) return lowest;
  }
}

bool IsInList(const std::string& word, const std::string& list) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

}  // namespace

uint64_t GroupMemoryLimit(const std::string& root, const std::string& membership) {
  uint64_t lowest = UINT64_MAX;
  std::ifstream file(membership);
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      lowest = std::min(lowest, LowestLimit(root, group, "memory.max"));
    } else if (IsInList("memory", controllers)) {
      lowest = std::min(lowest, LowestLimit(root + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return lowest;
}

uint64_t MemoryBytes() {
  const uint64_t of_machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(of_machine, GroupMemoryLimit("/sys/fs/cgroup", "/proc/self/cgroup"));
}

}  // namespace tidemark
