// The limits of the gate that are not settings.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

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

// How many teams the roster holds, how many people and channels of all teams together, and how many
// found people and channels wait until the archive takes them. Whatever does not fit into the
// roster is looked up one by one.
inline constexpr size_t kMaxListedTeams = 1'000;
inline constexpr size_t kMaxListed = 500'000;
inline constexpr size_t kMaxFound = 10'000;

// How many pages are asked for at the same time, of all teams together. A page may have megabytes.
inline constexpr size_t kMaxListCalls = 30;
// A team's lists are read again after this long, so that no entry reaches the end of its life.
inline constexpr std::chrono::seconds kListPeriod(240);
// The wait after our budget or Slack refused a page, after a failure (which doubles, up to the
// longest), and after Slack refused the list for good: a scope is missing.
inline constexpr std::chrono::seconds kListBudgetWait(3);
inline constexpr std::chrono::seconds kListFailureWait(10);
inline constexpr std::chrono::seconds kLongestListWait(600);
// A page that takes too long or is too large is asked for with half the limit, down to this one.
inline constexpr uint32_t kSmallestListPage = 100;

// A signature is valid for 300 s before and after its timestamp. The 5 s more are for a clock that
// is set back.
inline constexpr std::chrono::seconds kReplayLife =
    std::chrono::seconds(2 * slack::kSignatureWindowSeconds + 5);

// The longest wait between two checks of an event in quarantine.
inline constexpr std::chrono::seconds kLongestRecheck = std::chrono::hours(1);

}  // namespace tidemark::gate
