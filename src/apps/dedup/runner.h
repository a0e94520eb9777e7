// A WorkRunner does each piece of work of an event once: it claims it, runs it, and completes or
// fails the claim.
//
//   RunReport report = TRY(runner.Handle(callback, [&](const Work& work, Lease& lease) {
//     return Classify(work.file_id);
//   }));
//   if (!report.settled()) ... the event is to be delivered again ...
//
// Work that lasts longer than a lease calls lease.Renew() now and then, and stops when it is told
// that the claim is no longer its own.
//
// May be called from any thread, if the work may. Never runs work whose claim was not granted.
#pragma once

#include <functional>

#include "apps/dedup/deduplicator.h"
#include "apps/dedup/work.h"
#include "base/log.h"
#include "slack/event.h"

namespace tidemark::dedup {

// The right to go on with a piece of work.
class Lease {
 public:
  // Both outlive this.
  Lease(Deduplicator* deduplicator, Claim* claim) : deduplicator_(*deduplicator), claim_(*claim) {}

  // Moves its end on. kSuperseded: stop. On an error it is as it was.
  Result<SettleOutcome> Renew() { return deduplicator_.Renew(&claim_); }
  EpochSeconds until() const { return claim_.lease_until; }

 private:
  Deduplicator& deduplicator_;
  Claim& claim_;
};

// How many pieces ended how.
struct RunReport {
  size_t ran = 0;         // Done now.
  size_t duplicates = 0;  // Done before, or never to be done again.
  size_t running = 0;     // Somebody else is at it.
  size_t failed = 0;      // The work failed, and may be tried again.
  size_t refused = 0;     // The store is away, and the policy is to refuse.
  size_t superseded = 0;  // Done, but somebody else had taken over.

  // Whether nothing is left to be delivered again.
  bool settled() const { return running + failed + refused == 0; }
};

class WorkRunner {
 public:
  using Handler = std::function<Status(const Work&, Lease&)>;

  // All outlive this; the logger may be null.
  WorkRunner(WorkOptions options, Deduplicator* deduplicator, const Logger* logger)
      : options_(std::move(options)), deduplicator_(*deduplicator), logger_(logger) {}

  // Work that fails with kUnavailable was not begun: its claim is released, and it is not counted.
  // Fails when the event lacks a part of a key, or the store says no: nothing more is run then.
  Result<RunReport> Handle(const slack::EventCallback& callback, const Handler& handler);

 private:
  Status RunPiece(const Work& work, const Handler& handler, RunReport* report);
  Result<SettleOutcome> SettleAs(const Claim& claim, const Status& done);
  void Settle(const Claim& claim, const Status& done, RunReport* report);
  void LogSkipped(const Work& work, const ClaimReply& reply);

  const WorkOptions options_;
  Deduplicator& deduplicator_;
  const Logger* const logger_;
};

}  // namespace tidemark::dedup
