#include "tables/embedded/working_set.h"

#include "item/encoding.h"
#include "item/size.h"

namespace tidemark::embedded {

namespace {

const item::Item* ItemOrNull(const std::optional<item::Item>& item) {
  return item ? &*item : nullptr;
}

}  // namespace

// The item's size by DynamoDB's rules is the smaller part.
size_t MemoryOf(const std::string& row_key, const item::Item* item) {
  constexpr size_t kEntryBytes = 128;
  const size_t key_bytes = kEntryBytes + row_key.size();
  if (item == nullptr) return key_bytes;
  return key_bytes + item->size() * sizeof(item::Attribute) + item::SizeBytes(*item);
}

Result<const std::optional<item::Item>*> WorkingSet::Find(const std::string& row_key) {
  auto place = entries_.find(row_key);
  if (place == entries_.end()) {
    place = entries_.emplace(row_key, Entry{.item = TRY(Read(row_key))}).first;
  }
  Use(row_key, &place->second);
  return &place->second.item;
}

void WorkingSet::Set(const std::string& row_key, std::optional<item::Item> item) {
  // Adding to an unordered_map does not move its elements, so the pointers that Find returned for
  // other rows stay valid.
  Entry& entry = entries_[row_key];
  Use(row_key, &entry);
  // The difference may be negative. Unsigned numbers wrap, so adding it gives the right sum.
  recent_bytes_ += MemoryOf(row_key, ItemOrNull(item)) - MemoryOf(row_key, ItemOrNull(entry.item));
  entry.item = std::move(item);
}

const item::Item* WorkingSet::Peek(const std::string& row_key) const {
  const auto place = entries_.find(row_key);
  CHECK(place != entries_.end());
  return ItemOrNull(place->second.item);
}

Result<std::optional<item::Item>> WorkingSet::Read(const std::string& row_key) {
  std::optional<item::Item> item;
  if (TRY(store_.Get(Family::kRows, row_key, &buffer_))) item = TRY(item::DecodeItem(buffer_));
  return item;
}

void WorkingSet::Use(const std::string& row_key, Entry* entry) {
  if (entry->generation == generation_) return;
  entry->generation = generation_;
  recent_bytes_ += MemoryOf(row_key, ItemOrNull(entry->item));
}

// Must not be called during a group, because its changes hold pointers into the entries.
void WorkingSet::Trim() {
  if (recent_bytes_ * 2 < capacity_bytes_) return;
  std::erase_if(entries_, [&](const auto& one) { return one.second.generation != generation_; });
  ++generation_;
  recent_bytes_ = 0;
}

void WorkingSet::Clear() {
  entries_.clear();
  recent_bytes_ = 0;
}

}  // namespace tidemark::embedded
