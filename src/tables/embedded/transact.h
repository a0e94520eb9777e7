// TransactWrite and BatchWrite on their way through the committer. A transaction is decided
// whole against one state: since the committer gives all writes one order, it needs no locks
// and meets no conflicts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tables/embedded/write.h"
#include "tables/requests.h"

namespace tidemark::embedded {

class TransactChange final : public Change {
 public:
  static Result<TransactChange> Prepare(const tables::TransactWriteRequest& request);

  Status Evaluate(Group* group) override;
  tables::TransactWriteReply TakeReply() { return std::move(reply_); }

 private:
  TransactChange() = default;

  Result<bool> AnsweredByToken(Group* group);
  Result<std::vector<Target>> FindTargets(const Catalog& catalog);
  void Cancel(size_t action, tables::CancellationReason reason);

  std::vector<Write> writes_;
  std::optional<std::string> token_;
  std::string fingerprint_;
  tables::TransactWriteReply reply_;
};

// All of a batch is checked before any of it is written. Its actions are atomic one by one;
// here they also commit together.
class BatchChange final : public Change {
 public:
  static Result<BatchChange> Prepare(const tables::BatchWriteRequest& request);
  Status Evaluate(Group* group) override;

 private:
  BatchChange() = default;
  std::vector<Write> writes_;
};

}  // namespace tidemark::embedded
