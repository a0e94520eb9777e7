#include "apps/dedup/runner.h"

namespace tidemark::dedup {

Result<RunReport> WorkRunner::Handle(const slack::EventCallback& callback, const Handler& handler) {
  const WorkPlan plan = TRY(PlanWork(callback, options_));
  if (!plan.warning.empty()) logger_.Log(LogLevel::kWarning, plan.warning);
  RunReport report;
  for (const Work& work : plan.pieces) TRY(RunPiece(work, handler, &report));
  return report;
}

// Takes the claim, runs the handler, settles the claim. Without the claim it only counts why.
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
    if (reply.outcome == ClaimOutcome::kFailed) ++report->given_up;
  }
  LogSkipped(work, reply);
  return Done{};
}

Result<SettleOutcome> WorkRunner::SettleAs(const Claim& claim, const Status& done) {
  if (done) return deduplicator_.Complete(claim);
  // Work that did not start has not failed, and uses up none of its tries.
  if (done.error().code == ErrorCode::kUnavailable) return deduplicator_.Release(claim);
  return deduplicator_.Fail(claim, done.error().message);
}

// When settling fails because the store is not available, the work still counts as done: the
// deduplicator keeps the outcome and writes it later.
void WorkRunner::Settle(const Claim& claim, const Status& done, RunReport* report) {
  const Result<SettleOutcome> settled = SettleAs(claim, done);
  const bool superseded = settled && *settled == SettleOutcome::kSuperseded;
  ++(!done ? report->failed : superseded ? report->superseded : report->ran);
  if (done && settled && !superseded) return;
  logger_.Log(LogLevel::kWarning, "work failed or was not settled",
              {{"key", claim.keys.front()},
               {"error", done ? std::string_view() : done.error().message},
               {"settling", !settled     ? std::string_view(settled.error().message)
                            : superseded ? "superseded"
                                         : "settled"}});
}

void WorkRunner::LogSkipped(const Work& work, const ClaimReply& reply) {
  logger_.Log(LogLevel::kInfo, "duplicate event detected",
              {{"key", work.keys.front()}, {"reason", reply.reason}});
}

}  // namespace tidemark::dedup
