#include "apps/dedup/attempt.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "apps/dedup/content.h"

namespace tidemark::dedup {

namespace {

constexpr size_t kMaxKeys = 25;

// Of several answers the strongest counts: what is done stays done whatever its aliases say.
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

// Whether the rows are the attempt's own, all of them and of one generation.
bool AreOurs(const Attempt& attempt, const Found& found) {
  return std::all_of(found.begin(), found.end(), [&](const std::optional<Row>& row) {
    return row && Fulfils(*row, attempt.wish) && row->generation == found.front()->generation;
  });
}

}  // namespace

Status VerifyKeys(const std::vector<std::string>& keys) {
  if (keys.empty() || keys.size() > kMaxKeys) {
    return Invalid(fmt::format("a claim has 1 to {} keys, not {}", kMaxKeys, keys.size()));
  }
  for (const std::string& key : keys) {
    if (key.empty()) return Invalid("a claim's key is empty: give the event's id or its parts");
    if (IsContentKey(key)) {
      return Invalid(fmt::format("the key {} begins as rows about contents do", key));
    }
  }
  return Done{};
}

Status VerifyResult(std::string_view result) {
  if (result.size() <= kMaxTextBytes) return Done{};
  return Invalid(
      fmt::format("a claim keeps results of up to {} bytes, not {}: store it elsewhere and keep "
                  "where",
                  kMaxTextBytes, result.size()));
}

// A claim that runs is not forgotten, however short the window is.
EpochSeconds ExpiryOf(EpochSeconds lease_until, const Terms& terms, EpochSeconds now) {
  return std::max(now + terms.window.count(), lease_until + terms.skew.count() + 1);
}

Result<Attempt> PrepareAttempt(const ClaimRequest& request, RowStatus status, const Terms& terms,
                               EpochSeconds now) {
  TRY(VerifyKeys(request.keys));
  if (request.lease < std::chrono::seconds(0)) return Invalid("a claim's lease is negative");
  const auto lease = request.lease > std::chrono::seconds(0) ? request.lease : terms.lease;
  const EpochSeconds lease_until = now + lease.count();
  return Attempt{.keys = WithoutRepeats(request.keys),
                 .metadata = request.metadata,
                 .wish = {.nonce = request.nonce,
                          .status = status,
                          .payload_hash = request.payload_hash,
                          .on_lapse = request.on_lapse,
                          .now = now,
                          .skew = terms.skew},
                 .lease_until = lease_until,
                 .expires = ExpiryOf(lease_until, terms, now)};
}

std::optional<ClaimReply> AnswerOf(const Attempt& attempt, const Found& found) {
  if (AreOurs(attempt, found)) return Granted(attempt, *found.front());
  std::optional<ClaimReply> strongest;
  for (const std::optional<Row>& row : found) {
    std::optional<ClaimReply> objection = row ? Objection(*row, attempt.wish) : std::nullopt;
    if (objection && (!strongest || IsStronger(*objection, *strongest))) strongest = objection;
  }
  return strongest;
}

Row RowFor(const Attempt& attempt, size_t index, const Found& found) {
  Row row{.key = attempt.keys[index],
          .status = attempt.wish.status,
          .owner = attempt.wish.nonce,
          .processed_at = attempt.wish.now,
          .expires = attempt.expires,
          .payload_hash = attempt.wish.payload_hash,
          .main_key = index == 0 ? "" : attempt.keys.front(),
          .metadata = attempt.metadata};
  if (row.status == RowStatus::kDone) row.completed_at = attempt.wish.now;
  if (row.status == RowStatus::kClaimed) row.lease_until = attempt.lease_until;
  // All names of one claim carry one generation, above that of every row it replaces.
  for (const std::optional<Row>& old : found) {
    if (!old) continue;
    row.generation = std::max(row.generation, old->generation);
    row.failures = std::max(row.failures, old->failures);
  }
  ++row.generation;
  return row;
}

ClaimReply Granted(const Attempt& attempt, const Row& row) {
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
