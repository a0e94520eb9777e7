// The rules of claims: who may have a key, given the rows that are stored. Pure functions, shared
// by the claims in the table (claims.h) and those in memory (memory.h), so that both decide alike.
//
//   const ClaimAttempt attempt = TRY(PrepareAttempt(request, RowStatus::kClaimed, terms, now));
//   Found found = ...;                                        // The stored rows of attempt.keys.
//   if (auto answer = AnswerOf(attempt, found)) return *answer;  // Granted before, or refused.
//   ... replace each row by RowFor(attempt, i, found) ...
//   return Granted(attempt, RowFor(attempt, 0, found));
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dedup/claim.h"
#include "apps/dedup/row.h"
#include "base/clock.h"
#include "base/result.h"

namespace tidemark::dedup {

// How long things last.
struct Terms {
  std::chrono::seconds window;  // How long a key is remembered.
  std::chrono::seconds lease;
  std::chrono::seconds skew;  // How far the clocks of two processes may differ.
};

// One Take or Mark, from its start to its answer. Its times do not change when it is tried again:
// after a lost reply the second try must be the same write as the first.
struct ClaimAttempt {
  std::vector<std::string> keys;  // Each once.
  Metadata metadata = {};
  std::string nonce = {};
  RowStatus status = RowStatus::kClaimed;  // What the rows become: claimed, or done at once.
  std::optional<std::string> payload_hash = std::nullopt;
  OnLapse on_lapse = OnLapse::kTakeOver;
  EpochSeconds now = 0;
  std::chrono::seconds skew = std::chrono::seconds(0);
  EpochSeconds lease_until = 0;
  EpochSeconds expires = 0;
};

// The request must have a nonce. kInvalid when its keys or its lease are not valid.
Result<ClaimAttempt> PrepareAttempt(const ClaimRequest& request, RowStatus status,
                                    const Terms& terms, EpochSeconds now);
Status VerifyKeys(const std::vector<std::string>& keys);
// kInvalid when the result is too long to be stored.
Status VerifyResult(std::string_view result);
// When a claim that is made or renewed now is forgotten.
EpochSeconds ExpiryOf(EpochSeconds lease_until, const Terms& terms, EpochSeconds now);

// The stored rows of an attempt, one for each key. nullopt: absent or expired.
using Found = std::vector<std::optional<Row>>;

// kNew when this attempt itself wrote the rows, or the reason why it cannot have the keys. nullopt
// when it can take them.
std::optional<ClaimReply> AnswerOf(const ClaimAttempt& attempt, const Found& found);
// The row to write under the key of this index, in place of what was found.
Row RowFor(const ClaimAttempt& attempt, size_t index, const Found& found);
// The answer once such a row was written under every key.
ClaimReply Granted(const ClaimAttempt& attempt, const Row& row);

// Whether the claim wrote the row.
bool IsHeldBy(const Row& row, const Claim& claim);

}  // namespace tidemark::dedup
