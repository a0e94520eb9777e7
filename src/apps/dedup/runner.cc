#include "apps/dedup/runner.h"

namespace tidemark::dedup {

Result<RunReport> WorkRunner::Handle(const slack::EventCallback& callback, const Handler& handler) {
  const WorkPlan plan = TRY(PlanWork(callback, options_));
  if (!plan.warning.empty() && logger_) logger_->Log(LogLevel::kWarning, plan.warning);
  RunReport report;
  for (const Work& work : plan.pieces) TRY(RunPiece(work, handler, &report));
  return report;
}

Status WorkRunner::RunPiece(const Work& work, const Handler& handler, RunReport* report) {
  ClaimReply reply = TRY(deduplicator_.Take({.keys = work.keys, .metadata = work.metadata}));
  if (reply.claim) {
    Lease lease(&deduplicator_, &*reply.claim);
    const Status done = handler(work, lease);
    Settle(*reply.claim, done, report);
    return Done{};
  }
  if (reply.outcome == ClaimOutcome::kRunning) {
    ++report->running;
  } else if (reply.outcome == ClaimOutcome::kRefused) {
    ++report->refused;
  } else {
    ++report->duplicates;
  }
  LogSkipped(work, reply);
  return Done{};
}

Result<SettleOutcome> WorkRunner::SettleAs(const Claim& claim, const Status& done) {
  if (done) return deduplicator_.Complete(claim);
  // What could not be begun has not failed, and does not use up a try.
  if (done.error().code == ErrorCode::kUnavailable) return deduplicator_.Release(claim);
  return deduplicator_.Fail(claim, done.error().message);
}

// When the outcome could not be stored, the work is done all the same: the deduplicator keeps the
// mark and writes it later.
void WorkRunner::Settle(const Claim& claim, const Status& done, RunReport* report) {
  const Result<SettleOutcome> settled = SettleAs(claim, done);
  const bool superseded = settled && *settled == SettleOutcome::kSuperseded;
  ++(!done ? report->failed : superseded ? report->superseded : report->ran);
  if (!logger_ || (done && settled && !superseded)) return;
  logger_->Log(LogLevel::kWarning, "work did not end well",
               {{"key", claim.keys.front()},
                {"error", done ? std::string_view() : done.error().message},
                {"settling", !settled     ? std::string_view(settled.error().message)
                             : superseded ? "superseded"
                                          : "settled"}});
}

void WorkRunner::LogSkipped(const Work& work, const ClaimReply& reply) {
  if (!logger_) return;
  logger_->Log(LogLevel::kInfo, "duplicate event detected",
               {{"key", work.keys.front()}, {"reason", reply.reason}});
}

}  // namespace tidemark::dedup
