// What a Deduplicator keeps about an outage of the store: whether there is one (Outage), and what
// was decided during it and has to be written into the store afterwards (PendingWrites).
//
// Both are guarded by their owner's lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/dedup/claim.h"
#include "apps/dedup/memory.h"
#include "base/clock.h"

namespace tidemark::dedup {

// Whether the store is unavailable, and when to try it again. This is a comparison of clocks and
// not a timer, because a timer would stop while the process is frozen.
class Outage {
 public:
  // The clock outlives this.
  Outage(std::chrono::seconds period, const Clock* clock) : period_(period), clock_(*clock) {}

  // Whether the store is unavailable and should not be tried yet.
  bool InEffect() const;
  // The store did not answer. True when this starts a new period.
  bool Begin();
  // The store answered. True when it had been unavailable.
  bool End();

 private:
  const std::chrono::seconds period_;
  const Clock& clock_;
  bool away_ = false;
  std::chrono::milliseconds wall_start_ = {};
  std::chrono::nanoseconds start_ = {};
};

// A claim that the store does not know yet, or whose end it does not know yet.
struct PendingWrite {
  ClaimRequest request;                             // With the nonce that proves the claim.
  std::optional<Claim> store_claim = std::nullopt;  // When the store granted it before the outage.
  std::optional<Memory::Settlement> settlement = std::nullopt;  // nullopt: the work still runs.
  std::string text = {};                                        // The result, or why it failed.
  uint64_t version = 0;                                         // Rises with every change.
};

// In the order in which they were added, bounded.
class PendingWrites {
 public:
  explicit PendingWrites(size_t max) : max_(max) {}

  // Replaces what is pending with the same nonce. Returns the write that was dropped to make room,
  // if any.
  std::optional<PendingWrite> Set(PendingWrite pending);
  // nullptr when nothing is pending with this nonce.
  const PendingWrite* Find(const std::string& nonce) const;
  // Removes the write, unless it changed after `copy` was made: then the change is still to be
  // written.
  void Remove(const PendingWrite& copy);
  // The writes about one of the keys, and up to `more` others, oldest first.
  std::vector<PendingWrite> For(const std::vector<std::string>& keys, size_t more) const;

  size_t size() const { return oldest_first_.size(); }

 private:
  void Erase(const std::string& nonce);

  const size_t max_;
  std::list<PendingWrite> oldest_first_;
  std::unordered_map<std::string, std::list<PendingWrite>::iterator> by_nonce_;
  std::unordered_multimap<std::string, std::string> nonces_by_key_;
};

}  // namespace tidemark::dedup
