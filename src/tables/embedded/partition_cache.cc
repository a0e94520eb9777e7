#include "tables/embedded/partition_cache.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "tables/embedded/working_set.h"

namespace tidemark::embedded {

namespace {

constexpr size_t kRowHeadBytes = 8;

bool IsOdd(uint64_t epoch) { return epoch % 2 == 1; }

// The keyspace and the hash of the partition, with which every row key begins.
uint64_t HeadOf(std::string_view row_key) {
  CHECK(row_key.size() >= kRowHeadBytes);
  return Reader(row_key).Fixed64();
}

size_t BytesOf(const PartitionCache::Rows& rows) {
  size_t bytes = 0;
  for (const PartitionCache::Row& row : rows) bytes += MemoryOf(row.key, &row.item);
  return bytes;
}

bool IsSmall(const PartitionCache::Rows& rows, size_t bytes) {
  return rows.size() <= PartitionCache::kMaxRows && bytes <= PartitionCache::kMaxBytes;
}

}  // namespace

PartitionCache::Shard& PartitionCache::ShardOf(std::string_view row_key) {
  return shards_[HeadOf(row_key) % kShards];
}

// ---- Readers ----

std::optional<std::vector<item::Item>> PartitionCache::Find(std::string_view prefix) {
  Shard& shard = ShardOf(prefix);
  std::lock_guard lock(shard.mutex);
  const auto place = shard.partitions.find(HeadOf(prefix));
  if (place == shard.partitions.end() || place->second.prefix != prefix) return std::nullopt;
  Use(&shard, &place->second);
  std::vector<item::Item> items;
  items.reserve(place->second.rows.size());
  for (const Row& row : place->second.rows) items.push_back(row.item);
  return items;
}

PartitionCache::Ticket PartitionCache::BeginRead(std::string_view prefix) {
  Shard& shard = ShardOf(prefix);
  std::lock_guard lock(shard.mutex);
  return shard.epoch;
}

void PartitionCache::Insert(std::string_view prefix, Ticket ticket, Rows rows) {
  Shard& shard = ShardOf(prefix);
  std::lock_guard lock(shard.mutex);
  // A write was under way when the read began, or one has begun since.
  if (IsOdd(ticket) || ticket != shard.epoch) return;
  Keep(&shard, HeadOf(prefix), {.prefix = std::string(prefix), .rows = std::move(rows)});
}

// ---- The committer ----

void PartitionCache::BeginWrite(std::span<const std::string> row_keys) {
  for (const std::string& row_key : row_keys) {
    Shard& shard = ShardOf(row_key);
    std::lock_guard lock(shard.mutex);
    if (!IsOdd(shard.epoch)) ++shard.epoch;
    if (auto node = shard.partitions.extract(HeadOf(row_key))) shard.taken.insert(std::move(node));
  }
}

void PartitionCache::EndWrite(std::span<const std::string> row_keys, const ItemOf& item_of) {
  for (const std::string& row_key : row_keys) {
    Shard& shard = ShardOf(row_key);
    std::lock_guard lock(shard.mutex);
    const auto place = shard.taken.find(HeadOf(row_key));
    if (place == shard.taken.end()) continue;
    // Otherwise it is another partition with the same hash.
    if (row_key.starts_with(place->second.prefix)) {
      Change(&place->second, row_key, item_of(row_key));
    }
  }
  for (const std::string& row_key : row_keys) {
    Shard& shard = ShardOf(row_key);
    std::lock_guard lock(shard.mutex);
    if (IsOdd(shard.epoch)) Reopen(&shard);
  }
}

void PartitionCache::AbandonWrite(std::span<const std::string> row_keys) {
  for (const std::string& row_key : row_keys) {
    Shard& shard = ShardOf(row_key);
    std::lock_guard lock(shard.mutex);
    shard.taken.clear();
    if (IsOdd(shard.epoch)) Reopen(&shard);
  }
}

void PartitionCache::Clear() {
  for (Shard& shard : shards_) {
    std::lock_guard lock(shard.mutex);
    shard.partitions.clear();
    shard.recent_bytes = 0;
    shard.epoch += 2;
  }
}

// Puts back what was taken, and lets readers insert again.
void PartitionCache::Reopen(Shard* shard) const {
  for (auto& [head, partition] : shard->taken) Keep(shard, head, std::move(partition));
  shard->taken.clear();
  ++shard->epoch;
}

void PartitionCache::Change(Partition* partition, const std::string& row_key,
                            const item::Item* item) {
  const auto place =
      std::lower_bound(partition->rows.begin(), partition->rows.end(), row_key,
                       [](const Row& row, const std::string& key) { return row.key < key; });
  const bool is_there = place != partition->rows.end() && place->key == row_key;
  if (item == nullptr) {
    if (is_there) partition->rows.erase(place);
  } else if (is_there) {
    place->item = *item;
  } else {
    partition->rows.insert(place, {.key = row_key, .item = *item});
  }
}

// ---- Room ----

void PartitionCache::Keep(Shard* shard, uint64_t head, Partition partition) const {
  partition.bytes = partition.prefix.size() + sizeof(Partition) + BytesOf(partition.rows);
  partition.generation = 0;
  if (!IsSmall(partition.rows, partition.bytes)) return;
  const auto place = shard->partitions.insert_or_assign(head, std::move(partition)).first;
  Use(shard, &place->second);
  if (shard->recent_bytes * 2 < shard_bytes_) return;
  std::erase_if(shard->partitions,
                [&](const auto& one) { return one.second.generation != shard->generation; });
  ++shard->generation;
  shard->recent_bytes = 0;
}

void PartitionCache::Use(Shard* shard, Partition* partition) const {
  if (partition->generation == shard->generation) return;
  partition->generation = shard->generation;
  shard->recent_bytes += partition->bytes;
}

}  // namespace tidemark::embedded
