#include "base/places.h"

#include <algorithm>
#include <vector>

namespace tidemark {

Later<Places::Place> Places::Take(size_t size) {
  size = std::min(size, options_.capacity);
  const std::lock_guard lock(mutex_);
  // A small one does not pass a large one that waits, which might wait for ever then.
  if (waiting_.empty() && Fits(size)) {
    taken_ += size;
    return Place(this, size);
  }
  if (waiting_.size() >= options_.max_waiting) {
    return Error{ErrorCode::kUnavailable, "too much is waiting already: try again later"};
  }
  auto [promise, later] = MakeLater<Place>();
  waiting_.push_back({std::move(promise), size});
  return std::move(later);
}

void Places::Leave(size_t size) {
  std::vector<Waiting> next;
  {
    const std::lock_guard lock(mutex_);
    taken_ -= size;
    while (!waiting_.empty() && Fits(waiting_.front().size)) {
      taken_ += waiting_.front().size;
      next.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
  }
  for (Waiting& one : next) one.promise.Fulfil(Place(this, one.size));
}

}  // namespace tidemark
