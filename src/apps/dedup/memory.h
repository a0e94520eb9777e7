// Memory is the claims of this process alone, for while the table is away: the same rows, the
// same states, bounded in age and number. It also remembers what the table decided lately, so that
// an outage does not make this process forget what it knew.
//
// Guarded by its owner's lock. Nothing here is shared between processes, or survives one.
#pragma once

#include <chrono>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/dedup/attempt.h"
#include "apps/dedup/claim.h"
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

  // As Claims::Take and Claims::Mark. The request has its nonce.
  Result<ClaimReply> Take(const ClaimRequest& request, RowStatus status);

  // What becomes of a claim.
  enum class Settlement { kRenewed, kCompleted, kReleased, kFailed };
  // As in Claims. A claim whose rows were forgotten meanwhile is settled: nobody took them over.
  SettleOutcome Settle(const Claim& claim, Settlement settlement, std::string_view text = {});

  // The table's word: the keys are held by this claim; or have this status, whoever settled them.
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
