// ReplayMemory remembers what was let in, so that the same signed bytes are let in once. It is of
// this process and of its life; across processes and restarts the claim of the event's id does
// that job (docs/decisions/0010-replay-memory.md).
//
// Names are digests: their bytes are evenly spread and at least 16. Only what is older than its
// life leaves, or what is told to; when the memory is full, new names are refused. May be called
// from any thread.
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
  kFirst,  // It was not known, and is from now on.
  kSeen,
  kFull,  // It was not known, and is not now.
};

class ReplayMemory {
 public:
  // The clock outlives this.
  ReplayMemory(size_t max_entries, const Clock* clock);

  Remembered Remember(std::string_view digest);
  // It counts as never seen.
  void Forget(std::string_view digest);

 private:
  static constexpr size_t kShards = 16;

  // Half of a SHA-256 is plenty against chance, and the memory holds a million of them.
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
    std::deque<Entry> by_age;  // All live equally long: the front is the next to leave.
  };

  static Name NameOf(std::string_view digest);
  Shard& ShardOf(const Name& name) { return shards_[name.high % kShards]; }
  bool MakeRoom();
  void DropExpired(Shard* shard, std::chrono::nanoseconds now);

  const size_t max_entries_;
  const Clock& clock_;
  // Over all shards, and counting what was forgotten until its age is up: a name that is
  // remembered and forgotten in turns stays bounded too.
  std::atomic<size_t> entries_ = 0;
  std::array<Shard, kShards> shards_;
};

}  // namespace tidemark::gate
