#include "base/places.h"

#include <optional>

namespace tidemark {

Later<Places::Place> Places::Take() {
  const std::lock_guard lock(mutex_);
  if (taken_ < options_.at_once) {
    ++taken_;
    return Place(this);
  }
  if (waiting_.size() >= options_.max_waiting) {
    return Error{ErrorCode::kUnavailable, "too much is waiting already: try again later"};
  }
  auto [promise, later] = MakeLater<Place>();
  waiting_.push_back(std::move(promise));
  return std::move(later);
}

void Places::Leave() {
  std::optional<Promise<Place>> next;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      --taken_;
      return;
    }
    next.emplace(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  next->Fulfil(Place(this));
}

}  // namespace tidemark
