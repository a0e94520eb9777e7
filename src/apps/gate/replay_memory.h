// The ReplayMemory remembers signed requests, so that the same bytes are accepted only once. It
// belongs to one process and is lost when the process ends. Between processes and after a restart,
// the claim of the event's id prevents a second handling (docs/decisions/0010-replay-memory.md).
//
// Requests are identified by digests of at least 16 evenly distributed bytes. An entry leaves only
// when its life is over or by Forget. When the memory is full, new requests are refused: evicting
// an entry would let its request be sent again. May be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"

namespace tidemark::gate {

enum class Remembered {
  kFirst,  // It is new, and is remembered from now on.
  kSeen,   // It was remembered already.
  kFull,   // It is new, and there is no room to remember it.
};

class ReplayMemory {
 public:
  // The clock outlives this.
  ReplayMemory(size_t max_entries, const Clock* clock);

  Remembered Remember(std::string_view digest);
  // The digest counts as new again.
  void Forget(std::string_view digest);

 private:
  static constexpr size_t kShards = 16;

  // 16 bytes of a SHA-256 are enough to exclude collisions, and the memory may hold a million.
  struct Name {
    uint64_t high = 0;
    uint64_t low = 0;
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct HashName {
    size_t operator()(const Name& name) const { return name.low; }
  };
  struct Entry {
    std::chrono::nanoseconds until;
    Name name;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<Name, std::chrono::nanoseconds, HashName> until;
    std::deque<Entry> by_age;  // All have the same life, so the front is the next to leave.
  };

  static Name NameOf(std::string_view digest);
  Shard& ShardOf(const Name& name) { return shards_[name.high % kShards]; }
  bool MakeRoom();
  void DropExpired(Shard* shard, std::chrono::nanoseconds now);

  const size_t max_entries_;
  const Clock& clock_;
  // The entries of `by_age` in all shards. Forgotten entries count until their life is over, so
  // that remembering and forgetting one request again and again cannot grow the memory.
  std::atomic<size_t> entries_ = 0;
  std::array<Shard, kShards> shards_;
};

}  // namespace tidemark::gate
