// Memory holds claims in this process, for the time while the table is unavailable. It has the same
// rows and follows the same rules as the table (claim_rules.h), but is bounded in age and number.
// It also remembers what the table decided lately, so that an outage does not make the process
// forget it.
//
// Guarded by its owner's lock. Other processes do not see it, and it ends with the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/dedup/claim.h"
#include "apps/dedup/claim_rules.h"
#include "apps/dedup/row.h"
#include "base/clock.h"
#include "base/result.h"

namespace tidemark::dedup {

struct MemoryOptions {
  std::chrono::seconds life;
  std::chrono::seconds lease;
  size_t max_rows = 0;
  uint32_t max_failures = 0;
};

class Memory {
 public:
  // The clock outlives this.
  Memory(MemoryOptions options, const Clock* clock) : options_(options), clock_(*clock) {}

  // Like Claims::Take and Claims::Mark. The request must have a nonce.
  Result<ClaimReply> Take(const ClaimRequest& request, RowStatus status);

  // How a claim is changed.
  enum class Settlement { kRenewed, kCompleted, kReleased, kFailed };
  // As in Claims. A claim whose rows were dropped from memory can still be settled: no other worker
  // took it over.
  SettleOutcome Settle(const Claim& claim, Settlement settlement, std::string_view text = {});

  // What the table said: that this claim holds the keys, or that the keys are done or failed.
  void RememberClaim(const Claim& claim);
  void RememberOutcome(const std::vector<std::string>& keys, const ClaimReply& reply);

  size_t size() const { return rows_.size(); }

 private:
  struct Entry {
    Row row;
    std::list<std::string>::iterator place;
  };

  const Row* Find(const std::string& key) const;
  void Store(Row row);
  void Forget(const std::string& key);
  EpochSeconds Expires() const { return clock_.NowSeconds() + options_.life.count(); }

  const MemoryOptions options_;
  const Clock& clock_;
  std::unordered_map<std::string, Entry> rows_;
  std::list<std::string> oldest_first_;
};

}  // namespace tidemark::dedup
