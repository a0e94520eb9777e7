// Counts the connections of a server, in total and for each address, and the bytes of the request
// bodies in memory. Refuses what exceeds a limit. May be called from any thread. It takes a lock,
// so it is called only for connections and large bodies, not for every request.
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

  // False when there are too many connections. Otherwise this one is counted until Leave.
  bool Enter(const std::string& address);
  void Leave(const std::string& address);

  // False when the sum of all bodies, or of the bodies of this address, would exceed its limit.
  // Otherwise the bytes are counted until they are given back.
  bool TakeBodyBytes(const std::string& address, size_t bytes);
  void GiveBodyBytes(const std::string& address, size_t bytes);

 private:
  const ServerLimits limits_;
  std::mutex mutex_;
  size_t total_ = 0;
  std::unordered_map<std::string, size_t> by_address_;
  size_t body_bytes_ = 0;
  std::unordered_map<std::string, size_t> body_bytes_by_address_;
};

}  // namespace tidemark::http
