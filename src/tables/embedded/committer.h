// The Committer gives all writes one order, and makes many of them durable with one sync.
//
// Requests wait in a queue. The first that finds nobody at work leads: it takes all that wait,
// decides each in turn against what is stored and what the ones before it change, writes one
// batch with one sync, and only then lets them all return. Whoever came meanwhile is led by the
// first of them. So a table's writes have one order by construction, nothing is locked, and the
// busier it is the more share a sync (docs/decisions/0005-the-first-writer-leads.md).
//
// Commit may be called from any thread, and blocks. Submit does not: a thread of the committer's
// leads for those who do not wait. It is started with the first of them.
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

namespace tidemark::embedded {

// Whether a change may be written when the disk is down to its reserve: housekeeping may, since
// it frees more than it takes.
enum class Reserve { kKeep, kUse };

class Committer {
 public:
  Committer(Store* store, Catalog* catalog, const Clock& clock, Durability durability,
            EngineMetrics* metrics);
  // Finishes what was submitted.
  ~Committer();

  // Returns once the change is decided and, if it wrote, durable and visible. An Error is the
  // change's own, or kUnavailable (nothing was written) or kUnknown (the disk failed).
  Status Commit(Change* change, Reserve reserve = Reserve::kKeep);

  // The same for a caller that goes on: `done` is called with the outcome, on whichever thread led
  // (or on this one, when the change is refused at once), and must not block.
  void Submit(std::unique_ptr<Change> change, std::function<void(Status)> done);

  // With Durability::kEverySecond: puts on disk what was acknowledged since the last time.
  Status SyncNow();

 private:
  struct Waiter;
  using Waiters = std::vector<Waiter*>;

  Status Admit(Reserve reserve) const;
  void Lead();
  void LeadForSubmitted();
  void Enqueue(Waiter* waiter);
  void AwaitCompany() const;
  Waiters TakeGroup();
  void HandOn();
  static void Answer(const Waiters& group);
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
  std::atomic<size_t> waiting_ = 0;  // The length of the queue, for a look without the lock.
  bool led_ = false;
  std::thread thread_;
  std::condition_variable thread_wake_;
  bool thread_leads_ = false;
  bool stopping_ = false;

  // For the leader alone.
  WorkingSet items_;
  bool unsynced_ = false;
  size_t last_group_ = 0;
  std::atomic<bool> sync_wanted_ = false;
};

}  // namespace tidemark::embedded
