#include "tables/conditional_writer.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "item/attributes.h"

namespace tidemark::tables {

namespace {

const CancellationReason* FindReason(const std::vector<CancellationReason>& reasons,
                                     CancellationCode code) {
  const auto found = std::ranges::find(reasons, code, &CancellationReason::code);
  return found == reasons.end() ? nullptr : &*found;
}

// What the reply to one try says. kConflict, as from a store that answers so itself: another
// transaction is writing one of the rows, so the store did not look at the conditions.
Result<ConditionalReply> Judge(Result<WriteReply> result) {
  WriteReply reply = TRY(std::move(result));
  if (reply.applied) return ConditionalReply{};
  return ConditionalReply{.result = WriteResult::kRefused,
                          .refusals = {{.refused = true, .item = std::move(reply.failed_on)}}};
}

Result<ConditionalReply> Judge(Result<TransactWriteReply> result) {
  TransactWriteReply reply = TRY(std::move(result));
  if (reply.outcome == TransactOutcome::kApplied) return ConditionalReply{};
  // Looked for first: an action that is invalid stays so, however often it is sent or planned.
  if (const auto* invalid = FindReason(reply.reasons, CancellationCode::kValidationError)) {
    return Invalid(invalid->message);
  }
  if (FindReason(reply.reasons, CancellationCode::kTransactionConflict) != nullptr) {
    return Error{ErrorCode::kConflict,
                 "another transaction is writing the same rows; nothing was written, try later"};
  }
  ConditionalReply refused{.result = WriteResult::kRefused};
  for (CancellationReason& reason : reply.reasons) {
    refused.refusals.push_back({.refused = reason.code == CancellationCode::kConditionalCheckFailed,
                                .item = std::move(reason.item)});
  }
  return refused;
}

bool IsOurs(const ConditionalWrite& write, const ConditionalReply& reply) {
  if (!write.is_ours || write.own_actions == 0) return false;
  // Only the first `own_actions` rows carry the nonce. The others belong to the effect of the write
  // and say nothing about who wrote them.
  const size_t judged = std::min(write.own_actions, reply.refusals.size());
  // All rows must be ours. If another writer has replaced one of them since, the write was applied
  // once but is no longer in effect, and the caller must look at the rows.
  return std::all_of(reply.refusals.begin(),
                     reply.refusals.begin() + static_cast<ptrdiff_t>(judged),
                     [&](const ConditionalReply::Refusal& refusal) {
                       return refusal.refused && refusal.item && write.is_ours(*refusal.item);
                     });
}

// The reply to one of several tries. A conflict is a reason to try the same write again, because
// the conditions may still hold when the other transaction has ended.
template <typename Reply>
Result<ConditionalReply> ReplyOf(const ConditionalWrite& write, Result<Reply> result) {
  Result<ConditionalReply> reply = Judge(std::move(result));
  if (!reply && reply.error().code == ErrorCode::kConflict) {
    reply.error().code = ErrorCode::kUnavailable;
  }
  if (reply && !reply->IsWritten() && IsOurs(write, *reply)) reply->result = WriteResult::kOurs;
  return reply;
}

template <typename Reply>
Result<ConditionalReply> JudgeOnceOf(Result<Reply> result) {
  Result<ConditionalReply> reply = Judge(std::move(result));
  if (reply || reply.error().code != ErrorCode::kConflict) return reply;
  return ConditionalReply{.result = WriteResult::kRefused};
}

// A single row needs no transaction, which costs a store more than a write.
Result<WriteReply> WriteAlone(Tables& tables, const TransactAction& action) {
  if (const auto* put = std::get_if<PutRequest>(&action)) return tables.Put(*put);
  if (const auto* update = std::get_if<UpdateRequest>(&action)) return tables.Update(*update);
  return tables.Delete(std::get<DeleteRequest>(action));
}

bool IsAlone(const ConditionalWrite& write) {
  return write.actions.size() == 1 &&
         !std::holds_alternative<ConditionCheck>(write.actions.front());
}

Tables::WriteRequest AsWriteRequest(const TransactAction& action) {
  if (const auto* put = std::get_if<PutRequest>(&action)) return *put;
  if (const auto* update = std::get_if<UpdateRequest>(&action)) return *update;
  return std::get<DeleteRequest>(action);
}

Result<ConditionalReply> TryOnce(Tables& tables, const ConditionalWrite& write) {
  if (IsAlone(write)) return ReplyOf(write, WriteAlone(tables, write.actions.front()));
  // No token is used: what matters is whose rows are stored now, not whether this request was
  // applied once.
  return ReplyOf(write, tables.TransactWrite({.actions = write.actions}));
}

// The tries of one write: whether there is another one, and what the last one proves.
class Tries {
 public:
  Tries(const RetryPolicy& policy, const Runtime& runtime, const Deadline& deadline)
      : backoff_(policy, &runtime.random), deadline_(deadline) {}

