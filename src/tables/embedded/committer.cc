#include "tables/embedded/committer.h"

#include <algorithm>
#include <semaphore>
#include <utility>
#include <vector>

#include "base/home.h"
#include "base/turn.h"

namespace tidemark::embedded {

namespace {

// Limits of one group. Without them the first caller of a large burst would wait for the last one.
constexpr size_t kMaxGroupChanges = 1'024;
constexpr size_t kMaxGroupBytes = 8 << 20;
// Limits of the leader's wait for more requests: some tens of microseconds, far less than a sync.
constexpr size_t kMaxAwaited = 64;
constexpr int kMaxAwaitTurns = 100;
// When so many changes wait, further ones are refused. Only a faulty caller submits so many.
constexpr size_t kMaxWaiting = 65'536;

Error TooManyWaiting() {
  return {ErrorCode::kUnavailable, "too many writes are waiting; nothing was written, try later"};
}

}  // namespace

// One request in the queue. The Waiter of a blocking caller lives on the caller's stack. The queue
// owns the Waiter of a submitted change, and Answer deletes it.
struct Committer::Waiter {
  Change* change = nullptr;
  Status outcome = Done{};
  bool leads = false;

  // For a caller that blocks: released once, when the caller becomes the leader or is answered.
  // Shared, because the caller may return, and destroy this Waiter, before release() has returned.
  std::shared_ptr<std::binary_semaphore> wake = nullptr;

  // For a submitted change. `done` is called at the home of the caller, if it has one.
  std::unique_ptr<Change> owned = nullptr;
  std::function<void(Status)> done = nullptr;
  std::shared_ptr<Home> home = nullptr;
};

// Submitted changes of a group that has been written. Those of one home are handed over together.
class Committer::SubmittedByHome {
 public:
  void Add(std::unique_ptr<Waiter> waiter) {
    Home* const home = waiter->home.get();
    auto part = std::ranges::find(parts_, home, &Part::home);
    if (part == parts_.end()) part = parts_.insert(part, {home, std::make_shared<Owned>()});
    part->waiters->push_back(std::move(waiter));
  }

  void Answer() {
    for (const auto& [home, waiters] : parts_) {
      // Kept, because the home may answer at once, and the waiters are gone then.
      const std::shared_ptr<Home> kept = waiters->front()->home;
      const auto answer = [waiters = waiters] { AnswerAll(*waiters); };
      if (home == nullptr || !home->Add(answer)) answer();
    }
  }

 private:
  using Owned = std::vector<std::unique_ptr<Waiter>>;
  struct Part {
    Home* home = nullptr;
    std::shared_ptr<Owned> waiters;
  };

  static void AnswerAll(Owned& waiters) {
    for (std::unique_ptr<Waiter>& waiter : waiters) {
      waiter->done(std::move(waiter->outcome));
      waiter.reset();
    }
  }

  std::vector<Part> parts_;
};

Committer::Committer(Store* store, Catalog* catalog, PartitionCache* partitions, const Clock& clock,
                     const CommitterOptions& options, EngineMetrics* metrics)
    : store_(store),
      catalog_(catalog),
      partitions_(partitions),
      clock_(clock),
      durability_(options.durability),
      metrics_(metrics),
      items_(*store, options.working_set_bytes) {}

Committer::~Committer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    AppointThread();
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
  return CommitAdmitted(change);
}

Status Committer::CommitAdmitted(Change* change) {
  // One semaphore for each thread, since a thread waits for one change at a time.
  thread_local const auto wake = std::make_shared<std::binary_semaphore>(0);
  Waiter self{.change = change, .wake = wake};
  bool leads = false;
  bool wakes_thread = false;
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() >= kMaxWaiting) return TooManyWaiting();
    Enqueue(&self);
    // Under the same lock as Enqueue. So only one caller becomes the leader, and if there is a
    // leader already, HandOn will find this request in the queue. When submitted changes are in
    // front and have no leader yet, the committer's thread leads them: a leader takes its own
    // change with its first group.
    if (queue_.front() == &self) {
      leads = self.leads = !std::exchange(led_, true);
    } else {
      wakes_thread = AppointThread();
    }
  }
  if (wakes_thread) thread_wake_.notify_one();
  if (!leads) {
    // Woken for one of two reasons: a leader has written our change, or HandOn made us the leader.
    wake->acquire();
    leads = self.leads;
  }
  if (leads) {
    AwaitCompany();
    Lead();
  }
  return std::move(self.outcome);
}

