// The Committer gives all writes one order, and makes many of them durable with one sync.
//
// Requests wait in a queue. The first that finds nobody at work leads: it takes all that wait,
// decides each in turn against what is stored and what the ones before it change, writes one
// batch with one sync, and only then lets them all return. Whoever came meanwhile is led by the
// first of them. So a table's writes have one order by construction, nothing is locked, and the
// busier it is the more share a sync (docs/decisions/0005-the-first-writer-leads.md).
//
// Commit may be called from any thread, and blocks.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tables/embedded/change.h"
#include "tables/embedded/engine_metrics.h"

namespace tidemark::embedded {

// Whether a change may be written when the disk is down to its reserve: housekeeping may, since
// it frees more than it takes.
enum class Reserve { kKeep, kUse };

class Committer {
 public:
  Committer(Store* store, Catalog* catalog, const Clock& clock, Durability durability,
            EngineMetrics* metrics);

  // Returns once the change is decided and, if it wrote, durable and visible. An Error is the
  // change's own, or kUnavailable (nothing was written) or kUnknown (the disk failed).
  Status Commit(Change* change, Reserve reserve = Reserve::kKeep);

  // With Durability::kEverySecond: puts on disk what was acknowledged since the last time.
  Status SyncNow();

 private:
  struct Waiter;
  using Waiters = std::vector<Waiter*>;

  void Lead(std::unique_lock<std::mutex>* lock);
  Waiters TakeGroup();
  void Process(const Waiters& group);
  size_t CommitFrom(const Waiters& group, size_t first);
  Status Write(Group* group);

  Store* store_;
  Catalog* catalog_;
  const Clock& clock_;
  const Durability durability_;
  EngineMetrics* metrics_;

  std::mutex mutex_;
  std::deque<Waiter*> queue_;
  bool led_ = false;

  // For the leader alone.
  WorkingSet items_;
  bool unsynced_ = false;
  std::atomic<bool> sync_wanted_ = false;
};

}  // namespace tidemark::embedded
