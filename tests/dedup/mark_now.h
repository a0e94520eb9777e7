// Marks or takes a key as a caller that does not wait, and waits for the answer.
#pragma once

#include <utility>

#include "apps/dedup/deduplicator.h"
#include "base/worker_pool.h"

namespace tidemark::dedup {

inline WorkerPool& WorkersOfTests() {
  static WorkerPool workers({.threads = 4, .max_waiting = 1'000});
  return workers;
}

inline Result<ClaimReply> MarkNow(Deduplicator& dedup, ClaimRequest request) {
  return dedup.Mark(std::move(request), &WorkersOfTests()).Wait();
}

inline Result<ClaimReply> TakeNow(Deduplicator& dedup, ClaimRequest request) {
  return dedup.Take(std::move(request), &WorkersOfTests()).Wait();
}

}  // namespace tidemark::dedup
