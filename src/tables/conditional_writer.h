// ConditionalWriter writes one row, or several all or nothing, each under a condition, and returns
// one of three results:
//
//   kApplied   It was written now.
//   kRefused   A condition did not hold, so nothing was written. The reply has the stored items.
//   kOurs      A condition did not hold, because this same write was applied before: its reply was
//              lost, or the caller repeats it. The caller treats it like kApplied.
//
//   ConditionalWriter writer(&tables, policy, runtime);
//   const auto reply = TRY(writer.Write({.actions = {put}, .is_ours = HasText("owner", nonce)},
//                                       deadline));
//   if (reply.IsWritten()) return Granted();
//   return JudgeAgain(reply.refusals.front().item);
//
// When the store is not available or does not answer, the same write is sent again after growing
// waits, within one deadline. So a write whose reply was lost may arrive twice. Therefore each
// write has a condition that the write itself makes false, and a nonce by which `is_ours`
// recognises it.
//
// May be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/later.h"
#include "base/result.h"
#include "base/retry.h"
#include "base/runtime.h"
#include "tables/tables.h"

namespace tidemark::tables {

// True for errors that say nothing about the request: the store cannot be reached, throttles, or
// did not answer.
bool IsAway(ErrorCode code);

struct ConditionalWrite {
  // One action is written on its own, several are one transaction. Those whose stored item the
  // caller or `is_ours` looks at have on_failure = kAllOld.
  std::vector<TransactAction> actions;
  // Whether a stored item was written by this very write. Unset: nothing is recognised.
  std::function<bool(const item::Item& stored)> is_ours = {};
  // How many of the actions, from the first on, write rows that `is_ours` can judge. The write is
  // ours when all of these were refused and show rows of ours.
  size_t own_actions = 1;
};

// For ConditionalWrite::is_ours: the attribute holds this text.
std::function<bool(const item::Item& stored)> HasText(std::string attribute, std::string text);

enum class WriteResult { kApplied, kRefused, kOurs };

struct ConditionalReply {
  // The result of one action.
  struct Refusal {
    bool refused = false;                           // Its condition did not hold.
    std::optional<item::Item> item = std::nullopt;  // The stored item, when there is one.
  };

  WriteResult result = WriteResult::kApplied;
  std::vector<Refusal> refusals = {};  // One for each action; empty after kApplied.

  // The rows are as the write made them: now, or by an earlier copy of it.
  bool IsWritten() const { return result != WriteResult::kRefused; }
  // Whether the condition of one of the first `count` actions did not hold.
  bool IsAnyRefused(size_t count) const;
};

// What the reply to a write says that was sent once, by a caller that plans again after every
// refusal and therefore uses no writer (docs/decisions/0023-conditional-writes.md). A conflict with
// another transaction counts as a refusal too; then there are no items. kInvalid when the store
// calls an action invalid: planning again would not help.
Result<ConditionalReply> JudgeOnce(Result<WriteReply> reply);
Result<ConditionalReply> JudgeOnce(Result<TransactWriteReply> reply);

class ConditionalWriter {
 public:
  // The tables outlive this.
  ConditionalWriter(Tables* tables, RetryPolicy retry, const Runtime& runtime)
      : tables_(*tables), retry_(retry), runtime_(runtime) {}

  // Blocks. The error after the retries is kUnknown when any of the tries may have been applied.
  Result<ConditionalReply> Write(const ConditionalWrite& write, const Deadline& deadline);

  // The same for a caller that does not wait: the sleeper of the runtime watches the time between
  // two tries. The tables outlive the answer. The last error is the answer when the sleeper is
  // destroyed first.
  Later<ConditionalReply> Submit(ConditionalWrite write, const Deadline& deadline);

 private:
  Tables& tables_;
  const RetryPolicy retry_;
  const Runtime runtime_;
};

}  // namespace tidemark::tables
