// Holds every call that opens an object, or every call that puts one, until the test releases them,
// as a disk that hangs does.
//
//   HeldObjects held(&objects);
//   ... start requests ...
//   held.Await(4);  // Four calls are held.
//   held.Release();
//
// One thread at a time.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "tests/support/faulty_objects.h"

namespace tidemark::testing {

class HeldObjects {
 public:
  // While no call of the objects is in progress.
  explicit HeldObjects(FaultyObjects* objects, ObjectOperation held = ObjectOperation::kOpen) {
    objects->decide = [state = state_,
                       held](ObjectOperation operation) -> std::optional<ObjectFault> {
      if (operation != held) return std::nullopt;
      std::unique_lock lock(state->mutex);
      ++state->count;
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return state->is_released; });
      return std::nullopt;
    };
  }
  ~HeldObjects() { Release(); }

  void Await(int count) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->count >= count; });
  }
  void Release() {
    const std::lock_guard lock(state_->mutex);
    state_->is_released = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    int count = 0;
    bool is_released = false;
  };
  // Shared, because a call may still be in progress when the test ends.
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace tidemark::testing
