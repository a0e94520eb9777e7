// What may be answered to somebody who wants to try.
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
  kBusy,                // All slots are taken by attempts under way; nothing is locked.
  kTemporarilyLocked,   // Until a time.
  kIndefinitelyLocked,  // The ceiling of failures in a row: until somebody lifts it.
  kBlocked,             // By a state of the account.
};
std::string_view ToString(Verdict verdict);

enum class EmailFraud { kPending, kAllow, kDeny };
std::string_view ToString(EmailFraud state);

struct Lock {
  Name name;  // Its count is "LOCK".
  LockKind kind = LockKind::kStandard;
  std::string reason = {};
  std::optional<EpochSeconds> until = std::nullopt;  // nullopt: permanent.
  friend bool operator==(const Lock&, const Lock&) = default;
};

struct Count {
  Name name;
  uint64_t count = 0;      // Failures booked.
  uint64_t under_way = 0;  // Reserved and not settled.
  EpochSeconds until = 0;
  friend bool operator==(const Count&, const Count&) = default;
};

struct Decision {
  Verdict verdict = Verdict::kPermitted;
  uint64_t count = 0;
  uint64_t remaining = 0;                            // Attempts, when permitted.
  std::optional<Lock> lock = std::nullopt;           // When temporarily locked.
  int64_t remaining_seconds = 0;                     // Likewise; never below 0.
  std::optional<AccountState> state = std::nullopt;  // When blocked.
  bool just_reached = false;                         // This very call reached the limit.
  std::vector<Count> blocking = {};                  // The counts that are at their limit.
};

}  // namespace tidemark::attempts
