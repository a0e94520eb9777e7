// Counts the connections of a server, overall and by address, and says when there are too many.
// May be called from any thread; on the way of connections, not of requests.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

#include "http/limits.h"

namespace tidemark::http {

class Admission {
 public:
  explicit Admission(const ServerLimits& limits) : limits_(limits) {}

  // False when there are too many; otherwise it is counted until it leaves.
  bool Enter(const std::string& address);
  void Leave(const std::string& address);

 private:
  const ServerLimits limits_;
  std::mutex mutex_;
  size_t total_ = 0;
  std::unordered_map<std::string, size_t> by_address_;
};

}  // namespace tidemark::http
