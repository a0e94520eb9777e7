// Claims decides, in one table, who handles an event: claim → renew → complete, release or fail.
//
//   ClaimReply reply = TRY(claims.Take({.keys = {event_id}}));
//   if (reply.outcome == ClaimOutcome::kNew) { Work(); TRY(claims.Complete(*reply.claim)); }
//
// A claim of one key is one conditional write in which an expired row counts as absent. Each
// carries a random nonce and a generation; whoever settles must show both, so a worker that lost
// its lease changes nothing and is told. A write whose reply was lost is repeated, and recognised
// by its nonce. Throttling is retried with growing waits under one deadline.
//
// What is promised: at least once with an overlap of at most the clocks' skew beyond the lease;
// exactly once for an effect that is written in the same transaction as Completion.
//
// Errors are the store's: kUnavailable or kUnknown after the retries, anything else at once.
// May be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dedup/attempt.h"
#include "apps/dedup/claim.h"
#include "apps/dedup/row.h"
#include "apps/dedup/row_writer.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "base/retry.h"
#include "base/sleeper.h"
#include "tables/tables.h"

namespace tidemark::dedup {

inline constexpr std::string_view kDefaultTable = "slack-classify-bot-processed-events";

// What is to happen exactly once: actions on other rows than those of claims.
using Effect = std::vector<tables::TransactAction>;

struct ClaimsOptions {
  std::string table = std::string(kDefaultTable);
  std::chrono::seconds window = std::chrono::hours(6);  // How long a key is remembered.
  std::chrono::seconds lease = std::chrono::seconds(60);
  // How far clocks of processes may differ: the owner stops this much before the lease ends, a
  // taker waits this much longer.
  std::chrono::seconds skew = std::chrono::seconds(2);
  uint32_t max_failures = 5;
  RetryPolicy retry = {.max_retries = 4,
                       .first_wait = std::chrono::milliseconds(25),
                       .longest_wait = std::chrono::milliseconds(400),
                       .jitter = 0.5};
  std::chrono::milliseconds deadline = std::chrono::milliseconds(1000);
};

class Claims {
 public:
  // All outlive this.
  Claims(ClaimsOptions options, tables::Tables* tables, const Clock* clock, Random* random,
         Sleeper* sleeper);

  // Makes the table as the seed lays it out unless it is there; kInvalid when one of that name
  // is keyed in another way.
  Status CreateTable();
  // kNotFound, with what to do, when it is missing; kInvalid when it is keyed in another way.
  Status CheckTable();

  Result<ClaimReply> Take(const ClaimRequest& request);
  // The seed's one call: claims and completes at once. kNew, or why not.
  Result<ClaimReply> Mark(const ClaimRequest& request);
  // As Mark, in one transaction with an effect: both happen or neither. nullopt when a condition of
  // the effect did not hold; nothing was written then, and the caller may come with another.
  Result<std::optional<ClaimReply>> MarkWith(const ClaimRequest& request, const Effect& effect);
  // The usual case of MarkWith, without waiting: the key is new and the effect's conditions hold.
  // `done` gets kNew, or nullopt when it is not the usual case or not known to be: MarkWith
  // says what it is. It is called on this thread or another, and must not block.
  using Granting = std::function<void(std::optional<ClaimReply>)>;
  void TryMarkWith(const ClaimRequest& request, const Effect& effect, Granting done);

  // On success the claim's lease_until is moved on, and its window begins anew.
  Result<SettleOutcome> Renew(Claim* claim);
  // `result` is kept with the claim and given to those who come later; at most 1 KB.
  Result<SettleOutcome> Complete(const Claim& claim, std::string_view result = {});
  // Free again, as if it had never been claimed.
  Result<SettleOutcome> Release(const Claim& claim);
  // Free again, unless it has failed too often: then it is kFailed until it expires.
  Result<SettleOutcome> Fail(const Claim& claim, std::string_view why);

  // What Complete would write, as actions for a transaction with the effect itself. When the
  // transaction is cancelled by one of them, the claim was superseded.
  std::vector<tables::TransactAction> Completion(const Claim& claim);

  // Rows of claims that have not expired, in no order, from behind `after` (a page's `last`) on.
  struct HistoryPage {
    std::vector<Row> rows;
    std::optional<std::string> last;  // Set when there may be more.
  };
  Result<HistoryPage> ListHistory(const std::optional<std::string>& after, uint32_t limit);

  const ClaimsOptions& options() const { return options_; }

 private:
  struct Change;

  Terms terms() const { return {options_.window, options_.lease, options_.skew}; }
  Result<std::optional<ClaimReply>> TakeAs(ClaimRequest request, RowStatus status,
                                           const Effect& effect);
  std::vector<tables::TransactAction> ActionsFor(const Attempt& attempt, const Found& found,
                                                 const Effect& effect) const;
  tables::PutRequest PutFor(const Attempt& attempt, size_t index, const Found& found) const;
  tables::UpdateRequest UpdateFor(const Claim& claim, const std::string& key, const Change& change);
  Change CompletionChange(std::string_view result);
  Change FailureChange(RowStatus status, std::string_view why);
  enum class Applied { kNow, kBefore, kNo, kSuperseded };
  Result<Applied> Apply(const Claim& claim, const Change& change);
  Result<SettleOutcome> Settle(const Claim& claim, const Change& change);

  const ClaimsOptions options_;
  tables::Tables& tables_;
  const Clock& clock_;
  Random& random_;
  RowWriter writer_;
};

}  // namespace tidemark::dedup
