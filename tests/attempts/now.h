// Reserve and Settle for a caller that waits for the answer.
#pragma once

#include <utility>

#include "apps/attempts/attempts.h"
#include "base/worker_pool.h"

namespace tidemark::attempts {

// Several workers, because a test may call again while a worker is inside a call to the store.
inline WorkerPool& WorkersOfTests() {
  static WorkerPool workers({.threads = 8, .max_waiting = 1'000});
  return workers;
}

inline Result<Decision> ReserveNow(Attempts& attempts, ReserveRequest request) {
  return attempts.Reserve(std::move(request), &WorkersOfTests()).Wait();
}
inline Result<SettleReply> SettleNow(Attempts& attempts, SettleRequest request) {
  return attempts.Settle(std::move(request), &WorkersOfTests()).Wait();
}

}  // namespace tidemark::attempts
