// What a server tells about its work: a line in the access log and the metrics. Either may be
// absent. May be called from any thread; never sees queries, headers or bodies.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/metrics.h"

namespace tidemark::http {

struct Served {
  std::string_view method;  // Empty when the request was refused before it was known.
  std::string_view path;
  std::string_view peer;
  std::string_view request_id;
  int status = 0;
  size_t body_bytes = 0;
  std::chrono::nanoseconds time = {};  // From the whole request to its reply.
};

class Observer {
 public:
  using PathForLog = std::function<std::string(std::string_view)>;
  // Logger and metrics may be null, and outlive the observer.
  Observer(const Logger* logger, Metrics* metrics, PathForLog path_for_log);

  // Whether paths are of any use to it.
  bool logs() const { return logger_ != nullptr; }

  void Answered(const Served& served);
  // The rest of a body could not be read, so the connection ends before it does.
  void CutShort(std::string_view request_id, std::string_view reason);
  // A request or a connection that the server refused by itself.
  void Refused();
  void Opened();
  void Closed();

 private:
  const Logger* const logger_;
  const PathForLog path_for_log_;          // Unset: the path as it is.
  std::array<Counter*, 5> answered_ = {};  // By the first digit of the status.
  Histogram* seconds_ = nullptr;
  Gauge* connections_ = nullptr;
  Counter* refused_ = nullptr;
};

}  // namespace tidemark::http
