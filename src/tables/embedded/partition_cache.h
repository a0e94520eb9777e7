// PartitionCache keeps small partitions of tables in memory, as the store has them, so that a read
// of a whole partition needs no search. A reader never gets an older state than the store would
// give it.
//
//   reader                                    committer, for each group
//   auto items = cache.Find(prefix);          cache.BeginWrite(row_keys);
//   if (items) return *items;                 ... write the store ...
//   auto ticket = cache.BeginRead(prefix);    cache.EndWrite(row_keys, item_of);
//   ... read the store ...                    ... answer ...
//   cache.Insert(prefix, ticket, rows);
//
// BeginWrite takes the partitions that the group touches out of the cache. So from then on readers
// ask the store, which has the old rows or the new ones. What a reader read before or during the
// write may be old, and is not inserted: its ticket is no longer valid. EndWrite puts the
// partitions back with the changes of the group.
//
// Readers may call from any thread. BeginWrite, EndWrite, AbandonWrite and Clear are for the
// committer, one at a time. A partition is named by the beginning of its row keys.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "item/value.h"

namespace tidemark::embedded {

class PartitionCache {
 public:
  // Larger partitions are not kept.
  static constexpr size_t kMaxRows = 32;
  static constexpr size_t kMaxBytes = 16 << 10;

  struct Row {
    std::string key;
    item::Item item;
  };
  using Rows = std::vector<Row>;  // In the order of their keys.
  // The permission to insert what is read after it was given.
  using Ticket = uint64_t;
  // The item of a row after the write; null when the row was deleted.
  using ItemOf = std::function<const item::Item*(const std::string& row_key)>;

  explicit PartitionCache(size_t capacity_bytes) : shard_bytes_(capacity_bytes / kShards) {}

  // The items of the partition in the order of their keys; nullopt when it is not in the cache.
  std::optional<std::vector<item::Item>> Find(std::string_view prefix);
  Ticket BeginRead(std::string_view prefix);
  // Does nothing when the ticket is no longer valid, or when the partition is too large.
  void Insert(std::string_view prefix, Ticket ticket, Rows rows);

  void BeginWrite(std::span<const std::string> row_keys);
  void EndWrite(std::span<const std::string> row_keys, const ItemOf& item_of);
  // The write failed: nothing is put back.
  void AbandonWrite(std::span<const std::string> row_keys);
  // When the store was opened again: forgets everything, also what is being read.
  void Clear();

 private:
  static constexpr size_t kShards = 64;

  struct Partition {
    std::string prefix;
    Rows rows;
    size_t bytes = 0;
    uint64_t generation = 0;  // The generation that used it last.
  };
  // Partitions by the first bytes of their row keys: the keyspace and the hash. Two partitions with
  // the same bytes push each other out.
  using Partitions = std::unordered_map<uint64_t, Partition>;
  struct Shard {
    std::mutex mutex;
    uint64_t epoch = 0;  // Odd during a write of the shard. A ticket is the epoch of its time.
    Partitions partitions;
    Partitions taken;  // By BeginWrite, until EndWrite.
    // As in the working set: two generations instead of a list by age.
    uint64_t generation = 1;
    size_t recent_bytes = 0;
  };

  Shard& ShardOf(std::string_view row_key);
  void Keep(Shard* shard, uint64_t head, Partition partition) const;
  void Use(Shard* shard, Partition* partition) const;
  static void Change(Partition* partition, const std::string& row_key, const item::Item* item);
  void Reopen(Shard* shard) const;

  const size_t shard_bytes_;
  std::array<Shard, kShards> shards_;
};

}  // namespace tidemark::embedded
