// The values of the dedup app: what a claim is, the request for one, and all possible answers.
// Claims in the table (claims.h) and claims in memory (memory.h) share them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tidemark::dedup {

// Attributes that are stored with the claim (file_id, channel_id, user_id, lambda_instance_id,
// ...). Empty values are left out, and so are names that the claim itself uses.
using Metadata = std::map<std::string, std::string>;

// The length of a nonce that we choose. It is written as twice as many hexadecimal digits.
inline constexpr size_t kNonceBytes = 16;

// The longest lease. A worker that needs a claim for longer must renew it.
inline constexpr std::chrono::seconds kMaxLease = std::chrono::hours(12);

// What to do when the lease of an earlier claim ended and its owner neither completed nor released
// it.
enum class OnLapse {
  kTakeOver,  // Take it over: the work may be done twice, and at least once.
  kReport,    // Answer kOutcomeUnknown: the work must not be done twice, so a person has to decide.
};

struct ClaimRequest {
  // All keys of one event. They are claimed together or not at all. The first is the main key, the
  // others are aliases.
  std::vector<std::string> keys;
  Metadata metadata = {};
  // Zero: as configured.
  std::chrono::seconds lease = std::chrono::seconds(0);
  // The hash of the raw payload. A later claim of the same key with another hash gets
  // kPayloadMismatch.
  std::optional<std::string> payload_hash = std::nullopt;
  OnLapse on_lapse = OnLapse::kTakeOver;
  // Identifies this call. With the same nonce the call can be repeated after a lost reply: the
  // second one recognises what the first one wrote. Empty: a random nonce.
  std::string nonce = {};
};

// The right to do the work until lease_until. Its owner proves it by nonce and generation:
//   - The nonce tells this claim from the claims of others.
//   - The generation is higher than that of every earlier claim of these keys. It tells this claim
//     from an earlier one with the same nonce, which a caller may have chosen itself.
struct Claim {
  std::vector<std::string> keys;
  std::string nonce;
  int64_t generation = 0;
  EpochSeconds lease_until = 0;
  EpochSeconds expires = 0;
  bool local = false;  // Only in the memory of this process: the store was unavailable.
};

enum class ClaimOutcome {
  kNew,              // The caller has the claim and does the work.
  kDone,             // The work was done before.
  kRunning,          // Another caller has the claim. Ask again after lease_until.
  kFailed,           // It failed too often and will not run again.
  kPayloadMismatch,  // The key was claimed with another payload.
  kOutcomeUnknown,  // The lease of another caller ended, and OnLapse::kReport forbids to take over.
  kRefused,         // The store is unavailable, and the policy is to refuse.
};

std::string_view ToString(ClaimOutcome outcome);

struct ClaimReply {
  ClaimOutcome outcome = ClaimOutcome::kRefused;
  std::optional<Claim> claim = std::nullopt;               // With kNew.
  std::string reason = {};                                 // Otherwise: for people and the log.
  std::optional<EpochSeconds> lease_until = std::nullopt;  // With kRunning.
  std::optional<std::string> result = std::nullopt;        // With kDone: what Complete stored.
  bool fallback = false;                                   // Memory decided, not the store.
  bool own = false;  // With kDone or kFailed: a claim with the same nonce ended so.
};

enum class SettleOutcome {
  kSettled,     // Done as asked, now or by an earlier copy of the same call.
  kSuperseded,  // The claim belongs to another caller now, or is settled: do not report success.
};

}  // namespace tidemark::dedup
