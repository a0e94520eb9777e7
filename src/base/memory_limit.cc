#include "base/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace tidemark {

namespace {

// The group of this process, from the line "0::/a/b".
std::string OwnGroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return "/";
}

}  // namespace

uint64_t GroupMemoryLimit(const std::string& root, const std::string& group) {
  uint64_t lowest = UINT64_MAX;
  for (std::string path = group;; path.erase(path.rfind('/'))) {
    std::ifstream file(root + path + "/memory.max");
    uint64_t limit = 0;
    // Without a limit the file has the word "max", or there is no file.
    if (file >> limit) lowest = std::min(lowest, limit);
    if (path.empty() || path.rfind('/') == std::string::npos) return lowest;
  }
}

uint64_t MemoryBytes() {
  const uint64_t of_machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(of_machine, GroupMemoryLimit("/sys/fs/cgroup", OwnGroup()));
}

}  // namespace tidemark
