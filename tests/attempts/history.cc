#include "tests/attempts/history.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace tidemark::attempts {

namespace {

using Found = std::optional<std::string>;

bool IsOver(const Event& lock, EpochSeconds at, int64_t skew) {
  return lock.until && at + skew >= *lock.until;
}

Found CheckSlots(const std::vector<Event>& events) {
  std::set<std::string> started;
  for (const Event& event : events) {
    if (event.kind == EventKind::kStarted && !started.insert(event.id).second) {
      return fmt::format("{} was given a slot twice", event.id);
    }
    if (event.kind == EventKind::kSettled && !started.contains(event.id)) {
      return fmt::format("{} was settled and never started", event.id);
    }
  }
  return std::nullopt;
}

Found CheckBound(const std::vector<Event>& events, const Bound& bound) {
  std::set<std::string> right;
  for (const Event& event : events) {
    if (event.kind == EventKind::kRight) right.insert(event.id);
  }
  std::vector<EpochSeconds> starts;
  for (const Event& event : events) {
    if (event.kind != EventKind::kStarted || right.contains(event.id)) continue;
    starts.push_back(event.at);
  }
  std::sort(starts.begin(), starts.end());
  for (size_t first = 0; first + bound.most < starts.size(); ++first) {
    const EpochSeconds length = starts[first + bound.most] - starts[first];
    if (length >= bound.span_seconds) continue;
    return fmt::format("{} verifications were started in {} s, and not right", bound.most + 1,
                       length);
  }
  return std::nullopt;
}

// Finds an event that is not allowed while the lock holds.
Found CheckUnder(const Event& lock, const Event& later) {
  switch (later.kind) {
    case EventKind::kStarted:
      return fmt::format("{} was started under a lock", later.id);
    case EventKind::kNoLockSeen:
      return lock.until ? "a lock was gone before its end" : "a permanent lock lapsed";
    case EventKind::kLockSeen:
      if (later.until == lock.until) return std::nullopt;
      return fmt::format("a lock moved by {} s", later.until.value_or(0) - lock.until.value_or(0));
    case EventKind::kRight:
    case EventKind::kSettled:
    case EventKind::kLockLifted:
      return std::nullopt;
  }
  return std::nullopt;
}

Found CheckLock(const std::vector<Event>& events, size_t seen, int64_t skew) {
  const Event& lock = events[seen];
  for (size_t i = seen + 1; i < events.size(); ++i) {
    if (events[i].kind == EventKind::kLockLifted) return std::nullopt;
    // A call that began before the lock was seen may not have read it.
    if (events[i].began <= seen || IsOver(lock, events[i].at, skew)) continue;
    if (auto violation = CheckUnder(lock, events[i])) return violation;
  }
  return std::nullopt;
}

Found CheckRepeats(const std::vector<Event>& events) {
  std::map<std::string, const Event*> first;
  for (const Event& event : events) {
    if (event.kind != EventKind::kSettled) continue;
    const Event& before = *first.emplace(event.id, &event).first->second;
    if (before.right == event.right && before.reached == event.reached) continue;
    return fmt::format("{} was settled again with another answer", event.id);
  }
  return std::nullopt;
}

Found CheckReached(const std::vector<Event>& events, const Bound& bound) {
  std::set<std::string> reached;
  for (const Event& event : events) {
    if (event.kind == EventKind::kSettled && event.reached) reached.insert(event.id);
  }
  if (bound.span_seconds != INT64_MAX || reached.size() <= 1) return std::nullopt;
  return fmt::format("{} attempts were told to have reached one limit", reached.size());
}

}  // namespace

std::optional<std::string> FindViolation(const History& history, const Bound& bound) {
  const std::vector<Event>& events = history.events();
  if (auto violation = CheckSlots(events)) return violation;
  if (auto violation = CheckBound(events, bound)) return violation;
  if (auto violation = CheckRepeats(events)) return violation;
  if (auto violation = CheckReached(events, bound)) return violation;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind != EventKind::kLockSeen) continue;
    if (auto violation = CheckLock(events, i, bound.skew_seconds)) return violation;
  }
  return std::nullopt;
}

}  // namespace tidemark::attempts
