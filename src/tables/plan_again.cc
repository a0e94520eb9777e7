#include "tables/plan_again.h"

#include <utility>

namespace tidemark::tables {

namespace {

// Much longer than all pauses of any policy together. Used when only the number of rounds limits
// the loop.
constexpr std::chrono::hours kNoDeadline(1);

}  // namespace

Rounds::Rounds(const RetryPolicy& policy, const Runtime& runtime,
               const std::optional<Deadline>& deadline, std::stop_token stop)
    : backoff_(policy, &runtime.random),
      sleeper_(runtime.sleeper),
      deadline_(deadline.value_or(Deadline::After(runtime.clock, kNoDeadline))),
      stop_(std::move(stop)) {}

bool Rounds::WaitForNext() {
  const auto pause = backoff_.Next(deadline_);
  if (pause) sleeper_.SleepUnlessStopped(*pause, stop_);
  return pause.has_value();
}

}  // namespace tidemark::tables
