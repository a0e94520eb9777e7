// Claims decides, in one table, who handles an event: Take it, Renew it during long work, and then
// Complete, Release or Fail it.
//
//   ClaimReply reply = TRY(claims.Take({.keys = {event_id}}));
//   if (reply.outcome == ClaimOutcome::kNew) { Work(); TRY(claims.Complete(*reply.claim)); }
//
// Taking one key is one conditional write, in which an expired row counts as absent. Each claim has
// a random nonce and a generation. The caller that settles it must give both, so a worker that lost
// its lease changes nothing and is told so. When the reply to a write is lost, the write is sent
// again, and the row tells by its nonce that the first one was applied. Throttled writes are
// retried with growing waits, under one deadline.
//
// The promise: the work is done at least once, and two workers overlap only when the first goes on
// after its lease has ended. An effect that is written in the same transaction as Completion
// happens exactly once.
//
// Errors come from the store: kUnavailable or kUnknown after the retries, any other at once.
// May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dedup/claim.h"
#include "apps/dedup/claim_rules.h"
#include "apps/dedup/row.h"
#include "base/later.h"
#include "base/result.h"
#include "base/retry.h"
#include "base/runtime.h"
#include "tables/conditional_writer.h"
#include "tables/tables.h"

namespace tidemark::dedup {

inline constexpr std::string_view kDefaultTable = "slack-classify-bot-processed-events";

// What has to happen exactly once: actions on rows that are not claims.
using Effect = std::vector<tables::TransactAction>;

struct ClaimsOptions {
  std::string table = std::string(kDefaultTable);
  std::chrono::seconds window = std::chrono::hours(6);  // How long a key is remembered.
  std::chrono::seconds lease = std::chrono::seconds(60);
  // How far the clocks of two processes may differ. Another process takes a claim over only when
  // its lease has ended for this long; an owner should stop this long before the end.
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
  // The tables outlive this.
  Claims(ClaimsOptions options, tables::Tables* tables, const Runtime& runtime);

  // Creates the table with the seed's layout, unless it exists. kInvalid when a table of that name
  // has other keys.
  Status CreateTable();
  // kNotFound, with what to do, when the table is missing; kInvalid when it has other keys.
  Status CheckTable();

  Result<ClaimReply> Take(const ClaimRequest& request);
  // The seed's single call: claims and completes at once. kNew, or why not.
  Result<ClaimReply> Mark(const ClaimRequest& request);
  // Like Mark, in one transaction with an effect, without blocking: both are applied or neither.
  // Answers kNew when the key was new and the conditions of the effect held, also after a lost
  // reply. nullopt means that it was another case or is not certain: call Take with the same nonce,
  // which finds out. An error for which IsAway holds: the retries did not reach the store, and
  // nothing was written.
  Later<std::optional<ClaimReply>> TryMarkWith(const ClaimRequest& request, const Effect& effect) {
    return TryTakeAs(request, RowStatus::kDone, effect, OnRefusal::kUndecided);
  }
  // Tries Take (kClaimed) or Mark (kDone) with one write, without blocking. This decides if the key
  // is new, or if the row that refused the write has the answer. nullopt means that it is not
  // decided: call Take or Mark with the same nonce. An error for which IsAway holds: the store did
  // not answer, also after the retries.
  Later<std::optional<ClaimReply>> TryTake(const ClaimRequest& request, RowStatus status) {
    return TryTakeAs(request, status, {}, OnRefusal::kJudge);
  }
  // Whether TryMarkWith and TryTake return at once, so that a thread that must not block may call
  // them.
  bool TriesWithoutBlocking() const { return tables_.SubmitsWithoutBlocking(); }

  // On success claim->lease_until is later, and the window starts again.
  Result<SettleOutcome> Renew(Claim* claim);
  // `result` is stored with the claim and given to later callers; at most 1 KB.
  Result<SettleOutcome> Complete(const Claim& claim, std::string_view result = {});
  // Makes the keys free, as if they had never been claimed.
  Result<SettleOutcome> Release(const Claim& claim);
  // Makes the keys free, unless the work has failed too often: then they stay kFailed until they
  // expire.
  Result<SettleOutcome> Fail(const Claim& claim, std::string_view why);

  // The writes of Complete, as actions for a transaction with the effect. When one of them cancels
  // the transaction, the claim was superseded.
  std::vector<tables::TransactAction> Completion(const Claim& claim);

  // Claims that have not expired, in no particular order, starting after the key `after`.
  struct HistoryPage {
    std::vector<Row> rows;
    std::optional<std::string> last;  // Where the next page starts. Set when there may be more.
  };
  Result<HistoryPage> ListHistory(const std::optional<std::string>& after, uint32_t limit);

  const ClaimsOptions& options() const { return options_; }

 private:
  struct Change;

  Terms terms() const { return {options_.window, options_.lease, options_.skew}; }
  Result<ClaimReply> TakeAs(ClaimRequest request, RowStatus status);
  // Whether the rows that refused the write of a try give its answer.
  enum class OnRefusal { kUndecided, kJudge };
  Later<std::optional<ClaimReply>> TryTakeAs(const ClaimRequest& request, RowStatus status,
                                             const Effect& effect, OnRefusal on_refusal);
  static Result<std::optional<ClaimReply>> AnswerAfter(const Error& error, OnRefusal on_refusal);
  std::vector<tables::TransactAction> ActionsFor(const ClaimAttempt& attempt, const Found& found,
                                                 const Effect& effect) const;
  tables::PutRequest PutFor(const ClaimAttempt& attempt, size_t index, const Found& found) const;
  tables::UpdateRequest UpdateFor(const Claim& claim, const std::string& key, const Change& change);
  Change CompletionChange(std::string_view result);
  Change FailureChange(RowStatus status, std::string_view why);
  // The outcome of a change: applied now, applied by an earlier copy of the call, refused by its
  // extra condition although the claim still holds, or refused because the claim is not ours any
  // more.
  enum class Applied { kNow, kBefore, kNo, kSuperseded };
  Result<Applied> Apply(const Claim& claim, const Change& change);
  Result<SettleOutcome> Settle(const Claim& claim, const Change& change);

  const ClaimsOptions options_;
  tables::Tables& tables_;
  const Runtime runtime_;
  tables::ConditionalWriter writer_;
};

// How long the window has to be. Slack's three retries come within minutes. With Delayed Events on,
// Slack retries hourly for a day, and may itself be two hours late.
struct WindowNeeds {
  std::chrono::seconds longest_redelivery = std::chrono::hours(24);
  std::chrono::seconds longest_outage = std::chrono::hours(2);
  std::chrono::seconds skew = std::chrono::seconds(2);
};

// redelivery + outage + 2 × skew.
std::chrono::seconds ShortestWindow(const WindowNeeds& needs);

// kInvalid, with what may go wrong and what to set, when the window is shorter than that.
Status CheckWindow(std::chrono::seconds window, const WindowNeeds& needs);

}  // namespace tidemark::dedup
