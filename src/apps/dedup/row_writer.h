// RowWriter writes one row, or several all or nothing, and does not give up at the first
// hiccup: throttling and lost replies are tried again after growing waits, under one deadline.
//
// A write whose reply was lost is sent again as it was. So the writes given here must carry
// something (a nonce) by which their author knows them again in the row that refused them.
//
// May be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "base/random.h"
#include "base/result.h"
#include "base/retry.h"
#include "base/sleeper.h"
#include "tables/tables.h"

namespace tidemark::dedup {

// True of errors that say nothing about the request: the store is away, or did not answer.
bool IsAway(ErrorCode code);

struct WriteOutcome {
  // Of one action: whether its condition failed, and on which item, when there was one.
  struct Refusal {
    bool refused = false;
    std::optional<item::Item> item = std::nullopt;
  };
  bool applied = true;
  std::vector<Refusal> refusals = {};  // One an action, when not applied.
};

class RowWriter {
 public:
  // All outlive this.
  RowWriter(tables::Tables* tables, RetryPolicy retry, Random* random, Sleeper* sleeper)
      : tables_(*tables), retry_(retry), random_(*random), sleeper_(*sleeper) {}

  // A single action is a Put or an Update. Those that matter to the caller ask for the item on
  // failure. The error after the retries is kUnknown when any of the tries may have been applied.
  Result<WriteOutcome> Write(const std::vector<tables::TransactAction>& actions,
                             const Deadline& deadline);

  // One try of several actions, without waiting for it: `done` hears whether it was applied, on
  // this thread or another.
  void TryWrite(const std::vector<tables::TransactAction>& actions,
                std::function<void(bool applied)> done);

 private:
  Result<WriteOutcome> WriteOnce(const std::vector<tables::TransactAction>& actions);
  Result<WriteOutcome> WriteTogether(const std::vector<tables::TransactAction>& actions);

  tables::Tables& tables_;
  const RetryPolicy retry_;
  Random& random_;
  Sleeper& sleeper_;
};

}  // namespace tidemark::dedup
