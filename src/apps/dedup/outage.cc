#include "apps/dedup/outage.h"

#include <algorithm>
#include <utility>

namespace tidemark::dedup {

// The period has passed when either clock says so: the monotonic clock stops while the machine
// sleeps, and the wall clock may be set back.
bool Outage::InEffect() const {
  const bool passed =
      clock_.Monotonic() - start_ >= period_ || clock_.Now() - wall_start_ >= period_;
  return away_ && !passed;
}

// A failure while an outage is in effect does not start a new period: one error line for a minute.
bool Outage::Begin() {
  if (InEffect()) return false;
  away_ = true;
  wall_start_ = clock_.Now();
  start_ = clock_.Monotonic();
  return true;
}

bool Outage::End() { return std::exchange(away_, false); }

// The version tells a writer that holds a copy whether the write changed while it was being sent.
std::optional<PendingWrite> PendingWrites::Set(PendingWrite pending) {
  const std::string nonce = pending.request.nonce;
  if (const PendingWrite* old = Find(nonce)) pending.version = old->version + 1;
  Erase(nonce);
  for (const std::string& key : pending.request.keys) nonces_by_key_.emplace(key, nonce);
  oldest_first_.push_back(std::move(pending));
  by_nonce_.emplace(nonce, std::prev(oldest_first_.end()));
  if (oldest_first_.size() <= max_) return std::nullopt;
  PendingWrite dropped = oldest_first_.front();
  Erase(dropped.request.nonce);
  return dropped;
}

const PendingWrite* PendingWrites::Find(const std::string& nonce) const {
  const auto found = by_nonce_.find(nonce);
  return found == by_nonce_.end() ? nullptr : &*found->second;
}

void PendingWrites::Remove(const PendingWrite& copy) {
  const PendingWrite* current = Find(copy.request.nonce);
  if (current && current->version == copy.version) Erase(copy.request.nonce);
}

// The writes about the keys come first, because the caller asks the store about them next.
std::vector<PendingWrite> PendingWrites::For(const std::vector<std::string>& keys,
                                             size_t more) const {
  std::vector<PendingWrite> chosen;
  const auto choose = [&](const PendingWrite& pending) {
    const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const PendingWrite& other) {
      return other.request.nonce == pending.request.nonce;
    });
    if (!known) chosen.push_back(pending);
  };
  for (const std::string& key : keys) {
    const auto [begin, end] = nonces_by_key_.equal_range(key);
    for (auto found = begin; found != end; ++found) choose(*Find(found->second));
  }
  for (auto next = oldest_first_.begin(); next != oldest_first_.end() && more > 0; ++next, --more) {
    choose(*next);
  }
  return chosen;
}

void PendingWrites::Erase(const std::string& nonce) {
  const auto found = by_nonce_.find(nonce);
  if (found == by_nonce_.end()) return;
  for (const std::string& key : found->second->request.keys) {
    const auto [begin, end] = nonces_by_key_.equal_range(key);
    const auto own =
        std::find_if(begin, end, [&](const auto& entry) { return entry.second == nonce; });
    if (own != end) nonces_by_key_.erase(own);
  }
  oldest_first_.erase(found->second);
  by_nonce_.erase(found);
}

}  // namespace tidemark::dedup
