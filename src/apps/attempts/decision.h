// The answers of attempts: a decision whether somebody may try, and the counts and locks behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attempts/names.h"
#include "apps/attempts/policy.h"
#include "base/clock.h"

namespace tidemark::attempts {

enum class Verdict {
  kPermitted,
  kBusy,                // All slots are taken by open attempts; nothing is locked.
  kTemporarilyLocked,   // Until a time.
  kIndefinitelyLocked,  // Until somebody lifts it: a permanent lock, or too many failures in a row.
  kBlocked,             // A state of the account forbids it.
};
std::string_view ToString(Verdict verdict);

enum class EmailFraud { kPending, kAllow, kDeny };
std::string_view ToString(EmailFraud state);

struct Lock {
  Name name;  // Its count is "LOCK".
  LockKind kind = LockKind::kStandard;
  std::string reason = {};
  std::optional<EpochSeconds> until = std::nullopt;  // nullopt: permanent.
  EpochSeconds since = 0;                            // When it was set; 0: not known.
  friend bool operator==(const Lock&, const Lock&) = default;
};

struct Count {
  Name name;
  uint64_t count = 0;      // Failures booked.
  uint64_t under_way = 0;  // Attempts that are reserved and not settled.
  EpochSeconds until = 0;
  friend bool operator==(const Count&, const Count&) = default;
};

struct Decision {
  Verdict verdict = Verdict::kPermitted;
  uint64_t count = 0;
  uint64_t remaining = 0;                            // How many attempts are left, when permitted.
  std::optional<Lock> lock = std::nullopt;           // When a lock is the reason.
  int64_t remaining_seconds = 0;                     // Until the lock ends; never below 0.
  std::optional<AccountState> state = std::nullopt;  // When blocked.
  bool just_reached = false;                         // This call reached the limit.
  std::vector<Count> blocking = {};                  // The counts that are at their limit.
};

}  // namespace tidemark::attempts
