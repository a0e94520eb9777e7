#include "apps/gate/team_limit.h"

#include <algorithm>

namespace tidemark::gate {

using std::chrono::nanoseconds;

namespace {

// Rounded up, so that rounding never lets one more pass.
nanoseconds IntervalOf(uint32_t per_minute) {
  if (per_minute == 0) return nanoseconds(0);
  return (nanoseconds(std::chrono::minutes(1)) + nanoseconds(per_minute - 1)) / per_minute;
}

}  // namespace

TeamLimit::TeamLimit(TeamLimitOptions options, const Clock* clock)
    : options_(options), clock_(*clock), interval_(IntervalOf(options.per_minute)) {}

bool TeamLimit::Take(const std::string& team) {
  if (options_.per_minute == 0) return true;
  std::lock_guard lock(mutex_);
  const nanoseconds now = clock_.Monotonic();
  auto found = whole_again_.find(team);
  if (found == whole_again_.end()) {
    if (!MakeRoom(now)) return false;
    found = whole_again_.emplace(team, now).first;
  }
  nanoseconds next = std::max(found->second, now) + interval_;
  if (next - now > interval_ * options_.per_minute) return false;
  found->second = next;
  return true;
}

bool TeamLimit::MakeRoom(nanoseconds now) {
  if (whole_again_.size() < options_.max_teams) return true;
  std::erase_if(whole_again_, [now](const auto& entry) { return entry.second <= now; });
  return whole_again_.size() < options_.max_teams;
}

}  // namespace tidemark::gate
