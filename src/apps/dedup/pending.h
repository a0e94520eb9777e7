// What was decided while the table was away and is still to be written into it, in order, bounded.
//
// Guarded by its owner's lock.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/dedup/claim.h"
#include "apps/dedup/memory.h"

namespace tidemark::dedup {

// A claim, and what became of it; nullopt: it is being worked on.
struct Pending {
  ClaimRequest request;                             // With the nonce that proves it.
  std::optional<Claim> store_claim = std::nullopt;  // When the table granted it before it went.
  std::optional<Memory::Settlement> settlement = std::nullopt;
  std::string text = {};
  uint64_t version = 0;  // Rises when it changes.
};

class PendingWrites {
 public:
  explicit PendingWrites(size_t max) : max_(max) {}

  // In place of what is pending under the same nonce. What had to go for it, if anything.
  std::optional<Pending> Set(Pending pending);
  // nullptr when nothing is pending under this nonce.
  const Pending* Find(const std::string& nonce) const;
  // Unless it changed since it was copied.
  void Remove(const Pending& copy);
  // Those that hold one of the keys, and up to `more` others, the oldest first.
  std::vector<Pending> For(const std::vector<std::string>& keys, size_t more) const;

  size_t size() const { return oldest_first_.size(); }

 private:
  void Erase(const std::string& nonce);

  const size_t max_;
  std::list<Pending> oldest_first_;
  std::unordered_map<std::string, std::list<Pending>::iterator> by_nonce_;
  std::unordered_multimap<std::string, std::string> nonces_by_key_;
};

}  // namespace tidemark::dedup
