// MemoryObjects is a store of objects in memory, for tests of code that uses Objects. It counts
// calls, and fails when the test says so.
//
// May be called from any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "objects/objects.h"

namespace tidemark::testing {

class MemoryObjects final : public objects::Objects {
 public:
  Result<objects::PutReply> Put(const objects::PutRequest& request) override {
    const std::lock_guard lock(mutex_);
    ++puts_;
    if (auto failure = TakeFailure()) return *std::move(failure);
    const auto found = objects_.find(request.key);
    const bool is_there = found != objects_.end();
    if (request.if_absent && is_there) return objects::PutReply{.applied = false};
    if (request.if_match && (!is_there || found->second.info.etag != *request.if_match)) {
      return objects::PutReply{.applied = false};
    }
    Object object{.info = {.key = request.key,
                           .etag = std::to_string(++etags_),
                           .content_type = request.content_type,
                           .metadata = request.metadata},
                  .bytes = request.file.empty() ? request.bytes : ReadAll(request.file)};
    object.info.size = object.bytes.size();
    std::string etag = object.info.etag;
    objects_.insert_or_assign(request.key, std::move(object));
    return objects::PutReply{.etag = std::move(etag)};
  }

  Result<std::optional<objects::ObjectInfo>> Head(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    if (auto failure = TakeFailure()) return *std::move(failure);
    const auto found = objects_.find(key);
    return found == objects_.end() ? std::optional<objects::ObjectInfo>() : found->second.info;
  }

  Result<std::unique_ptr<objects::OpenObject>> Open(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    if (auto failure = TakeFailure()) return *std::move(failure);
    const auto found = objects_.find(key);
    if (found == objects_.end()) return std::unique_ptr<objects::OpenObject>();
    return std::unique_ptr<objects::OpenObject>(std::make_unique<Opened>(found->second));
  }

  Result<objects::DeleteReply> Delete(const objects::DeleteRequest& request) override {
    const std::lock_guard lock(mutex_);
    if (auto failure = TakeFailure()) return *std::move(failure);
    const auto found = objects_.find(request.key);
    if (found == objects_.end()) return objects::DeleteReply{};
    if (request.if_match && found->second.info.etag != *request.if_match) {
      return objects::DeleteReply{.applied = false};
    }
    objects_.erase(found);
    return objects::DeleteReply{};
  }

  Result<objects::ListReply> List(const objects::ListRequest& request) override {
    const std::lock_guard lock(mutex_);
    if (auto failure = TakeFailure()) return *std::move(failure);
    objects::ListReply reply;
    for (auto at = objects_.upper_bound(request.after); at != objects_.end(); ++at) {
      if (!at->first.starts_with(request.prefix)) continue;
      reply.more = reply.objects.size() == request.limit;
      if (reply.more) break;
      reply.objects.push_back(at->second.info);
    }
    return reply;
  }

  // The next `times` calls fail with kUnavailable.
  void Fail(size_t times) {
    const std::lock_guard lock(mutex_);
    failures_ = times;
  }
  // How often Put was called.
  size_t puts() const {
    const std::lock_guard lock(mutex_);
    return puts_;
  }
  std::optional<std::string> Bytes(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? std::nullopt : std::optional(found->second.bytes);
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return objects_.size();
  }

 private:
  struct Object {
    objects::ObjectInfo info;
    std::string bytes;
  };
  class Opened final : public objects::OpenObject {
   public:
    explicit Opened(Object object) : object_(std::move(object)) {}
    const objects::ObjectInfo& info() const override { return object_.info; }
    Result<std::string> Read(uint64_t offset, size_t size) override {
      return object_.bytes.substr(std::min<size_t>(offset, object_.bytes.size()), size);
    }

   private:
    const Object object_;
  };

  static std::string ReadAll(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::optional<Error> TakeFailure() {
    if (failures_ == 0) return std::nullopt;
    --failures_;
    return Error{ErrorCode::kUnavailable, "the store is not available"};
  }

  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
  size_t etags_ = 0;
  size_t puts_ = 0;
  size_t failures_ = 0;
};

}  // namespace tidemark::testing
