#include "apps/dedup/claims.h"

#include <algorithm>
#include <utility>

#include "base/deadline.h"
#include "item/number.h"
#include "item/validate.h"

namespace tidemark::dedup {

namespace {

using item::Number;

constexpr size_t kNonceBytes = 16;
// How often a claim is judged anew because its rows changed under it.
constexpr int kMaxRounds = 8;

// What the refused write showed. Where it did not object, what was known before still holds.
Found Refreshed(Found found, const WriteOutcome& outcome, EpochSeconds now) {
  for (size_t i = 0; i < found.size() && i < outcome.refusals.size(); ++i) {
    if (!outcome.refusals[i].refused) continue;
    found[i].reset();
    if (!outcome.refusals[i].item) continue;
    Row row = DecodeRow(*outcome.refusals[i].item);
    if (!IsExpired(row, now)) found[i] = std::move(row);
  }
  return found;
}

// Of the first so many actions.
bool IsAnyRefused(const WriteOutcome& outcome, size_t count) {
  return std::any_of(outcome.refusals.begin(),
                     outcome.refusals.begin() + static_cast<ptrdiff_t>(count),
                     [](const WriteOutcome::Refusal& refusal) { return refusal.refused; });
}

}  // namespace

Claims::Claims(ClaimsOptions options, tables::Tables* tables, const Clock* clock, Random* random,
               Sleeper* sleeper)
    : options_(std::move(options)),
      tables_(*tables),
      clock_(*clock),
      random_(*random),
      writer_(tables, options_.retry, random, sleeper) {}

Result<ClaimReply> Claims::Take(const ClaimRequest& request) {
  return *TRY(TakeAs(request, RowStatus::kClaimed, {}));
}

Result<ClaimReply> Claims::Mark(const ClaimRequest& request) {
  return *TRY(TakeAs(request, RowStatus::kDone, {}));
}

Result<std::optional<ClaimReply>> Claims::MarkWith(const ClaimRequest& request,
                                                   const Effect& effect) {
  return TakeAs(request, RowStatus::kDone, effect);
}

Result<std::optional<ClaimReply>> Claims::TakeAs(ClaimRequest request, RowStatus status,
                                                 const Effect& effect) {
  if (request.nonce.empty()) request.nonce = random_.Hex(kNonceBytes);
  const Attempt attempt = TRY(PrepareAttempt(request, status, terms(), clock_.NowSeconds()));
  const Deadline deadline = Deadline::After(clock_, options_.deadline);
  Found found(attempt.keys.size());  // At first all are hoped to be absent: one write decides.
  for (int round = 0; round < kMaxRounds; ++round) {
    const WriteOutcome outcome = TRY(writer_.Write(ActionsFor(attempt, found, effect), deadline));
    if (outcome.applied) return Granted(attempt, RowFor(attempt, 0, found));
    found = Refreshed(std::move(found), outcome, attempt.wish.now);
    if (auto answer = AnswerOf(attempt, found)) return answer;
    if (!IsAnyRefused(outcome, attempt.keys.size())) return std::optional<ClaimReply>();
  }
  return ClaimReply{.outcome = ClaimOutcome::kRunning,
                    .reason = "Others are claiming it at this very moment"};
}

void Claims::TryMarkWith(const ClaimRequest& request, const Effect& effect, Granting done) {
  auto attempt = PrepareAttempt(request, RowStatus::kDone, terms(), clock_.NowSeconds());
  if (!attempt) return done(std::nullopt);
  const Found absent(attempt->keys.size());
  writer_.TryWrite(
      ActionsFor(*attempt, absent, effect),
      [granted = Granted(*attempt, RowFor(*attempt, 0, absent)), done = std::move(done)](
          bool applied) { done(applied ? std::optional(granted) : std::nullopt); });
}

std::vector<tables::TransactAction> Claims::ActionsFor(const Attempt& attempt, const Found& found,
                                                       const Effect& effect) const {
  std::vector<tables::TransactAction> actions;
  actions.reserve(attempt.keys.size() + effect.size());
  for (size_t i = 0; i < attempt.keys.size(); ++i) {
    actions.emplace_back(PutFor(attempt, i, found));
  }
  actions.insert(actions.end(), effect.begin(), effect.end());
  return actions;
}

tables::PutRequest Claims::PutFor(const Attempt& attempt, size_t index, const Found& found) const {
  tables::PutRequest put{.table = options_.table,
                         .item = EncodeRow(RowFor(attempt, index, found)),
                         .on_failure = tables::OnConditionFailure::kAllOld};
  const std::optional<Row>& old = found[index];
  if (!old) {
    put.condition = "attribute_not_exists(event_key) OR #ttl <= :now";
    put.names = {{"#ttl", "ttl"}};
    put.values = {{":now", Number::FromInt(attempt.wish.now)}};
    return put;
  }
  // A take-over: only of the very row that was judged. A renewal would have moved its lease.
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

// What becomes of a claim's rows, beyond the proof that they are still its own.
struct Claims::Change {
  std::string update;
  RowStatus status = RowStatus::kClaimed;  // Afterwards.
  tables::Names names = {};
  tables::Values values = {};
  std::string condition = {};  // A further one, or empty.
};

namespace {

// Not in the middle of a character, and without what no table stores.
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
      // An expired row counts as absent here too, so that no answer depends on the sweeper.
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
                        {":now", Number::FromInt(clock_.NowSeconds())}});
  return update;
}

