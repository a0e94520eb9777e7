// An Attempt is one Take or Mark under way, and how rows answer it, wherever they lie: in the
// table, or in memory while the table is away. Both so keep to the same states.
//
//   Found found = ...;                                   // The rows of attempt.keys.
//   if (auto answer = AnswerOf(attempt, found)) return *answer;
//   ... replace each by RowFor(attempt, i, found) ...
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
  std::chrono::seconds window;
  std::chrono::seconds lease;
  std::chrono::seconds skew;
};

// Its times stay as they are however often it is tried, so that a try whose reply was lost and
// its repetition are the same write.
struct Attempt {
  std::vector<std::string> keys;
  Metadata metadata;
  Wish wish;
  EpochSeconds lease_until = 0;
  EpochSeconds expires = 0;
};

// The request has its nonce. kInvalid when its keys or its lease cannot be.
Result<Attempt> PrepareAttempt(const ClaimRequest& request, RowStatus status, const Terms& terms,
                               EpochSeconds now);
Status VerifyKeys(const std::vector<std::string>& keys);
// kInvalid when it is too long to be kept.
Status VerifyResult(std::string_view result);
// When a claim is forgotten that was made or renewed now.
EpochSeconds ExpiryOf(EpochSeconds lease_until, const Terms& terms, EpochSeconds now);

// What is known of the attempt's rows, key by key: nullopt is absent or expired.
using Found = std::vector<std::optional<Row>>;

// kNew when the rows are the attempt's own, or why it cannot have them; nullopt when it can.
std::optional<ClaimReply> AnswerOf(const Attempt& attempt, const Found& found);
// The row to write under the key of this index, in place of what was found.
Row RowFor(const Attempt& attempt, size_t index, const Found& found);
// The answer when such a row was written under every key.
ClaimReply Granted(const Attempt& attempt, const Row& row);

// Whether the row was written by this claim.
bool IsHeldBy(const Row& row, const Claim& claim);

}  // namespace tidemark::dedup
