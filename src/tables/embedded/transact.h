// TransactWrite and BatchWrite on their way through the committer. A transaction is decided as a
// whole against one state. The committer gives all writes one order, so a transaction needs no
// locks and has no conflicts.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tables/embedded/write.h"
#include "tables/requests.h"

namespace tidemark::embedded {

class TransactChange final : public Change {
 public:
  static Result<TransactChange> Prepare(const tables::TransactWriteRequest& request);
  // Takes the items out of the request instead of copying them.
  static Result<TransactChange> Prepare(tables::TransactWriteRequest&& request);

  Status Evaluate(Group* group) override;
  tables::TransactWriteReply TakeReply() { return std::move(reply_); }

 private:
  TransactChange() = default;

  template <typename Request>
  static Result<TransactChange> PrepareActions(Request& request);
  Result<bool> AnsweredByToken(Group* group);
  Result<std::vector<Target>> FindTargets(const Catalog& catalog);
  void Cancel(size_t action, tables::CancellationReason reason);

  std::vector<Write> writes_;
  std::optional<std::string> token_;
  std::string fingerprint_;
  tables::TransactWriteReply reply_;
  size_t shown_json_bytes_ = 0;  // Of the items in the reasons.
};

// The whole batch is checked before anything is written. DynamoDB promises only that each action is
// atomic; here all actions also commit together.
class BatchChange final : public Change {
 public:
  static Result<BatchChange> Prepare(const tables::BatchWriteRequest& request);
  Status Evaluate(Group* group) override;
  // Everything is processed.
  tables::BatchWriteReply TakeReply() {
    return {.capacity = std::move(capacity_), .collections = std::move(collections_)};
  }

 private:
  BatchChange() = default;
  std::vector<Write> writes_;
  std::vector<tables::Capacity> capacity_;
  tables::CollectionsByTable collections_;
};

}  // namespace tidemark::embedded
