// Marks a key for a caller that waits for the answer.
#pragma once

#include <utility>

#include "apps/dedup/deduplicator.h"
#include "base/worker_pool.h"

namespace tidemark::dedup {

inline Result<ClaimReply> MarkNow(Deduplicator& dedup, ClaimRequest request) {
  static WorkerPool workers({.threads = 4, .max_waiting = 1'000});
  return dedup.Mark(std::move(request), &workers).Wait();
}

}  // namespace tidemark::dedup
