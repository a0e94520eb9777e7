// A Deduplicator is Claims with a plan for when the store is away: this process's memory decides
// for a minute at a time, keeps to the same states, and afterwards writes its marks into the table
// and reports which keys may have been handled twice.
//
// Only kUnavailable and kUnknown after the retries count as "away"; what the store says no to is
// passed on. Whether it is time to try the store again is a comparison of clocks. Memory is
// bounded in age and number. Different processes' memories know nothing of each other: during an
// outage two of them may both say new, which is what the report is for; the policy kRefuse says
// no instead.
//
// Two checks of one key at the same moment in one process: the second is told kRunning.
//
// With a rollout share below 100, that share of the keys (stable by key) goes to the store, and
// the rest is decided by memory alone.
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apps/dedup/claim.h"
#include "apps/dedup/claims.h"
#include "base/log.h"
#include "base/metrics.h"

namespace tidemark::dedup {

enum class OutagePolicy { kProceed, kRefuse };

struct DeduplicatorOptions {
  OutagePolicy policy = OutagePolicy::kProceed;
  std::chrono::seconds outage = std::chrono::seconds(60);  // Before the store is tried again.
  std::chrono::seconds memory_life = std::chrono::minutes(10);
  size_t max_memory = 100'000;
  uint32_t rollout_percent = 100;
};

struct PossibleDuplicate {
  std::string key;
  std::string reason;  // What the store knew of it when the mark was written back.
};

class Deduplicator {
 public:
  // All outlive this; logger and metrics may be null.
  Deduplicator(DeduplicatorOptions options, Claims* claims, const Clock* clock, Random* random,
               const Logger* logger, Metrics* metrics);
  ~Deduplicator();

  // As in Claims.
  Result<ClaimReply> Take(const ClaimRequest& request);
  Result<ClaimReply> Mark(const ClaimRequest& request);
  // As in Claims. When memory decided, the reply's claim is local and held: the effect is yet to be
  // written by the caller, who then completes the claim.
  Result<std::optional<ClaimReply>> MarkWith(const ClaimRequest& request, const Effect& effect);
  // As in Claims. It is not the usual case while the store is away, or is yet to hear of what was
  // decided without it.
  void TryMarkWith(ClaimRequest request, const Effect& effect, Claims::Granting done);
  Result<SettleOutcome> Renew(Claim* claim);
  Result<SettleOutcome> Complete(const Claim& claim, std::string_view result = {});
  Result<SettleOutcome> Release(const Claim& claim);
  Result<SettleOutcome> Fail(const Claim& claim, std::string_view why);
  // For a claim that is not local.
  std::vector<tables::TransactAction> Completion(const Claim& claim);
  // To be told once a transaction with these was applied: so that the claim is known to be
  // completed should the store go away.
  void Completed(const Claim& claim);

  bool in_fallback() const;
  // Keys that this process handled in fallback and that the store knew of, newest last; bounded.
  std::vector<PossibleDuplicate> PossibleDuplicates() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::dedup