void Committer::Submit(std::unique_ptr<Change> change, std::function<void(Status)> done) {
  Status admitted = Admit(Reserve::kKeep);
  if (!admitted.has_value()) return done(std::move(admitted));
  auto waiter = std::make_unique<Waiter>();
  waiter->change = change.get();
  waiter->owned = std::move(change);
  waiter->done = std::move(done);
  waiter->home = Home::OfThisThread();
  std::unique_lock lock(mutex_);
  if (queue_.size() >= kMaxWaiting) {
    lock.unlock();
    return waiter->done(TooManyWaiting());
  }
  Enqueue(waiter.release());
  if (!thread_.joinable()) thread_ = std::thread([this] { LeadForSubmitted(); });
  // If there is a leader, HandOn wakes the committer's thread when this change is at the front.
  if (led_) return;
  lock.unlock();
  // A caller with many changes in one turn wakes the thread once, so they are in one group.
  Turn::AtEnd(this, [this] { WakeThread(); });
}

void Committer::WakeThread() {
  {
    std::lock_guard lock(mutex_);
    if (!AppointThread()) return;
  }
  thread_wake_.notify_one();
}

// Makes the committer's thread the leader if changes wait and have none. The caller holds the lock,
// and wakes the thread.
bool Committer::AppointThread() {
  if (queue_.empty() || std::exchange(led_, true)) return false;
  return thread_leads_ = true;
}

// A submitted change has no thread of its own that could lead. This one leads whenever the change
// at the front of the queue is a submitted one.
void Committer::LeadForSubmitted() {
  std::unique_lock lock(mutex_);
  for (;;) {
    thread_wake_.wait(lock, [&] { return thread_leads_ || stopping_; });
    // The thread ends only when it is not the leader. So at the end all submitted changes were
    // answered.
    if (!std::exchange(thread_leads_, false)) return;
    lock.unlock();
    Lead();
    lock.lock();
  }
}

// The leader decides and writes one group. It makes the next request in the queue the leader before
// it answers its own group, so that the next write runs while the callers of this group wake up.
void Committer::Lead() {
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
    // led_ and the queue change under the same lock. So a caller that arrives after this either
    // finds led_ false and becomes the leader, or is in the queue that the next leader takes.
    if (!led_) return;
    queue_.front()->leads = true;
    wake = queue_.front()->wake;
    thread_leads_ = wake == nullptr;
  }
  wake ? wake->release() : thread_wake_.notify_one();
}

void Committer::Answer(const Waiters& group) {
  // So that the threads that get the answers are woken once for the whole group.
  const Turn turn;
  SubmittedByHome submitted;
  for (Waiter* waiter : group) {
    if (waiter->done) {
      submitted.Add(std::unique_ptr<Waiter>(waiter));
    } else if (!waiter->leads) {
      // The waiter may be destroyed as soon as it is released, so the semaphore is copied first.
      const std::shared_ptr<std::binary_semaphore> wake = waiter->wake;
      wake->release();
    }
  }
  submitted.Answer();
}

void Committer::Enqueue(Waiter* waiter) {
  queue_.push_back(waiter);
  waiting_ = queue_.size();
}

// Callers that block and were just answered often write again at once. Waiting for them a moment
// lets more changes share the next sync, which takes far longer than this wait. A leader that had
// no company in the last group does not wait, so that a single client is not slowed down. Submitted
// changes come in turns of a loop, many at once: for them a wait only leaves the disk idle.
void Committer::AwaitCompany() const {
  if (last_group_ <= 1) return;
  const size_t wanted = std::min(2 * last_group_, kMaxAwaited);
  for (int turn = 0; turn < kMaxAwaitTurns && waiting_ < wanted; ++turn) std::this_thread::yield();
}

