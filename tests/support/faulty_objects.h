// FaultyObjects hands every call to other objects, unless the test decides that the call fails:
// before it is applied, or afterwards (the reply is lost).
//
//   FaultyObjects objects(&memory);
//   objects.decide = [&](ObjectOperation operation) -> std::optional<ObjectFault> { ... };
//
// `decide` may do more than decide: write behind somebody's back, count, give way to another
// thread. It is set while nothing is being called, and called from whatever thread calls. `after`
// likewise, when a call was handed on and is over.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "objects/objects.h"

namespace tidemark::testing {

enum class ObjectOperation { kPut, kHead, kOpen, kDelete, kList };

struct ObjectFault {
  Error error;
  bool applied = false;  // The call is made all the same; only its reply is lost.
};

inline ObjectFault ObjectsAway() {
  return {{ErrorCode::kUnavailable, "object store away, for the test"}};
}
inline ObjectFault ObjectReplyLost() {
  return {{ErrorCode::kUnknown, "object reply lost, for the test"}, true};
}
inline ObjectFault ObjectRequestLost() {
  return {{ErrorCode::kUnknown, "object request lost, for the test"}};
}

class FaultyObjects final : public objects::Objects {
 public:
  // Outlives this.
  explicit FaultyObjects(objects::Objects* inner) : inner_(*inner) {}

  Result<objects::PutReply> Put(const objects::PutRequest& request) override {
    return Forward(ObjectOperation::kPut, [&] { return inner_.Put(request); });
  }
  Result<std::optional<objects::ObjectInfo>> Head(const std::string& key) override {
    return Forward(ObjectOperation::kHead, [&] { return inner_.Head(key); });
  }
  Result<std::unique_ptr<objects::OpenObject>> Open(const std::string& key) override {
    return Forward(ObjectOperation::kOpen, [&] { return inner_.Open(key); });
  }
  Result<objects::DeleteReply> Delete(const objects::DeleteRequest& request) override {
    return Forward(ObjectOperation::kDelete, [&] { return inner_.Delete(request); });
  }
  Result<objects::ListReply> List(const objects::ListRequest& request) override {
    return Forward(ObjectOperation::kList, [&] { return inner_.List(request); });
  }

  std::function<std::optional<ObjectFault>(ObjectOperation)> decide;  // Unset: nothing fails.
  std::function<void(ObjectOperation)> after;                         // Unset: nothing happens.

 private:
  template <typename Call>
  auto Forward(ObjectOperation operation, Call call) -> decltype(call()) {
    const std::optional<ObjectFault> fault = decide ? decide(operation) : std::nullopt;
    if (fault && !fault->applied) return fault->error;
    auto reply = call();
    if (after) after(operation);
    if (fault) return fault->error;
    return reply;
  }

  objects::Objects& inner_;
};

}  // namespace tidemark::testing
