#include "apps/dedup/row_writer.h"

#include <utility>
#include <variant>

namespace tidemark::dedup {

namespace {

using tables::CancellationCode;
using tables::CancellationReason;

// Why the transaction could not be decided, if that is why it was cancelled: nothing was done.
std::optional<Error> CannotDecide(const std::vector<CancellationReason>& reasons) {
  for (const CancellationReason& reason : reasons) {
    if (reason.code == CancellationCode::kValidationError) return Invalid(reason.message);
    if (reason.code == CancellationCode::kTransactionConflict) {
      return Error{ErrorCode::kUnavailable, "another transaction is writing the same claims"};
    }
  }
  return std::nullopt;
}

}  // namespace

bool IsAway(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kUnknown;
}

Result<WriteOutcome> RowWriter::Write(const std::vector<tables::TransactAction>& actions,
                                      const Deadline& deadline) {
  Backoff backoff(retry_, &random_);
  bool maybe_applied = false;
  for (;;) {
    Result<WriteOutcome> outcome = WriteOnce(actions);
    if (outcome || !IsAway(outcome.error().code)) return outcome;
    maybe_applied |= outcome.error().code == ErrorCode::kUnknown;
    const auto wait = backoff.Next(deadline);
    if (!wait) {
      if (maybe_applied) outcome.error().code = ErrorCode::kUnknown;
      return outcome;
    }
    sleeper_.Sleep(*wait);
  }
}

void RowWriter::TryWrite(const std::vector<tables::TransactAction>& actions,
                         std::function<void(bool applied)> done) {
  tables_.Submit(tables::TransactWriteRequest{.actions = actions},
                 [done = std::move(done)](const Result<tables::TransactWriteReply>& reply) {
                   done(reply && reply->outcome == tables::TransactOutcome::kApplied);
                 });
}

Result<WriteOutcome> RowWriter::WriteOnce(const std::vector<tables::TransactAction>& actions) {
  if (actions.size() != 1) return WriteTogether(actions);
  const auto* put = std::get_if<tables::PutRequest>(&actions.front());
  tables::WriteReply reply =
      put ? TRY(tables_.Put(*put))
          : TRY(tables_.Update(std::get<tables::UpdateRequest>(actions.front())));
  WriteOutcome outcome{.applied = reply.applied};
  if (!reply.applied) outcome.refusals.push_back({true, std::move(reply.failed_on)});
  return outcome;
}

// Without a token: what counts is whose rows are there now, not whether this was applied once.
Result<WriteOutcome> RowWriter::WriteTogether(const std::vector<tables::TransactAction>& actions) {
  tables::TransactWriteReply reply = TRY(tables_.TransactWrite({.actions = actions}));
  if (reply.outcome == tables::TransactOutcome::kApplied) return WriteOutcome{};
  if (auto error = CannotDecide(reply.reasons)) return *std::move(error);
  WriteOutcome outcome{.applied = false};
  for (CancellationReason& reason : reply.reasons) {
    const bool refused = reason.code == CancellationCode::kConditionalCheckFailed;
    outcome.refusals.push_back({refused, std::move(reason.item)});
  }
  return outcome;
}

}  // namespace tidemark::dedup
