// WorkingSet is the committer's cache of items: each item as stored, or as the current group
// changed it. It keeps items while there is room, so that an item that is written often is read and
// decoded only once. Only the committer writes items, so the cache is never stale. After a failed
// commit it holds changes that were not written, so it is cleared.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "item/value.h"
#include "tables/embedded/store.h"

namespace tidemark::embedded {

// An estimate of the memory that a row and its item take; null is no item.
size_t MemoryOf(const std::string& row_key, const item::Item* item);

class WorkingSet {
 public:
  WorkingSet(const Store& store, size_t capacity_bytes)
      : store_(store), capacity_bytes_(capacity_bytes) {}

  // The item of the row; nullopt when there is none. The pointer is valid until Trim or Clear.
  Result<const std::optional<item::Item>*> Find(const std::string& row_key);
  void Set(const std::string& row_key, std::optional<item::Item> item);
  // The item of a row that Find or Set has used since the last Trim; null when there is none.
  const item::Item* Peek(const std::string& row_key) const;

  // Called between groups. When there is too much, drops the items that were not used for the
  // longest time.
  void Trim();
  void Clear();

 private:
  struct Entry {
    std::optional<item::Item> item = std::nullopt;
    uint64_t generation = 0;  // The generation that used it last.
  };

  Result<std::optional<item::Item>> Read(const std::string& row_key);
  void Use(const std::string& row_key, Entry* entry);

  const Store& store_;
  const size_t capacity_bytes_;
  // Two generations instead of a list by age. When the items that the present generation used fill
  // half of the room, all other items are dropped and the next generation begins.
  std::unordered_map<std::string, Entry> entries_;
  uint64_t generation_ = 1;
  size_t recent_bytes_ = 0;
  std::string buffer_;
};

}  // namespace tidemark::embedded
