// Counts the connections of a server, overall and by address, and the bytes of the bodies that they
// send, and says when there are too many. May be called from any thread; on the way of connections
// and of large bodies, not of every request.
#pragma once

#include <atomic>
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

  // False when that many bytes are too many beside the others; otherwise they are counted until
  // they are given back.
  bool TakeBodyBytes(size_t bytes);
  void GiveBodyBytes(size_t bytes) { body_bytes_ -= bytes; }

 private:
  const ServerLimits limits_;
  std::mutex mutex_;
  size_t total_ = 0;
  std::unordered_map<std::string, size_t> by_address_;
  std::atomic<size_t> body_bytes_ = 0;
};

}  // namespace tidemark::http
