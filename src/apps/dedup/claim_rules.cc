#include "apps/dedup/claim_rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "apps/dedup/content.h"

namespace tidemark::dedup {

namespace {

constexpr size_t kMaxKeys = 25;
constexpr size_t kMaxKeyBytes = 2048;  // As of any partition key.

// The keys of one event may get different answers. The first of these counts: an event that is done
// under one key is done, whatever its other keys say.
constexpr std::array kStrongestFirst = {ClaimOutcome::kDone, ClaimOutcome::kFailed,
                                        ClaimOutcome::kPayloadMismatch, ClaimOutcome::kRunning,
                                        ClaimOutcome::kOutcomeUnknown};

bool IsStronger(const ClaimReply& left, const ClaimReply& right) {
  const auto rank = [](const ClaimReply& reply) {
    return std::find(kStrongestFirst.begin(), kStrongestFirst.end(), reply.outcome);
  };
  return rank(left) < rank(right);
}

std::vector<std::string> WithoutRepeats(const std::vector<std::string>& keys) {
  std::vector<std::string> distinct;
  for (const std::string& key : keys) {
    if (std::find(distinct.begin(), distinct.end(), key) == distinct.end()) distinct.push_back(key);
  }
  return distinct;
}

// Whether the lease has ended for certain. The owner's clock may be behind ours by the skew, so the
// lease counts for that much longer. An owner should stop working that much before its end.
bool HasLapsed(const Row& row, const ClaimAttempt& attempt) {
  return row.lease_until + attempt.skew.count() < attempt.now;
}

bool HasOtherPayload(const Row& row, const ClaimAttempt& attempt) {
  return row.payload_hash && attempt.payload_hash && *row.payload_hash != *attempt.payload_hash;
}

// Whether an earlier copy of this attempt wrote the row, and the row still holds: the reply was
// lost.
bool IsOurs(const Row& row, const ClaimAttempt& attempt) {
  if (row.owner != attempt.nonce || row.status != attempt.status) return false;
  return row.status == RowStatus::kDone || !HasLapsed(row, attempt);
}

// Whether all rows are of this attempt, and of one write: a write gives one generation to all.
bool AreOurs(const ClaimAttempt& attempt, const Found& found) {
  return std::all_of(found.begin(), found.end(), [&](const std::optional<Row>& row) {
    return row && IsOurs(*row, attempt) && row->generation == found.front()->generation;
  });
}

// Why the key of this live row cannot be had; nullopt when it can be taken over.
std::optional<ClaimReply> Objection(const Row& row, const ClaimAttempt& attempt) {
  if (row.status == RowStatus::kReleased) return std::nullopt;
  const bool own = row.owner == attempt.nonce;
  if (HasOtherPayload(row, attempt)) {
    return ClaimReply{.outcome = ClaimOutcome::kPayloadMismatch,
                      .reason = "The key was claimed with another payload"};
  }
  if (row.status == RowStatus::kDone) {
    return ClaimReply{.outcome = ClaimOutcome::kDone,
                      .reason = "Already processed by another instance",
                      .result = row.result,
                      .own = own};
  }
  if (row.status == RowStatus::kFailed) {
    return ClaimReply{.outcome = ClaimOutcome::kFailed,
                      .reason = fmt::format("Failed {} times: {}", row.failures, row.failure),
                      .own = own};
  }
  // The owner of a claim may mark its own key as done.
  if (own && attempt.status == RowStatus::kDone) return std::nullopt;
  if (!HasLapsed(row, attempt)) {
    return ClaimReply{.outcome = ClaimOutcome::kRunning,
                      .reason = "In progress in another instance",
                      .lease_until = row.lease_until};
  }
  if (attempt.on_lapse == OnLapse::kTakeOver) return std::nullopt;
  return ClaimReply{.outcome = ClaimOutcome::kOutcomeUnknown,
                    .reason =
                        "The lease of another instance ended, and it is not known whether it "
                        "did the work, which must not be repeated"};
}

}  // namespace

Status VerifyKeys(const std::vector<std::string>& keys) {
  if (keys.empty() || keys.size() > kMaxKeys) {
    return Invalid(fmt::format("a claim has 1 to {} keys, not {}", kMaxKeys, keys.size()));
  }
  for (const std::string& key : keys) {
    if (key.empty()) return Invalid("a claim's key is empty: give the event's id or its parts");
    if (key.size() > kMaxKeyBytes) {
      return Invalid(
          fmt::format("a claim's key has up to {} bytes, not {}", kMaxKeyBytes, key.size()));
    }
    if (IsContentKey(key)) {
      return Invalid(
          fmt::format("the key {} begins like the keys of content rows: use another key", key));
    }
  }
  return Done{};
}

Status VerifyResult(std::string_view result) {
  if (result.size() <= kMaxTextBytes) return Done{};
  return Invalid(
      fmt::format("a claim keeps results of up to {} bytes, not {}: store the result elsewhere and "
                  "keep its address",
                  kMaxTextBytes, result.size()));
}

// A running claim is not forgotten, even when the window is shorter than the lease.
EpochSeconds ExpiryOf(EpochSeconds lease_until, const Terms& terms, EpochSeconds now) {
  return std::max(now + terms.window.count(), lease_until + terms.skew.count() + 1);
}

Result<ClaimAttempt> PrepareAttempt(const ClaimRequest& request, RowStatus status,
                                    const Terms& terms, EpochSeconds now) {
  TRY(VerifyKeys(request.keys));
  if (request.lease < std::chrono::seconds(0)) return Invalid("a claim's lease is negative");
  const auto lease = request.lease > std::chrono::seconds(0) ? request.lease : terms.lease;
  const EpochSeconds lease_until = now + lease.count();
  return ClaimAttempt{.keys = WithoutRepeats(request.keys),
                      .metadata = request.metadata,
                      .nonce = request.nonce,
                      .status = status,
                      .payload_hash = request.payload_hash,
                      .on_lapse = request.on_lapse,
                      .now = now,
                      .skew = terms.skew,
                      .lease_until = lease_until,
                      .expires = ExpiryOf(lease_until, terms, now)};
}

std::optional<ClaimReply> AnswerOf(const ClaimAttempt& attempt, const Found& found) {
  if (AreOurs(attempt, found)) return Granted(attempt, *found.front());
  std::optional<ClaimReply> strongest;
  for (const std::optional<Row>& row : found) {
    std::optional<ClaimReply> objection = row ? Objection(*row, attempt) : std::nullopt;
    if (objection && (!strongest || IsStronger(*objection, *strongest))) strongest = objection;
  }
  return strongest;
}

Row RowFor(const ClaimAttempt& attempt, size_t index, const Found& found) {
  Row row{.key = attempt.keys[index],
          .status = attempt.status,
          .owner = attempt.nonce,
          .processed_at = attempt.now,
          .expires = attempt.expires,
          .payload_hash = attempt.payload_hash,
          .main_key = index == 0 ? "" : attempt.keys.front(),
          .metadata = attempt.metadata};
  if (row.status == RowStatus::kDone) row.completed_at = attempt.now;
  if (row.status == RowStatus::kClaimed) row.lease_until = attempt.lease_until;
  // All keys of a claim get one generation, higher than that of every row they replace. So a former
  // owner of any of the keys can no longer settle it.
  for (const std::optional<Row>& old : found) {
    if (!old) continue;
    row.generation = std::max(row.generation, old->generation);
    row.failures = std::max(row.failures, old->failures);
  }
  ++row.generation;
  return row;
}

ClaimReply Granted(const ClaimAttempt& attempt, const Row& row) {
  return {.outcome = ClaimOutcome::kNew,
          .claim = Claim{.keys = attempt.keys,
                         .nonce = row.owner,
                         .generation = row.generation,
                         .lease_until = row.lease_until,
                         .expires = row.expires.value_or(0)}};
}

bool IsHeldBy(const Row& row, const Claim& claim) {
  return row.owner == claim.nonce && row.generation == claim.generation;
}

}  // namespace tidemark::dedup
