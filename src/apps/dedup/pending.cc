#include "apps/dedup/pending.h"

#include <algorithm>
#include <utility>

namespace tidemark::dedup {

std::optional<Pending> PendingWrites::Set(Pending pending) {
  const std::string nonce = pending.request.nonce;
  if (const Pending* old = Find(nonce)) pending.version = old->version + 1;
  Erase(nonce);
  for (const std::string& key : pending.request.keys) nonces_by_key_.emplace(key, nonce);
  oldest_first_.push_back(std::move(pending));
  by_nonce_.emplace(nonce, std::prev(oldest_first_.end()));
  if (oldest_first_.size() <= max_) return std::nullopt;
  Pending dropped = oldest_first_.front();
  Erase(dropped.request.nonce);
  return dropped;
}

const Pending* PendingWrites::Find(const std::string& nonce) const {
  const auto found = by_nonce_.find(nonce);
  return found == by_nonce_.end() ? nullptr : &*found->second;
}

void PendingWrites::Remove(const Pending& copy) {
  const Pending* current = Find(copy.request.nonce);
  if (current && current->version == copy.version) Erase(copy.request.nonce);
}

std::vector<Pending> PendingWrites::For(const std::vector<std::string>& keys, size_t more) const {
  std::vector<Pending> chosen;
  const auto choose = [&](const Pending& pending) {
    const bool known = std::any_of(chosen.begin(), chosen.end(), [&](const Pending& other) {
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
