// A Deduplicator is Claims that go on working while the store is unavailable. During an outage the
// memory of this process decides, by the same rules, for a minute at a time. Afterwards its
// decisions are written into the table, and keys that may have been handled twice are reported.
//
// "Away" means kUnavailable or kUnknown after the retries. Any other error is the store's decision
// and is passed on. Memory is bounded in age and number. The memories of two processes know nothing
// of each other, so during an outage both may say "new" for one key: that is what the report is
// for. With the policy kRefuse the answer is "refused" instead.
//
// A process checks a key once at a time. A second check at the same time gets kRunning.
//
// With a rollout share below 100 only that share of the keys goes to the store (the same keys every
// time), and memory alone decides about the rest.
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/dedup/claim.h"
#include "apps/dedup/claims.h"
#include "base/later.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/worker_pool.h"

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
  std::string reason;  // What the store had for the key when memory's decision was written back.
};

class Deduplicator {
 public:
  // The claims outlive this.
  Deduplicator(DeduplicatorOptions options, Claims* claims, const Runtime& runtime);
  ~Deduplicator();

  // As in Claims.
  Result<ClaimReply> Take(const ClaimRequest& request);
  // As in Claims. Also nullopt while the store is not available, and until everything that memory
  // decided is written back.
  Later<std::optional<ClaimReply>> TryMarkWith(ClaimRequest request, const Effect& effect);
  // Take, and Mark as in Claims, for a caller that does not wait. If one write to the store does
  // not decide, one of the workers makes the blocking call. If the store does not answer the write
  // and its retries, memory decides. The deduplicator must live until the answer.
  Later<ClaimReply> Take(ClaimRequest request, WorkerPool* workers);
  Later<ClaimReply> Mark(ClaimRequest request, WorkerPool* workers);
  // Whether these two return at once, so that a thread that must not block may call them.
  bool BeginsWithoutBlocking() const;
  Result<SettleOutcome> Renew(Claim* claim);
  Result<SettleOutcome> Complete(const Claim& claim, std::string_view result = {});
  Result<SettleOutcome> Release(const Claim& claim);
  Result<SettleOutcome> Fail(const Claim& claim, std::string_view why);
  // As in Claims, for a claim that is not local.
  std::vector<tables::TransactAction> Completion(const Claim& claim);
  // Call this when a transaction with the Completion was applied, so that memory knows that the
  // claim is completed in case the store becomes unavailable.
  void NoteCompletion(const Claim& claim);

  bool in_fallback() const;
  // Keys that memory granted and that the store already had, newest last; bounded.
  std::vector<PossibleDuplicate> PossibleDuplicates() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::dedup
