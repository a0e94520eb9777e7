// The access log and the metrics of a server. May be called from any thread. It never gets queries,
// headers or bodies, so it cannot log them. The cause of a failure has a line of its own.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/metrics.h"

namespace tidemark::http {

struct Served {
  std::string_view method;  // Empty when the request was refused before its method was read.
  std::string_view path;
  std::string_view peer;
  std::string_view request_id;
  std::string_view caller;  // The name of the caller's token; empty when it is not known.
  std::string_view cause;   // Why the server failed; empty when it did not, or logged it itself.
  int status = 0;
  size_t body_bytes = 0;
  std::chrono::nanoseconds time = {};  // From the end of the request to its reply.
  bool is_over_limit = false;  // The 429 for a bad request, which is counted but not logged.
};

class Observer {
 public:
  using PathForLog = std::function<std::string(std::string_view)>;
  using Labels = std::map<std::string, std::string>;
  // Logger and metrics outlive the observer. All its metrics have these labels.
  Observer(const Logger& logger, Metrics* metrics, PathForLog path_for_log,
           const Labels& labels = {});

  // Counts an answer. Its line is written at the level info when the request failed or took a
  // second, and at the level debug otherwise: a busy server would write its log more often than
  // its data.
  void RecordAnswer(const Served& served);
  // The rest of a body could not be read, so the connection was closed in the middle of it.
  void LogCutShort(std::string_view request_id, std::string_view reason);
  // A request or a connection that the server refused by itself.
  void CountRefusal();
  void CountBadRequest();
  // A client read its reply too slowly, and lost its connection.
  void CountSlowReader();
  // A bad request of an address that has sent too many.
  void CountOverLimit();
  // Some were refused since the last call, the last one from this address.
  void LogOverLimit(std::string_view address, uint64_t refused);
  void CountOpened();
  void CountClosed();

 private:
  const Logger& logger_;
  const PathForLog path_for_log_;     // Unset: the path as it is, up to a length.
  std::array<Counter*, 5> answered_;  // By the first digit of the status.
  Histogram& seconds_;
  Gauge& connections_;
  Counter& refused_;
  Counter& bad_;
  Counter& over_limit_;
  Counter& slow_readers_;
};

}  // namespace tidemark::http