Result<Claims::Applied> Claims::Apply(const Claim& claim, const Change& change) {
  TRY(VerifyKeys(claim.keys));
  std::vector<tables::TransactAction> updates;
  for (const std::string& key : claim.keys) updates.emplace_back(UpdateFor(claim, key, change));
  const EpochSeconds now = clock_.NowSeconds();
  const WriteOutcome outcome =
      TRY(writer_.Write(updates, Deadline::After(clock_, options_.deadline)));
  if (outcome.applied) return Applied::kNow;
  bool before = true;
  bool held = true;
  for (const WriteOutcome::Refusal& refusal : outcome.refusals) {
    const Row row = refusal.item ? DecodeRow(*refusal.item) : Row{};
    const bool own = refusal.item && IsHeldBy(row, claim) && !IsExpired(row, now);
    before &= own && row.status == change.status;
    held &= own && row.status == RowStatus::kClaimed;
  }
  // Of a renewal the two cannot be told apart, nor need they: it would have been applied again.
  if (held) return Applied::kNo;
  return before ? Applied::kBefore : Applied::kSuperseded;
}

Result<SettleOutcome> Claims::Settle(const Claim& claim, const Change& change) {
  const Applied applied = TRY(Apply(claim, change));
  const bool settled = applied == Applied::kNow || applied == Applied::kBefore;
  return settled ? SettleOutcome::kSettled : SettleOutcome::kSuperseded;
}

Result<SettleOutcome> Claims::Renew(Claim* claim) {
  const EpochSeconds now = clock_.NowSeconds();
  const EpochSeconds lease_until = std::max(claim->lease_until, now + options_.lease.count());
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
                           {":at", Number::FromInt(clock_.NowSeconds())}}};
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

// The row stays, so that a copy of the first write that arrives late finds it taken.
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
  // The rows know how often it failed, the claim does not: so the usual case is tried first.
  Change change = FailureChange(RowStatus::kReleased, why);
  change.condition = " AND (attribute_not_exists(failures) OR failures < :last)";
  change.values.emplace(":last", Number::FromInt(int64_t{options_.max_failures} - 1));
  const Applied applied = options_.max_failures > 1 ? TRY(Apply(claim, change)) : Applied::kNo;
  if (applied == Applied::kNow || applied == Applied::kBefore) return SettleOutcome::kSettled;
  return Settle(claim, FailureChange(RowStatus::kFailed, why));
}

}  // namespace tidemark::dedup
