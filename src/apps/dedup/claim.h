// What a claim is, what can be asked of it, and every answer: values shared by the claims in the
// table and those in memory.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace tidemark::dedup {

// Attributes kept beside the claim (file_id, channel_id, user_id, lambda_instance_id, ...). Empty
// values are left out, and names that the claim uses itself are ignored.
using Metadata = std::map<std::string, std::string>;

// What a taker may do when the lease of an earlier claim ended without a word.
enum class OnLapse {
  kTakeOver,  // The work may be repeated: at least once.
  kReport,    // It may not: the answer is kOutcomeUnknown, and a person or a probe decides.
};

struct ClaimRequest {
  // All names of one event. Claimed together or not at all; the first is the main one.
  std::vector<std::string> keys;
  Metadata metadata = {};
  // Zero: the configured one.
  std::chrono::seconds lease = std::chrono::seconds(0);
  // Of the raw payload. A later claim of the key with another hash is kPayloadMismatch.
  std::optional<std::string> payload_hash = std::nullopt;
  OnLapse on_lapse = OnLapse::kTakeOver;
  // Makes the call safe to repeat after a lost reply. Empty: a random one.
  std::string nonce = {};
};

// The right to do the work, held until lease_until. Nonce and generation prove it.
struct Claim {
  std::vector<std::string> keys;
  std::string nonce;
  int64_t generation = 0;
  EpochSeconds lease_until = 0;
  EpochSeconds expires = 0;
  bool local = false;  // Held in this process's memory only: the store was away.
};

enum class ClaimOutcome {
  kNew,              // Yours to handle.
  kDone,             // Handled before.
  kRunning,          // Somebody is at it; come again after lease_until.
  kFailed,           // Tried too often; it will not run again.
  kPayloadMismatch,  // The key stands for another payload.
  kOutcomeUnknown,   // Its handler vanished and the work must not be repeated unseen.
  kRefused,          // The store is away, and the policy is to refuse.
};

std::string_view ToString(ClaimOutcome outcome);

struct ClaimReply {
  ClaimOutcome outcome = ClaimOutcome::kRefused;
  std::optional<Claim> claim = std::nullopt;               // When new.
  std::string reason = {};                                 // When not: for people and the log.
  std::optional<EpochSeconds> lease_until = std::nullopt;  // When running.
  std::optional<std::string> result = std::nullopt;        // When done: what was kept.
  bool fallback = false;                                   // Decided by memory.
  bool own = false;  // When done or failed: it was by a claim with this very nonce.
};

enum class SettleOutcome {
  kSettled,     // As asked. Also when this very call had been applied before.
  kSuperseded,  // The claim is no longer yours: do not report success.
};

}  // namespace tidemark::dedup