  // How long to wait before the next try. nullopt: the reply is the last one.
  std::optional<std::chrono::nanoseconds> WaitAfter(Result<ConditionalReply>* reply) {
    // The same write may be sent again, even if its outcome is unknown: its condition refuses the
    // second copy when the first was applied.
    if (*reply || !IsAway(reply->error().code)) return std::nullopt;
    maybe_applied_ |= reply->error().code == ErrorCode::kUnknown;
    // This try may have done nothing for sure, but an earlier one may have been applied.
    if (maybe_applied_) reply->error().code = ErrorCode::kUnknown;
    return backoff_.Next(deadline_);
  }

 private:
  Backoff backoff_;
  const Deadline deadline_;
  bool maybe_applied_ = false;
};

// A write that its caller does not wait for. The callbacks of its tries share it.
struct Submitted {
  Tables& tables;
  Sleeper& sleeper;
  ConditionalWrite write;
  Tries tries;
};

Later<ConditionalReply> SubmitOnce(const std::shared_ptr<Submitted>& submitted) {
  const auto judge = [submitted](auto reply) {
    return ReplyOf(submitted->write, std::move(reply));
  };
  const std::vector<TransactAction>& actions = submitted->write.actions;
  if (IsAlone(submitted->write)) {
    // A try has no deadline of its own. The deadline of the caller decides whether there is another
    // try: a write that was sent must be awaited, because only its reply says what was stored.
    return submitted->tables.Submit(AsWriteRequest(actions.front()), std::nullopt).Then(judge);
  }
  return submitted->tables.Submit(TransactWriteRequest{.actions = actions}, std::nullopt)
      .Then(judge);
}

Later<ConditionalReply> SubmitUntilAnswered(const std::shared_ptr<Submitted>& submitted) {
  using Reply = Result<ConditionalReply>;
  return SubmitOnce(submitted).Then([submitted](Reply reply) -> Later<ConditionalReply> {
    const auto wait = submitted->tries.WaitAfter(&reply);
    if (!wait) return reply;
    return submitted->sleeper.After(*wait).Then(
        [submitted, reply = std::move(reply)](const Status& slept) -> Later<ConditionalReply> {
          if (!slept) return reply;  // The program is stopping.
          return SubmitUntilAnswered(submitted);
        });
  });
}

}  // namespace

bool ConditionalReply::IsAnyRefused(size_t count) const {
  const size_t judged = std::min(count, refusals.size());
  return std::any_of(refusals.begin(), refusals.begin() + static_cast<ptrdiff_t>(judged),
                     [](const Refusal& refusal) { return refusal.refused; });
}

Result<ConditionalReply> JudgeOnce(Result<WriteReply> reply) {
  return JudgeOnceOf(std::move(reply));
}
Result<ConditionalReply> JudgeOnce(Result<TransactWriteReply> reply) {
  return JudgeOnceOf(std::move(reply));
}

bool IsAway(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kThrottled ||
         code == ErrorCode::kUnreachable || code == ErrorCode::kUnknown;
}

std::function<bool(const item::Item& stored)> HasText(std::string attribute, std::string text) {
  return [attribute = std::move(attribute), text = std::move(text)](const item::Item& stored) {
    const std::string* found = item::FindText(stored, attribute);
    return found != nullptr && *found == text;
  };
}

Result<ConditionalReply> ConditionalWriter::Write(const ConditionalWrite& write,
                                                  const Deadline& deadline) {
  Tries tries(retry_, runtime_, deadline);
  for (;;) {
    Result<ConditionalReply> reply = TryOnce(tables_, write);
    const auto wait = tries.WaitAfter(&reply);
    if (!wait) return reply;
    runtime_.sleeper.Sleep(*wait);
  }
}

Later<ConditionalReply> ConditionalWriter::Submit(ConditionalWrite write,
                                                  const Deadline& deadline) {
  return SubmitUntilAnswered(std::make_shared<Submitted>(
      Submitted{tables_, runtime_.sleeper, std::move(write), Tries(retry_, runtime_, deadline)}));
}

}  // namespace tidemark::tables
