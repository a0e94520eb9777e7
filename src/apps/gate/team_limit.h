// TeamLimit bounds how often each team may do something: so many times a minute, and at once no
// more than that either, in any minute. May be called from any thread.
//
// It remembers a bounded number of teams. A team that has its whole allowance again is forgotten
// when room is needed; one that has not is never forgotten, and when there is no room a new team
// is refused.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/clock.h"

namespace tidemark::gate {

struct TeamLimitOptions {
  uint32_t per_minute = 0;  // 0: no limit.
  size_t max_teams = 0;
};

class TeamLimit {
 public:
  // The clock outlives this.
  TeamLimit(TeamLimitOptions options, const Clock* clock);

  // Whether the team may do it once more; if so, it is counted.
  bool Take(const std::string& team);

 private:
  bool MakeRoom(std::chrono::nanoseconds now);

  const TeamLimitOptions options_;
  const Clock& clock_;
  const std::chrono::nanoseconds interval_;  // In which one is given back.
  std::mutex mutex_;
  // When the team has its whole allowance again: one number says how much of it is left.
  std::unordered_map<std::string, std::chrono::nanoseconds> whole_again_;
};

}  // namespace tidemark::gate
