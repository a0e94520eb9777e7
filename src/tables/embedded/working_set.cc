#include "tables/embedded/working_set.h"

#include "item/encoding.h"
#include "item/size.h"

namespace tidemark::embedded {

Result<const std::optional<item::Item>*> WorkingSet::Find(const std::string& row_key) {
  if (auto place = recent_.find(row_key); place != recent_.end()) return &place->second;
  if (auto place = older_.find(row_key); place != older_.end()) {
    // The old entry stays, moved-from but unreachable behind the recent one: pointers that
    // were handed out for other rows hold.
    return Insert(row_key, std::move(place->second));
  }
  std::optional<item::Item> item;
  if (TRY(store_.Get(Family::kRows, row_key, &buffer_))) item = TRY(item::DecodeItem(buffer_));
  return Insert(row_key, std::move(item));
}

void WorkingSet::Set(const std::string& row_key, std::optional<item::Item> item) {
  if (auto place = recent_.find(row_key); place != recent_.end()) {
    place->second = std::move(item);
  } else {
    Insert(row_key, std::move(item));
  }
}

std::optional<item::Item>* WorkingSet::Insert(const std::string& row_key,
                                              std::optional<item::Item> item) {
  recent_bytes_ += row_key.size() + (item ? item::SizeBytes(*item) : 0);
  return &recent_.emplace(row_key, std::move(item)).first->second;
}

void WorkingSet::Trim() {
  if (recent_bytes_ * 2 < capacity_bytes_) return;
  older_ = std::exchange(recent_, {});
  recent_bytes_ = 0;
}

void WorkingSet::Clear() {
  recent_.clear();
  older_.clear();
  recent_bytes_ = 0;
}

}  // namespace tidemark::embedded
