// A WorkRunner runs each piece of work of an event once: it takes the claim, runs the handler, and
// completes or fails the claim.
//
//   RunReport report = TRY(runner.Handle(callback, [&](const Work& work, Lease& lease) {
//     return Classify(work.file_id);
//   }));
//   if (!report.settled()) ... deliver the event again later ...
//
// A handler that may run longer than the lease calls lease.Renew() from time to time, and stops
// when Renew says that the claim was superseded.
//
// May be called from any thread that may run the handler. Never runs work without a claim.
#pragma once

#include <functional>
#include <utility>

#include "apps/dedup/deduplicator.h"
#include "apps/dedup/work.h"
#include "base/log.h"
#include "slack/event.h"

namespace tidemark::dedup {

// The claim of a running piece of work, as its handler sees it.
class Lease {
 public:
  // Both outlive this.
  Lease(Deduplicator* deduplicator, Claim* claim) : deduplicator_(*deduplicator), claim_(*claim) {}

  // Extends the lease. kSuperseded: stop working. On an error the lease is as it was.
  Result<SettleOutcome> Renew() { return deduplicator_.Renew(&claim_); }
  EpochSeconds until() const { return claim_.lease_until; }

 private:
  Deduplicator& deduplicator_;
  Claim& claim_;
};

// How many pieces of work ended how.
struct RunReport {
  size_t ran = 0;         // Done now.
  size_t duplicates = 0;  // Already done, or failed permanently.
  size_t given_up = 0;    // Those of the duplicates that failed permanently.
  size_t running = 0;     // Another worker has the claim.
  size_t failed = 0;      // The work failed and may be tried again.
  size_t refused = 0;     // The store is unavailable, and the policy is to refuse.
  size_t superseded = 0;  // Done, but another worker had taken the claim over.

  // Whether the event need not be delivered again.
  bool settled() const { return running + failed + refused == 0; }
};

class WorkRunner {
 public:
  using Handler = std::function<Status(const Work&, Lease&)>;

  // All outlive this.
  WorkRunner(WorkOptions options, Deduplicator* deduplicator, const Logger& logger)
      : options_(std::move(options)), deduplicator_(*deduplicator), logger_(logger) {}

  // A handler that returns kUnavailable did not start: its claim is released and the failure is not
  // counted. An error when a part of a key is missing in the event, or the store refuses: the
  // remaining pieces are not run then.
  Result<RunReport> Handle(const slack::EventCallback& callback, const Handler& handler);

 private:
  Status RunPiece(const Work& work, const Handler& handler, RunReport* report);
  Result<SettleOutcome> SettleAs(const Claim& claim, const Status& done);
  void Settle(const Claim& claim, const Status& done, RunReport* report);
  void LogSkipped(const Work& work, const ClaimReply& reply);

  const WorkOptions options_;
  Deduplicator& deduplicator_;
  const Logger& logger_;
};

}  // namespace tidemark::dedup
