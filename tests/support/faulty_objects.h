// FaultyObjects passes every call on to another store of objects, unless the test decides that the
// call fails: before it is applied, or afterwards (the reply is lost).
//
//   FaultyObjects objects(&memory);
//   objects.decide = [&](ObjectOperation operation) -> std::optional<ObjectFault> { ... };
//
// `decide` runs before each call, on the thread of the caller. A test can also use it to write to
// the store at this moment, to count, or to let another thread run. `after` runs after each call
// that was passed on. Set both while no call is in progress.
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
  bool applied = false;  // The call is made; only its reply is lost.
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
  // `objects` must outlive this.
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
