// PlanAgain is the loop of every optimistic writer: read, plan, write on the condition that no
// other writer changed the rows in the meantime, and begin again when one did.
//
//   std::optional<Report> report = TRY(PlanAgain<Report>(
//       kPlanAgain, runtime, [&]() -> Result<std::optional<Report>> {
//         Plan plan = TRY(MakePlan());                 // reads
//         if (!TRY(Write(plan))) return std::nullopt;  // somebody else wrote: plan again
//         return plan.report;
//       }));
//   if (!report) return Error{ErrorCode::kConflict, "others keep writing …: try again"};
//
// In each round that this writer loses, another one has succeeded, so all writers together make
// progress. Between two rounds it waits for a random part of a growing pause, so that writers that
// collided do not collide again.
//
// Blocks. May be called from any thread that may block.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/deadline.h"
#include "base/result.h"
#include "base/retry.h"
#include "base/runtime.h"

namespace tidemark::tables {

// 32 rounds; the pauses are drawn from up to 1, 2, 4, … 32 ms, in all less than a second.
inline constexpr RetryPolicy kPlanAgain = {.max_retries = 31,
                                           .first_wait = std::chrono::milliseconds(1),
                                           .longest_wait = std::chrono::milliseconds(32),
                                           .jitter = 1};

// Waits between rounds, for a caller whose loop is not a function of its own. One object is one
// loop and has one owner.
class Rounds {
 public:
  // No deadline: the number of rounds is the only bound. A stop ends a pause early.
  Rounds(const RetryPolicy& policy, const Runtime& runtime,
         const std::optional<Deadline>& deadline = std::nullopt, std::stop_token stop = {});

  // Waits, and returns true when there is another round. False, at once, when all are used up or
  // the pause would not end before the deadline. A caller that can be stopped asks in its round
  // whether it was.
  bool WaitForNext();

 private:
  Backoff backoff_;
  Sleeper& sleeper_;
  const Deadline deadline_;
  const std::stop_token stop_;
};

// The result of a round, or nullopt when another writer won in every round. An error ends the loop.
template <typename T>
Result<std::optional<T>> PlanAgain(const RetryPolicy& policy, const Runtime& runtime,
                                   const std::function<Result<std::optional<T>>()>& round,
                                   const std::optional<Deadline>& deadline = std::nullopt,
                                   std::stop_token stop = {}) {
  Rounds rounds(policy, runtime, deadline, std::move(stop));
  do {
    std::optional<T> done = TRY(round());
    if (done) return done;
  } while (rounds.WaitForNext());
  return std::optional<T>();
}

}  // namespace tidemark::tables
