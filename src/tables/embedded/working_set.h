// The items that the committer works on: as stored, with the changes of the group at hand on
// top. What it has seen it keeps while there is room, so that a hot item is looked up and
// decoded once, not at every write. The committer is the only writer, so what it keeps is
// never stale; when a commit fails it must be cleared.
//
// Not for use by two threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "item/value.h"
#include "tables/embedded/store.h"

namespace tidemark::embedded {

class WorkingSet {
 public:
  WorkingSet(const Store& store, size_t capacity_bytes)
      : store_(store), capacity_bytes_(capacity_bytes) {}

  // The item of the row, nullopt when there is none. The pointer holds until Trim or Clear.
  Result<const std::optional<item::Item>*> Find(const std::string& row_key);
  void Set(const std::string& row_key, std::optional<item::Item> item);

  // Between groups: forgets what was not used for longest when there is too much.
  void Trim();
  void Clear();

 private:
  struct Entry {
    std::optional<item::Item> item = std::nullopt;
    uint64_t generation = 0;  // In which it was used last.
  };

  Result<std::optional<item::Item>> Read(const std::string& row_key);
  void Use(const std::string& row_key, Entry* entry);

  const Store& store_;
  const size_t capacity_bytes_;
  // Two generations in place of a list by age: when what the present one used is half of the
  // room, all that it did not use is dropped and the next begins.
  std::unordered_map<std::string, Entry> entries_;
  uint64_t generation_ = 1;
  size_t recent_bytes_ = 0;
  std::string buffer_;
};

}  // namespace tidemark::embedded
