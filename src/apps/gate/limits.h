// The limits of the gate, beside those that are settings.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.h"
#include "slack/signature.h"

namespace tidemark::gate {

// Of a triple's key.
inline constexpr size_t kMaxCacheKeyLength = 100;

// How long Slack's word counts: what is there, and what is not.
inline constexpr EpochSeconds kVerifiedLifeSeconds = 300;
inline constexpr EpochSeconds kRefusedLifeSeconds = 30;
// How far another process's clock may be ahead: rows from further in the future are not believed.
inline constexpr EpochSeconds kMaxClockSkewSeconds = 60;

// Teams whose use of the limit on checks is remembered.
inline constexpr size_t kMaxLimitedTeams = 10'000;

// A signature is valid on both sides of the window; a little more covers a clock that is set back.
inline constexpr std::chrono::seconds kReplayLife =
    std::chrono::seconds(2 * slack::kSignatureWindowSeconds + 5);

// Between two checks of an event in quarantine, at most.
inline constexpr std::chrono::seconds kLongestRecheck = std::chrono::hours(1);

}  // namespace tidemark::gate
