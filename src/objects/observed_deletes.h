// ObservedDeletes are objects that call a function before one of them is deleted. While a backup is
// made, the function copies the object, so that a row in the backup still finds it.
//
//   ObservedDeletes objects(std::move(stored));
//   objects.Observe([&](const std::string& key) { copy.Copy(key); });
//   ...
//   objects.Observe(nullptr);
//
// Any thread may call the methods.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "objects/objects.h"

namespace tidemark::objects {

class ObservedDeletes final : public Objects {
 public:
  using Observer = std::function<void(const std::string& key)>;

  explicit ObservedDeletes(std::unique_ptr<Objects> stored) : stored_(std::move(stored)) {}

  // From now on every delete calls the observer first, on its own thread. Returns when no delete is
  // under way that calls another observer or none. Null: nothing is called.
  void Observe(Observer observer) {
    const std::unique_lock lock(mutex_);
    observer_ = std::move(observer);
  }

  Result<PutReply> Put(const PutRequest& request) override { return stored_->Put(request); }
  Result<std::optional<ObjectInfo>> Head(const std::string& key) override {
    return stored_->Head(key);
  }
  Result<std::unique_ptr<OpenObject>> Open(const std::string& key) override {
    return stored_->Open(key);
  }
  Result<DeleteReply> Delete(const DeleteRequest& request) override {
    const std::shared_lock lock(mutex_);
    if (observer_) observer_(request.key);
    return stored_->Delete(request);
  }
  Result<ListReply> List(const ListRequest& request) override { return stored_->List(request); }

 private:
  const std::unique_ptr<Objects> stored_;
  std::shared_mutex mutex_;  // Shared by deletes.
  Observer observer_;
};

}  // namespace tidemark::objects
