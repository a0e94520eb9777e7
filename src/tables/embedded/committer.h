// The Committer gives all writes one order, and makes many of them durable with one sync.
//
// Requests wait in a queue. The first request that finds no leader becomes the leader. The leader
// takes all waiting requests and decides them one after the other; each sees what the ones before
// it changed. It writes one batch with one sync, and only then do the callers return. Requests that
// arrive during the write form the next group, and the first of them leads it. So all writes have
// one order, no row is locked, and under more load more requests share one sync
// (docs/decisions/0005-the-first-writer-leads.md).
//
// Commit may be called from any thread, and blocks. Submit does not block: a thread of the
// committer leads for submitted requests. The first call of Submit starts this thread. What a
// thread submits in one turn (base/turn.h) wakes it once, at the end of the turn.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tables/embedded/change.h"
#include "tables/embedded/engine_metrics.h"
#include "tables/embedded/partition_cache.h"

namespace tidemark::embedded {

// Whether a change may be written when the disk has no more free space than the reserve.
// Housekeeping may, because it frees more space than it uses.
enum class Reserve { kKeep, kUse };

struct CommitterOptions {
  Durability durability = Durability::kSynced;
  size_t working_set_bytes = 64 << 20;
};

class Committer {
 public:
  Committer(Store* store, Catalog* catalog, PartitionCache* partitions, const Clock& clock,
            const CommitterOptions& options, EngineMetrics* metrics);
  // Waits until all submitted changes are answered, or handed over to the home of their caller.
  ~Committer();

  // Returns when the change is decided. If the change wrote rows, they are durable and visible
  // then. The error is the change's own error, or kUnavailable (nothing was written), or kUnknown
  // (the disk failed, so the change may or may not be on disk).
  Status Commit(Change* change, Reserve reserve = Reserve::kKeep);

  // The same without waiting. `done` is called with the outcome at the home of the calling thread
  // (base/home.h), on the thread of the leader when it has none, or on the calling thread when the
  // change is refused at once. It must not block.
  void Submit(std::unique_ptr<Change> change, std::function<void(Status)> done);

  // With Durability::kEverySecond: puts on disk what was acknowledged since the last sync.
  Status SyncNow();

  // Opens the store again after a full disk or exhausted descriptors, between two groups.
  Status Recover();

 private:
  struct Waiter;
  class SubmittedByHome;
  using Waiters = std::vector<Waiter*>;

  Status Admit(Reserve reserve) const;
  Status CommitAdmitted(Change* change);
  void Lead();
  void LeadForSubmitted();
  void Enqueue(Waiter* waiter);
  bool AppointThread();
  void WakeThread();
  void AwaitCompany() const;
  Waiters TakeGroup();
  void HandOn();
  static void Answer(const Waiters& group);
  void Process(const Waiters& group);
  size_t CommitFrom(const Waiters& group, size_t first);
  Status Write(Group* group);
  Status WriteBatch(Group* group);

  Store* store_;
  Catalog* catalog_;
  PartitionCache* partitions_;
  const Clock& clock_;
  const Durability durability_;
  EngineMetrics* metrics_;

  std::mutex mutex_;
  std::deque<Waiter*> queue_;
  std::atomic<size_t> waiting_ = 0;  // The length of the queue; may be read without the lock.
  bool led_ = false;
  std::thread thread_;
  std::condition_variable thread_wake_;
  bool thread_leads_ = false;
  bool stopping_ = false;

  // Only the leader uses these; the leader changes under the lock, so no two threads use them at
  // once. sync_wanted_ is set by others.
  WorkingSet items_;
  bool unsynced_ = false;
  size_t last_group_ = 0;
  std::atomic<bool> sync_wanted_ = false;
};

}  // namespace tidemark::embedded
