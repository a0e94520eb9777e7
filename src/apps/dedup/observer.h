// What the deduplicator tells: a log line and metrics for every check, and a line for each thing
// that somebody should know. Both logger and metrics may be missing. May be used from any thread.
#pragma once

#include <array>
#include <chrono>
#include <string_view>

#include "apps/dedup/claim.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"

namespace tidemark::dedup {

class Observer {
 public:
  // Both may be null, and outlive this.
  Observer(const Logger* logger, Metrics* metrics);

  void Checked(std::string_view key, const Result<ClaimReply>& reply,
               std::chrono::nanoseconds latency);
  void StoreFailed();
  void OutageBegan(const Error& error, std::chrono::seconds period);
  void OutageEnded();
  void MaybeDuplicate(std::string_view key, std::string_view reason);

 private:
  static constexpr size_t kResults = 8;

  const Logger* const logger_;
  std::array<Counter*, kResults> checks_ = {};
  Counter* store_errors_ = nullptr;
  Counter* possible_duplicates_ = nullptr;
  Gauge* fallback_ = nullptr;
  Histogram* seconds_ = nullptr;
};

}  // namespace tidemark::dedup
