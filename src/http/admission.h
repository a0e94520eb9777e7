// Counts the connections of a server, in total and for each address, and the bytes of the bodies in
// memory. Refuses what exceeds a limit. May be called from any thread. It takes a lock, so it is
// called only for connections and large bodies, not for every request.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

#include "http/byte_budget.h"
#include "http/limits.h"

namespace tidemark::http {

class Admission {
 public:
  explicit Admission(const ServerLimits& limits) : limits_(limits) {}

  // False when there are too many connections. Otherwise this one is counted until Leave.
  bool Enter(const std::string& address);
  void Leave(const std::string& address);

  ByteBudget& requests() { return requests_; }
  ByteBudget& replies() { return replies_; }

 private:
  const ServerLimits limits_;
  std::mutex mutex_;
  size_t total_ = 0;
  std::unordered_map<std::string, size_t> by_address_;
  ByteBudget requests_{limits_.max_body_bytes_at_once, limits_.max_body_bytes_per_address};
  ByteBudget replies_{limits_.max_reply_bytes_at_once, limits_.max_reply_bytes_per_address};
};

}  // namespace tidemark::http
