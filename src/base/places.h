// Places bounds how many pieces of work are in progress at once. The others wait in order, without
// a thread, and when too many wait already, further ones are refused.
//
//   Places places({.at_once = 4, .max_waiting = 64});
//   places.Take().Then([](Result<Places::Place> place) {…});   // Until the place is destroyed.
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
  size_t at_once = 1;
  size_t max_waiting = 0;
};

class Places {
 public:
  // One piece of work in progress. Its end gives the place to the next that waits, whose callbacks
  // run on the thread that ends it.
  class Place {
   public:
    Place(Place&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (owner_ != nullptr) owner_->Leave();
    }

   private:
    friend Places;
    explicit Place(Places* owner) : owner_(owner) {}
    Places* owner_;
  };

  explicit Places(PlacesOptions options) : options_(options) {}

  // kUnavailable when too many wait.
  Later<Place> Take();

 private:
  void Leave();

  const PlacesOptions options_;
  std::mutex mutex_;
  size_t taken_ = 0;
  std::deque<Promise<Place>> waiting_;
};

}  // namespace tidemark
