#include "apps/gate/team_limit.h"

namespace tidemark::gate {

using std::chrono::nanoseconds;

TeamLimit::TeamLimit(TeamLimitOptions options, const Clock* clock)
    : options_(options),
      clock_(*clock),
      rate_(options.per_minute == 0
                ? TokenRate{}
                : TokenRate::Of(options.per_minute, std::chrono::minutes(1), options.per_minute)) {}

bool TeamLimit::Take(const std::string& team) {
  if (options_.per_minute == 0) return true;
  const std::lock_guard lock(mutex_);
  const nanoseconds now = clock_.Monotonic();
  auto found = buckets_.find(team);
  if (found == buckets_.end()) {
    if (!MakeRoom(now)) return false;
    found = buckets_.emplace(team, TokenBucket(now)).first;
  }
  if (found->second.WaitAt(rate_, now) > nanoseconds(0)) return false;
  found->second.Take(rate_, now);
  return true;
}

// A team whose bucket is full loses nothing when it is forgotten.
bool TeamLimit::MakeRoom(nanoseconds now) {
  if (buckets_.size() < options_.max_teams) return true;
  std::erase_if(buckets_, [now](const auto& entry) { return entry.second.IsFull(now); });
  return buckets_.size() < options_.max_teams;
}

}  // namespace tidemark::gate
