// TeamLimit limits how often each team may do something: at most n times in a burst, and one more
// for every 1/n of a minute after that. May be called from any thread.
//
// The number of remembered teams is limited. When room is needed, teams that have their whole
// allowance again are forgotten; others are not. When there is still no room, a new team is
// refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/token_bucket.h"

namespace tidemark::gate {

struct TeamLimitOptions {
  uint32_t per_minute = 0;  // 0: no limit.
  size_t max_teams = 0;
};

class TeamLimit {
 public:
  // The clock outlives this.
  TeamLimit(TeamLimitOptions options, const Clock* clock);

  // True when the team may do it once more. That use is counted.
  bool Take(const std::string& team);

 private:
  bool MakeRoom(std::chrono::nanoseconds now);

  const TeamLimitOptions options_;
  const Clock& clock_;
  const TokenRate rate_;
  std::mutex mutex_;
  std::unordered_map<std::string, TokenBucket> buckets_;
};

}  // namespace tidemark::gate
