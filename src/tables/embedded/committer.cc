#include "tables/embedded/committer.h"

#include <condition_variable>

namespace tidemark::embedded {

namespace {

constexpr size_t kWorkingSetBytes = 16 << 20;
// Bounds on one group, so that a flood does not make the first of it wait for the last.
constexpr size_t kMaxGroupChanges = 1'024;
constexpr size_t kMaxGroupBytes = 8 << 20;
// Every waiter is a blocked caller; more than this is a caller gone wild.
constexpr size_t kMaxWaiting = 65'536;

}  // namespace

struct Committer::Waiter {
  explicit Waiter(Change* waiting) : change(waiting) {}

  Change* change;
  Status outcome = Done{};
  enum class State { kWaiting, kLeads, kDone } state = State::kWaiting;
  std::condition_variable wake;
};

Committer::Committer(Store* store, Catalog* catalog, const Clock& clock, Durability durability,
                     EngineMetrics* metrics)
    : store_(store),
      catalog_(catalog),
      clock_(clock),
      durability_(durability),
      metrics_(metrics),
      items_(*store, kWorkingSetBytes) {}

Status Committer::Commit(Change* change, Reserve reserve) {
  TRY(store_->Writable());
  if (reserve == Reserve::kKeep) TRY(store_->HasSpace());
  Waiter self(change);
  std::unique_lock lock(mutex_);
  if (queue_.size() >= kMaxWaiting) {
    return Error{ErrorCode::kUnavailable,
                 "too many writes are waiting; nothing was written, try later"};
  }
  queue_.push_back(&self);
  if (led_) {
    self.wake.wait(lock, [&] { return self.state != Waiter::State::kWaiting; });
  }
  if (self.state == Waiter::State::kDone) return std::move(self.outcome);
  led_ = true;
  Lead(&lock);
  return std::move(self.outcome);
}

// The caller leads one group, its own change among it, and hands on to the first who waits then.
void Committer::Lead(std::unique_lock<std::mutex>* lock) {
  const Waiters group = TakeGroup();
  lock->unlock();
  Process(group);
  lock->lock();
  for (Waiter* waiter : group) {
    waiter->state = Waiter::State::kDone;
    waiter->wake.notify_one();
  }
  led_ = !queue_.empty();
  if (!led_) return;
  queue_.front()->state = Waiter::State::kLeads;
  queue_.front()->wake.notify_one();
}

Committer::Waiters Committer::TakeGroup() {
  Waiters group;
  while (!queue_.empty() && group.size() < kMaxGroupChanges) {
    if (!group.empty() && (queue_.front()->change->alone() || group.back()->change->alone())) break;
    group.push_back(queue_.front());
    queue_.pop_front();
  }
  return group;
}

void Committer::Process(const Waiters& group) {
  size_t next = 0;
  while (next < group.size()) next = CommitFrom(group, next);
  items_.Trim();
}

size_t Committer::CommitFrom(const Waiters& group, size_t first) {
  Group changes(*store_, catalog_, &items_, clock_.Now());
  size_t end = first;
  for (; end < group.size() && changes.batch().size_bytes() < kMaxGroupBytes; ++end) {
    group[end]->outcome = group[end]->change->Evaluate(&changes);
  }
  metrics_->changes.Add(static_cast<double>(end - first));
  metrics_->group_changes.Observe(static_cast<double>(end - first));
  const Status written = Write(&changes);
  for (size_t i = first; i < end; ++i) {
    if (!group[i]->outcome.has_value()) continue;
    // Also those that wrote nothing themselves: they were decided by what the others wrote.
    group[i]->outcome = written;
    if (written.has_value()) group[i]->change->Committed(catalog_);
  }
  return end;
}

Status Committer::Write(Group* group) {
  group->Finish();
  if (group->batch().empty()) return Done{};
  const bool sync = durability_ == Durability::kSynced || sync_wanted_.exchange(false);
  unsynced_ = !sync;
  const std::chrono::nanoseconds start = clock_.Monotonic();
  Status written = store_->Write(&group->batch(), sync ? Store::Sync::kYes : Store::Sync::kNo);
  metrics_->commit_seconds.Observe(
      std::chrono::duration<double>(clock_.Monotonic() - start).count());
  if (!written.has_value()) {
    metrics_->failed_commits.Add();
    items_.Clear();
  }
  return written;
}

namespace {

// A row that says nothing: writing it with a sync puts on disk all that was written before it.
// RocksDB 7.8 has a fault in the call made for this
// (docs/decisions/0004-rocksdb-behind-one-file.md).
class SyncMark final : public Change {
 public:
  Status Evaluate(Group* group) override {
    group->batch().Put(Family::kCatalog, "y", "");
    return Done{};
  }
};

}  // namespace

Status Committer::SyncNow() {
  {
    std::lock_guard lock(mutex_);
    if (!led_ && !unsynced_) return Done{};
  }
  sync_wanted_ = true;
  SyncMark mark;
  return Commit(&mark, Reserve::kUse);
}

}  // namespace tidemark::embedded
