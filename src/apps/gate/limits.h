// The limits of the gate that are not settings.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.h"
#include "slack/signature.h"

namespace tidemark::gate {

// The longest key of a triple.
inline constexpr size_t kMaxCacheKeyLength = 100;

// How long an answer of Slack is used: for an id that is active, and for any other.
inline constexpr EpochSeconds kVerifiedLifeSeconds = 300;
inline constexpr EpochSeconds kRefusedLifeSeconds = 30;
// How far the clock of another process may be ahead. Rows from further in the future are not used.
inline constexpr EpochSeconds kMaxClockSkewSeconds = 60;

// How many teams the limit on checks remembers.
inline constexpr size_t kMaxLimitedTeams = 10'000;

// A signature is valid for 300 s before and after its timestamp. The 5 s more are for a clock that
// is set back.
inline constexpr std::chrono::seconds kReplayLife =
    std::chrono::seconds(2 * slack::kSignatureWindowSeconds + 5);

// The longest wait between two checks of an event in quarantine.
inline constexpr std::chrono::seconds kLongestRecheck = std::chrono::hours(1);

}  // namespace tidemark::gate
