// The Observer writes the log lines and metrics of a Deduplicator. May be used from any thread.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "apps/dedup/claim.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"

namespace tidemark::dedup {

class Observer {
 public:
  // Logger and metrics outlive this. `table` tells the outages of two tables apart.
  Observer(const std::string& table, const Logger& logger, Metrics& metrics);

  void RecordCheck(std::string_view key, const Result<ClaimReply>& reply,
                   std::chrono::nanoseconds latency);
  void RecordStoreError();
  void RecordOutage(const Error& error, std::chrono::seconds period);
  void RecordRecovery();
  void RecordPossibleDuplicate(std::string_view key, std::string_view reason);

 private:
  static constexpr size_t kResults = 8;

  const Logger& logger_;
  std::array<Counter*, kResults> checks_ = {};  // In the order of ClaimOutcome; the last: errors.
  Counter& store_errors_;
  Counter& possible_duplicates_;
  Gauge& fallback_;
  Histogram& seconds_;
};

}  // namespace tidemark::dedup
