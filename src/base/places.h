// Places bounds how much work is in progress at once, measured in any unit, such as bytes. What
// does not fit waits in order, without a thread, and when too many wait already, further ones are
// refused.
//
//   Places places({.capacity = 64 << 20, .max_waiting = 4096});
//   places.Take(body.size()).Then([](Result<Places::Place> place) {…});  // Until it is destroyed.
//
// May be called from any thread. It outlives its places.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "base/later.h"
#include "base/result.h"

namespace tidemark {

struct PlacesOptions {
  size_t capacity = 1;
  size_t max_waiting = 0;
};

class Places {
 public:
  // Work in progress. Its end makes room for the next that wait, whose callbacks run on the thread
  // that ends it.
  class Place {
   public:
    Place(Place&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), size_(other.size_) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (owner_ != nullptr) owner_->Leave(size_);
    }

   private:
    friend Places;
    Place(Places* owner, size_t size) : owner_(owner), size_(size) {}
    Places* owner_;
    size_t size_;
  };

  explicit Places(PlacesOptions options) : options_(options) {}

  // A size above the capacity counts as the capacity. kUnavailable when too many wait.
  Later<Place> Take(size_t size);

 private:
  struct Waiting {
    Promise<Place> promise;
    size_t size;
  };

  bool Fits(size_t size) const { return size <= options_.capacity - taken_; }
  void Leave(size_t size);

  const PlacesOptions options_;
  std::mutex mutex_;
  size_t taken_ = 0;
  std::deque<Waiting> waiting_;
};

}  // namespace tidemark
