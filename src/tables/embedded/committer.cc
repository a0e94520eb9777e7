#include "tables/embedded/committer.h"

#include <algorithm>
#include <semaphore>
#include <utility>

namespace tidemark::embedded {

namespace {

constexpr size_t kWorkingSetBytes = 16 << 20;
// Bounds on one group, so that a flood does not make the first of it wait for the last.
constexpr size_t kMaxGroupChanges = 1'024;
constexpr size_t kMaxGroupBytes = 8 << 20;
// How long a leader lets others catch up: some tens of microseconds, far less than a sync.
constexpr size_t kMaxAwaited = 64;
constexpr int kMaxAwaitTurns = 100;
// More than this is a caller gone wild.
constexpr size_t kMaxWaiting = 65'536;

Error TooManyWaiting() {
  return {ErrorCode::kUnavailable, "too many writes are waiting; nothing was written, try later"};
}

}  // namespace

struct Committer::Waiter {
  Change* change = nullptr;
  Status outcome = Done{};
  bool leads = false;

  // Of a caller that blocks: released once, when it is to lead or is answered. Shared, because
  // the caller may be gone before the release has returned.
  std::shared_ptr<std::binary_semaphore> wake = nullptr;

  // Of one that does not.
  std::unique_ptr<Change> owned = nullptr;
  std::function<void(Status)> done = nullptr;
};

Committer::Committer(Store* store, Catalog* catalog, const Clock& clock, Durability durability,
                     EngineMetrics* metrics)
    : store_(store),
      catalog_(catalog),
      clock_(clock),
      durability_(durability),
      metrics_(metrics),
      items_(*store, kWorkingSetBytes) {}

Committer::~Committer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  thread_wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Status Committer::Admit(Reserve reserve) const {
  TRY(store_->Writable());
  if (reserve == Reserve::kKeep) TRY(store_->HasSpace());
  return Done{};
}

Status Committer::Commit(Change* change, Reserve reserve) {
  TRY(Admit(reserve));
  thread_local const auto wake = std::make_shared<std::binary_semaphore>(0);
  Waiter self{.change = change, .wake = wake};
  bool leads = false;
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() >= kMaxWaiting) return TooManyWaiting();
    Enqueue(&self);
    leads = self.leads = !std::exchange(led_, true);
  }
  if (!leads) {
    wake->acquire();
    leads = self.leads;
  }
  if (leads) Lead();
  return std::move(self.outcome);
}

void Committer::Submit(std::unique_ptr<Change> change, std::function<void(Status)> done) {
  Status admitted = Admit(Reserve::kKeep);
  if (!admitted.has_value()) return done(std::move(admitted));
  std::unique_lock lock(mutex_);
  if (queue_.size() >= kMaxWaiting) {
    lock.unlock();
    return done(TooManyWaiting());
  }
  auto waiter = std::make_unique<Waiter>();
  waiter->change = change.get();
  waiter->owned = std::move(change);
  waiter->done = std::move(done);
  Enqueue(waiter.release());
  if (!thread_.joinable()) thread_ = std::thread([this] { LeadForSubmitted(); });
  if (std::exchange(led_, true)) return;
  thread_leads_ = true;
  thread_wake_.notify_one();
}

void Committer::LeadForSubmitted() {
  std::unique_lock lock(mutex_);
  for (;;) {
    thread_wake_.wait(lock, [&] { return thread_leads_ || stopping_; });
    if (!std::exchange(thread_leads_, false)) return;
    lock.unlock();
    Lead();
    lock.lock();
  }
}

// Whoever leads decides and writes one group, hands on to the first who waits then, and answers.
void Committer::Lead() {
  AwaitCompany();
  Waiters group;
  {
    std::lock_guard lock(mutex_);
    group = TakeGroup();
  }
  last_group_ = group.size();
  Process(group);
  HandOn();
  Answer(group);
}

void Committer::HandOn() {
  std::shared_ptr<std::binary_semaphore> wake;
  {
    std::lock_guard lock(mutex_);
    led_ = !queue_.empty();
    if (!led_) return;
    queue_.front()->leads = true;
    wake = queue_.front()->wake;
    thread_leads_ = wake == nullptr;
  }
  wake ? wake->release() : thread_wake_.notify_one();
}

void Committer::Answer(const Waiters& group) {
  for (Waiter* waiter : group) {
    if (waiter->done) {
      const std::unique_ptr<Waiter> submitted(waiter);
      submitted->done(std::move(submitted->outcome));
    } else if (!waiter->leads) {
      // From its release on the waiter may be gone.
      const std::shared_ptr<std::binary_semaphore> wake = waiter->wake;
      wake->release();
    }
  }
}

void Committer::Enqueue(Waiter* waiter) {
  queue_.push_back(waiter);
  waiting_ = queue_.size();
}

// Those who were just answered are about to come again: a moment for them lets more share the next
// write. A lone one is never kept waiting.
void Committer::AwaitCompany() const {
  if (last_group_ <= 1) return;
  const size_t wanted = std::min(2 * last_group_, kMaxAwaited);
  for (int turn = 0; turn < kMaxAwaitTurns && waiting_ < wanted; ++turn) std::this_thread::yield();
}

Committer::Waiters Committer::TakeGroup() {
  Waiters group;
  while (!queue_.empty() && group.size() < kMaxGroupChanges) {
    if (!group.empty() && (queue_.front()->change->alone() || group.back()->change->alone())) break;
    group.push_back(queue_.front());
    queue_.pop_front();
  }
  waiting_ = queue_.size();
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
