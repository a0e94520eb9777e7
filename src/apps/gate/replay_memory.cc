#include "apps/gate/replay_memory.h"

#include <cstring>

#include "apps/gate/limits.h"
#include "base/check.h"

namespace tidemark::gate {

using std::chrono::nanoseconds;

ReplayMemory::ReplayMemory(size_t max_entries, const Clock* clock)
    : max_entries_(max_entries), clock_(*clock) {}

Remembered ReplayMemory::Remember(std::string_view digest) {
  const Name name = NameOf(digest);
  const nanoseconds now = clock_.Monotonic();
  Shard& shard = ShardOf(name);
  {
    std::lock_guard lock(shard.mutex);
    DropExpired(&shard, now);
    if (shard.until.contains(name)) return Remembered::kSeen;
  }
  if (!MakeRoom()) return Remembered::kFull;
  // Another thread may have inserted the same name between the two locks. The insertion decides
  // which of them was first.
  std::lock_guard lock(shard.mutex);
  if (!shard.until.emplace(name, now + kReplayLife).second) {
    --entries_;
    return Remembered::kSeen;
  }
  shard.by_age.push_back({.until = now + kReplayLife, .name = name});
  return Remembered::kFirst;
}

void ReplayMemory::Forget(std::string_view digest) {
  const Name name = NameOf(digest);
  Shard& shard = ShardOf(name);
  std::lock_guard lock(shard.mutex);
  shard.until.erase(name);
}

ReplayMemory::Name ReplayMemory::NameOf(std::string_view digest) {
  Name name;
  CHECK(digest.size() >= sizeof(name));
  std::memcpy(&name, digest.data(), sizeof(name));
  return name;
}

// Reserves room for one entry. When the memory is full, first drops expired entries of all shards.
bool ReplayMemory::MakeRoom() {
  if (entries_.fetch_add(1) < max_entries_) return true;
  const nanoseconds now = clock_.Monotonic();
  for (Shard& shard : shards_) {
    std::lock_guard lock(shard.mutex);
    DropExpired(&shard, now);
  }
  // The count includes the entry that we are about to add.
  if (entries_ <= max_entries_) return true;
  --entries_;
  return false;
}

void ReplayMemory::DropExpired(Shard* shard, nanoseconds now) {
  while (!shard->by_age.empty() && shard->by_age.front().until <= now) {
    const Entry& oldest = shard->by_age.front();
    auto found = shard->until.find(oldest.name);
    // A name that was forgotten and remembered again has a second, younger entry. It must stay.
    if (found != shard->until.end() && found->second == oldest.until) shard->until.erase(found);
    shard->by_age.pop_front();
    --entries_;
  }
}

}  // namespace tidemark::gate