// Takes changes from the front of the queue, in order. A change of the catalog must be alone: it
// ends the group before it and forms a group by itself.
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

// A group whose batch grows too large is written in several commits.
void Committer::Process(const Waiters& group) {
  size_t next = 0;
  while (next < group.size()) next = CommitFrom(group, next);
  items_.Trim();
}

// Decides the changes from `first` on, one after the other, and writes them as one batch. Each
// change sees the result of the ones before it. Returns the position of the first change that was
// not decided.
size_t Committer::CommitFrom(const Waiters& group, size_t first) {
  Group changes(*store_, catalog_, &items_, clock_.Now());
  size_t end = first;
  for (; end < group.size() && changes.batch().size_bytes() < kMaxGroupBytes; ++end) {
    group[end]->outcome = group[end]->change->Evaluate(&changes);
  }
  metrics_->changes.Add(static_cast<double>(end - first));
  metrics_->group_changes.Observe(static_cast<double>(end - first));
  const Status written = Write(&changes);
  if (written.has_value()) changes.Committed();
  for (size_t i = first; i < end; ++i) {
    if (!group[i]->outcome.has_value()) continue;
    // A change that wrote nothing, such as a failed condition, gets this outcome too: its answer
    // depends on what other changes of the group wrote, and that may not be on disk.
    group[i]->outcome = written;
    if (written.has_value()) group[i]->change->Committed(catalog_);
  }
  return end;
}

Status Committer::Write(Group* group) {
  group->Finish();
  if (group->batch().empty()) return Done{};
  partitions_->BeginWrite(group->touched());
  Status written = WriteBatch(group);
  if (written.has_value()) {
    partitions_->EndWrite(group->touched(),
                          [&](const std::string& row_key) { return items_.Peek(row_key); });
    return written;
  }
  metrics_->failed_commits.Add();
  partitions_->AbandonWrite(group->touched());
  // The working set holds the items as this group changed them, but the changes were not written.
  items_.Clear();
  return written;
}

Status Committer::WriteBatch(Group* group) {
  const bool sync = durability_ == Durability::kSynced || sync_wanted_.exchange(false);
  unsynced_ = !sync;
  const std::chrono::nanoseconds start = clock_.Monotonic();
  Status written = store_->Write(&group->batch(), sync ? Store::Sync::kYes : Store::Sync::kNo);
  metrics_->commit_seconds.Observe(
      std::chrono::duration<double>(clock_.Monotonic() - start).count());
  return written;
}

namespace {

// Writes an empty row. Writing it with a sync puts everything before it on disk. RocksDB has a call
// for this purpose, but in version 7.8 that call has a fault
// (docs/decisions/0004-rocksdb-behind-one-file.md).
class SyncMark final : public Change {
 public:
  Status Evaluate(Group* group) override {
    group->batch().Put(Family::kCatalog, "y", "");
    return Done{};
  }
};

// Opens the store again. What is in memory may contain writes that failed, so the catalog is read
// again, and what is kept of items is dropped.
class Reopening final : public Change {
 public:
  Reopening(Store* store, WorkingSet* items, PartitionCache* partitions)
      : store_(store), items_(items), partitions_(partitions) {}

  Status Evaluate(Group* group) override {
    TRY(store_->Reopen([this] {
      items_->Clear();
      partitions_->Clear();
    }));
    Status reloaded = group->catalog().Reload(*store_);
    store_->EndReopening(reloaded);
    return reloaded;
  }
  bool alone() const override { return true; }

 private:
  Store* store_;
  WorkingSet* items_;
  PartitionCache* partitions_;
};

}  // namespace

Status Committer::Recover() {
  Reopening reopening(store_, &items_, partitions_);
  return CommitAdmitted(&reopening);
}

Status Committer::SyncNow() {
  {
    std::lock_guard lock(mutex_);
    // While there is a leader, only the leader may read unsynced_. Then the sync is made in any
    // case.
    if (!led_ && !unsynced_) return Done{};
  }
  sync_wanted_ = true;
  SyncMark mark;
  return Commit(&mark, Reserve::kUse);
}

}  // namespace tidemark::embedded
