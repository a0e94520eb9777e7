#include "apps/dedup/claims.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/dedup/content.h"
#include "base/deadline.h"
#include "item/number.h"
#include "item/validate.h"
#include "tables/ensure_table.h"
#include "tables/plan_again.h"
#include "tables/require_absent.h"

namespace tidemark::dedup {

namespace {

using item::Number;
using tables::ConditionalReply;

// How often a claim is judged again because another caller changed its rows between the judgement
// and the write. Each time another caller got further, so a few rounds are enough.
constexpr RetryPolicy kTakeRounds = {.max_retries = 7,
                                     .first_wait = std::chrono::milliseconds(1),
                                     .longest_wait = std::chrono::milliseconds(16),
                                     .jitter = 1};

// The rows as the refused write showed them. Where an action was not refused, what was known before
// still holds.
Found Refreshed(Found found, const ConditionalReply& reply, EpochSeconds now) {
  for (size_t i = 0; i < found.size() && i < reply.refusals.size(); ++i) {
    if (!reply.refusals[i].refused) continue;
    found[i].reset();
    if (!reply.refusals[i].item) continue;
    Row row = DecodeRow(*reply.refusals[i].item);
    if (!IsExpired(row, now)) found[i] = std::move(row);
  }
  return found;
}

}  // namespace

Claims::Claims(ClaimsOptions options, tables::Tables* tables, const Runtime& runtime)
    : options_(std::move(options)),
      tables_(*tables),
      runtime_(runtime),
      writer_(tables, options_.retry, runtime) {}

// ---- Taking ----

Result<ClaimReply> Claims::Take(const ClaimRequest& request) {
  return TakeAs(request, RowStatus::kClaimed);
}

Result<ClaimReply> Claims::Mark(const ClaimRequest& request) {
  return TakeAs(request, RowStatus::kDone);
}

// Nothing is read first. The first write assumes that all keys are free: usually they are, and one
// write is all it takes. When it is refused it brings the stored rows back. These give the answer,
// or the next write takes over exactly these rows.
Result<ClaimReply> Claims::TakeAs(ClaimRequest request, RowStatus status) {
  if (request.nonce.empty()) request.nonce = runtime_.random.Hex(kNonceBytes);
  const EpochSeconds now = runtime_.clock.NowSeconds();
  const ClaimAttempt attempt = TRY(PrepareAttempt(request, status, terms(), now));
  const Deadline deadline = Deadline::After(runtime_.clock, options_.deadline);
  Found found(attempt.keys.size());
  const auto round = [&]() -> Result<std::optional<ClaimReply>> {
    const ConditionalReply reply =
        TRY(writer_.Write({.actions = ActionsFor(attempt, found, {})}, deadline));
    if (reply.IsWritten()) return std::optional(Granted(attempt, RowFor(attempt, 0, found)));
    found = Refreshed(std::move(found), reply, attempt.now);
    return AnswerOf(attempt, found);
  };
  std::optional<ClaimReply> answer =
      TRY(tables::PlanAgain<ClaimReply>(kTakeRounds, runtime_, round, deadline));
  if (answer) return *std::move(answer);
  return ClaimReply{.outcome = ClaimOutcome::kRunning,
                    .reason = "Other callers are claiming it at the same time"};
}

// The answer of a try that got no reply. When the store is away, the caller must know it: the
// retries have been made here, and the blocking call would make them all again. But whether an
// effect was written is something that only the store can tell later.
Result<std::optional<ClaimReply>> Claims::AnswerAfter(const Error& error, OnRefusal on_refusal) {
  const bool has_unknown_effect =
      on_refusal == OnRefusal::kUndecided && error.code == ErrorCode::kUnknown;
  if (tables::IsAway(error.code) && !has_unknown_effect) return error;
  return std::optional<ClaimReply>();
}

Later<std::optional<ClaimReply>> Claims::TryTakeAs(const ClaimRequest& request, RowStatus status,
                                                   const Effect& effect, OnRefusal on_refusal) {
  ClaimAttempt attempt = TRY(PrepareAttempt(request, status, terms(), runtime_.clock.NowSeconds()));
  const Found absent(attempt.keys.size());
  tables::ConditionalWrite write{.actions = ActionsFor(attempt, absent, effect),
                                 .own_actions = attempt.keys.size()};
  // Only for kUndecided. For kJudge, the refusing rows decide: they show whether a claim is ours,
  // and which generation and lease it has.
  if (on_refusal == OnRefusal::kUndecided) {
    write.is_ours = [nonce = request.nonce](const item::Item& stored) {
      const Row row = DecodeRow(stored);
      return row.owner == nonce && row.status == RowStatus::kDone;
    };
  }
  using Answer = Result<std::optional<ClaimReply>>;
  // Half of the time is left for the blocking call, which the caller makes if this try does not
  // decide.
  return writer_.Submit(std::move(write), Deadline::After(runtime_.clock, options_.deadline / 2))
      .Then([attempt = std::move(attempt),
             on_refusal](const Result<ConditionalReply>& reply) -> Answer {
        if (!reply) return AnswerAfter(reply.error(), on_refusal);
        Found found(attempt.keys.size());
        if (reply->IsWritten()) return std::optional(Granted(attempt, RowFor(attempt, 0, found)));
        if (on_refusal == OnRefusal::kUndecided) return std::optional<ClaimReply>();
        found = Refreshed(std::move(found), *reply, attempt.now);
        return AnswerOf(attempt, found);
      });
}

std::vector<tables::TransactAction> Claims::ActionsFor(const ClaimAttempt& attempt,
                                                       const Found& found,
                                                       const Effect& effect) const {
  std::vector<tables::TransactAction> actions;
  actions.reserve(attempt.keys.size() + effect.size());
  for (size_t i = 0; i < attempt.keys.size(); ++i) {
    actions.emplace_back(PutFor(attempt, i, found));
  }
  actions.insert(actions.end(), effect.begin(), effect.end());
  return actions;
}

tables::PutRequest Claims::PutFor(const ClaimAttempt& attempt, size_t index,
                                  const Found& found) const {
  tables::PutRequest put{.table = options_.table,
                         .item = EncodeRow(RowFor(attempt, index, found)),
                         .on_failure = tables::OnConditionFailure::kAllOld};
  const std::optional<Row>& old = found[index];
  if (!old) {
    tables::RequireAbsent("event_key", attempt.now, &put);
    return put;
  }
  // Take over exactly the row that was judged. If its owner renewed or settled it in the meantime,
  // the lease or the status differs, and the condition fails.
  put.condition =
      "#owner = :owner AND #generation = :generation AND #status = :status AND #lease = :lease";
  put.names = {{"#owner", "owner"},
               {"#generation", "generation"},
               {"#status", "status"},
               {"#lease", "lease_until"}};
  put.values = {{":owner", old->owner},
                {":generation", Number::FromInt(old->generation)},
                {":status", std::string(ToString(old->status))},
                {":lease", Number::FromInt(old->lease_until)}};
  return put;
}

// ---- Settling ----

// What to change in the rows of a claim. UpdateFor adds the condition that the claim still holds
// them.
struct Claims::Change {
  std::string update;
  RowStatus status = RowStatus::kClaimed;  // Afterwards.
  tables::Names names = {};
  tables::Values values = {};
  std::string condition = {};  // A further condition, or empty.
};

namespace {

// The beginning of the text, up to the limit, not cut in the middle of a character. Bytes that are
// not UTF-8, which no table stores, become question marks.
std::string Shortened(std::string_view text) {
  size_t length = std::min(text.size(), kMaxTextBytes);
  while (length < text.size() && length > 0 && (text[length] & 0xC0) == 0x80) --length;
  std::string kept(text.substr(0, length));
  if (item::ValidateValue(kept)) return kept;
  for (char& byte : kept) {
    if ((byte & 0x80) != 0) byte = '?';
  }
  return kept;
}

}  // namespace

tables::UpdateRequest Claims::UpdateFor(const Claim& claim, const std::string& key,
                                        const Change& change) {
  tables::UpdateRequest update{
      .table = options_.table,
      .key = {{"event_key", key}},
      .update = change.update,
      // An expired row counts as absent here too, whether or not the sweeper has deleted it.
      .condition =
          "#owner = :owner AND #generation = :generation AND #status = :claimed"
          " AND #ttl > :now" +
          change.condition,
      .names = change.names,
      .values = change.values,
      .on_failure = tables::OnConditionFailure::kAllOld};
  update.names.insert(
      {{"#owner", "owner"}, {"#generation", "generation"}, {"#status", "status"}, {"#ttl", "ttl"}});
  update.values.insert({{":owner", claim.nonce},
                        {":generation", Number::FromInt(claim.generation)},
                        {":claimed", std::string(ToString(RowStatus::kClaimed))},
                        {":now", Number::FromInt(runtime_.clock.NowSeconds())}});
  return update;
}

Result<Claims::Applied> Claims::Apply(const Claim& claim, const Change& change) {
  TRY(VerifyKeys(claim.keys));
  std::vector<tables::TransactAction> updates;
  for (const std::string& key : claim.keys) updates.emplace_back(UpdateFor(claim, key, change));
  const EpochSeconds now = runtime_.clock.NowSeconds();
  const ConditionalReply reply = TRY(writer_.Write(
      {.actions = std::move(updates)}, Deadline::After(runtime_.clock, options_.deadline)));
  if (reply.IsWritten()) return Applied::kNow;
  bool before = true;
  bool held = true;
  for (const ConditionalReply::Refusal& refusal : reply.refusals) {
    const Row row = refusal.item ? DecodeRow(*refusal.item) : Row{};
    const bool own = refusal.item && IsHeldBy(row, claim) && !IsExpired(row, now);
    before &= own && row.status == change.status;
    held &= own && row.status == RowStatus::kClaimed;
  }
  // A repeated renewal never gets here: a renewal does not change what its condition looks at, so
  // it is applied once more.
  if (held) return Applied::kNo;
  return before ? Applied::kBefore : Applied::kSuperseded;
}

Result<SettleOutcome> Claims::Settle(const Claim& claim, const Change& change) {
  const Applied applied = TRY(Apply(claim, change));
  const bool settled = applied == Applied::kNow || applied == Applied::kBefore;
  return settled ? SettleOutcome::kSettled : SettleOutcome::kSuperseded;
}

Result<SettleOutcome> Claims::Renew(Claim* claim) {
  const EpochSeconds now = runtime_.clock.NowSeconds();
  // A renewal does not shorten a lease that was taken longer than usual. The time comes from the
  // claim as its owner shows it, so it counts only as far as a lease may reach.
  const EpochSeconds shown = std::min(claim->lease_until, now + kMaxLease.count());
  const EpochSeconds lease_until = std::max(shown, now + options_.lease.count());
  const EpochSeconds expires = ExpiryOf(lease_until, terms(), now);
  const Change change{
      .update = "SET #lease = :lease, #ttl = :expires",
      .names = {{"#lease", "lease_until"}},
      .values = {{":lease", Number::FromInt(lease_until)}, {":expires", Number::FromInt(expires)}}};
  const SettleOutcome outcome = TRY(Settle(*claim, change));
  if (outcome == SettleOutcome::kSettled) {
    claim->lease_until = lease_until;
    claim->expires = expires;
  }
  return outcome;
}

Claims::Change Claims::CompletionChange(std::string_view result) {
  Change change{.update = "SET #status = :done, completed_at = :at",
                .status = RowStatus::kDone,
                .values = {{":done", std::string(ToString(RowStatus::kDone))},
                           {":at", Number::FromInt(runtime_.clock.NowSeconds())}}};
  if (!result.empty()) {
    change.update += ", #result = :result";
    change.names.emplace("#result", "result");
    change.values.emplace(":result", std::string(result));
  }
  return change;
}

Result<SettleOutcome> Claims::Complete(const Claim& claim, std::string_view result) {
  TRY(VerifyResult(result));
  return Settle(claim, CompletionChange(result));
}

std::vector<tables::TransactAction> Claims::Completion(const Claim& claim) {
  std::vector<tables::TransactAction> updates;
  const Change change = CompletionChange({});
  for (const std::string& key : claim.keys) updates.emplace_back(UpdateFor(claim, key, change));
  return updates;
}

// The row is not deleted: a late copy of the write that made the claim must still find a row, and
// fail.
Result<SettleOutcome> Claims::Release(const Claim& claim) {
  return Settle(claim, {.update = "SET #status = :released",
                        .status = RowStatus::kReleased,
                        .values = {{":released", std::string(ToString(RowStatus::kReleased))}}});
}

Claims::Change Claims::FailureChange(RowStatus status, std::string_view why) {
  const std::string kept = Shortened(why);
  return {.update =
              "SET #status = :status, failures = if_not_exists(failures, :zero) + :one, "
              "failure = :why",
          .status = status,
          .values = {{":status", std::string(ToString(status))},
                     {":zero", Number::FromInt(0)},
                     {":one", Number::FromInt(1)},
                     {":why", kept.empty() ? "no reason was given" : kept}}};
}

Result<SettleOutcome> Claims::Fail(const Claim& claim, std::string_view why) {
  // Only the rows know how often it has failed. So try the usual case first, on the condition that
  // another failure is allowed.
  Change change = FailureChange(RowStatus::kReleased, why);
  change.condition = " AND (attribute_not_exists(failures) OR failures < :last)";
  change.values.emplace(":last", Number::FromInt(int64_t{options_.max_failures} - 1));
  const Applied applied = options_.max_failures > 1 ? TRY(Apply(claim, change)) : Applied::kNo;
  if (applied == Applied::kNow || applied == Applied::kBefore) return SettleOutcome::kSettled;
  return Settle(claim, FailureChange(RowStatus::kFailed, why));
}

// ---- The table as a whole ----

namespace {

item::KeySchema TableKeys() { return {.partition = {"event_key", item::Type::kString}}; }

Status VerifyTable(const tables::TableDescription& table) {
  if (table.keys == TableKeys()) return Done{};
  return Invalid(
      fmt::format("table {} has the key {}, but the claims need a table with the single string "
                  "key event_key: name another table in dedup.table (DEDUP_TABLE_NAME)",
                  table.name, table.keys.partition.name));
}

}  // namespace

Status Claims::CreateTable() {
  return tables::EnsureTable(tables_,
                             {.table = options_.table,
                              .keys = TableKeys(),
                              .tags = {{"Application", "slack-classify-bot"}}},
                             "ttl");
}

Status Claims::CheckTable() {
  const Result<tables::TableDescription> table = tables_.DescribeTable(options_.table);
  if (table) return VerifyTable(*table);
  if (table.error().code != ErrorCode::kNotFound) return table.error();
  return Error{ErrorCode::kNotFound,
               fmt::format("the table of processed events, {}, is missing: create it, or name "
                           "another in dedup.table (DEDUP_TABLE_NAME)",
                           options_.table)};
}

Result<Claims::HistoryPage> Claims::ListHistory(const std::optional<std::string>& after,
                                                uint32_t limit) {
  tables::ScanRequest scan{.table = options_.table, .limit = limit};
  if (after) scan.start_after = item::Item{{"event_key", *after}};
  const tables::Page page = TRY(tables_.Scan(scan));
  HistoryPage history;
  const EpochSeconds now = runtime_.clock.NowSeconds();
  for (const item::Item& item : page.items) {
    Row row = DecodeRow(item);
    if (!IsExpired(row, now) && !IsContentKey(row.key)) history.rows.push_back(std::move(row));
  }
  if (page.last) history.last = DecodeRow(*page.last).key;
  return history;
}

// ---- The window ----

std::chrono::seconds ShortestWindow(const WindowNeeds& needs) {
  return needs.longest_redelivery + needs.longest_outage + 2 * needs.skew;
}

Status CheckWindow(std::chrono::seconds window, const WindowNeeds& needs) {
  const std::chrono::seconds shortest = ShortestWindow(needs);
  if (window >= shortest) return Done{};
  return Invalid(fmt::format(
      "events are remembered for {} s, but Slack may deliver one again up to {} s later, "
      "and it would then be handled twice: set dedup.window to {} s or more, or turn "
      "Delayed Events off in the Slack app",
      window.count(), shortest.count(), shortest.count()));
}

}  // namespace tidemark::dedup
