#include "tables/embedded/maintenance.h"

#include <algorithm>
#include <vector>

#include "base/expiry.h"
#include "item/encoding.h"
#include "item/size.h"
#include "tables/embedded/definition.h"
#include "tables/embedded/expiry.h"
#include "tables/embedded/stream_record.h"
#include "tables/embedded/streams.h"
#include "tables/limits.h"

namespace tidemark::embedded {

namespace {

// The size of one step. Writers wait for one step at most.
constexpr size_t kStepItems = 500;
constexpr size_t kStepBytes = 1 << 20;

// ---- Filling ----

// The one index or list of a table that is being filled; null when there is none.
struct Gap {
  Index* index = nullptr;
  ExpiryList* expiry = nullptr;
  Fill* fill = nullptr;
};

Gap FirstGap(Table* table) {
  for (Index& index : table->indexes) {
    if (!index.fill.complete) return {.index = &index, .fill = &index.fill};
  }
  if (table->expiry && !table->expiry->fill.complete) {
    return {.expiry = &*table->expiry, .fill = &table->expiry->fill};
  }
  return {};
}

bool HasGap(const Table& table) {
  const auto is_filling = [](const Index& index) { return !index.fill.complete; };
  return std::any_of(table.indexes.begin(), table.indexes.end(), is_filling) ||
         (table.expiry && !table.expiry->fill.complete);
}

struct StoredItem {
  std::string row_key;
  item::Key key;
  item::Item item;
};

// The next items after `done_to`. Fewer items than a step has mean that there are no more.
Result<std::vector<StoredItem>> NextItems(const Store& store, const Table& table,
                                          const std::string& done_to) {
  Range rest = KeyspaceRange(table.keyspace);
  // The smallest key after another one is that key with a zero byte appended.
  if (!done_to.empty()) rest.low = done_to + '\0';
  std::vector<StoredItem> items;
  size_t bytes = 0;
  Cursor cursor = store.Iterate(Family::kRows, rest, Walk::kLong);
  for (cursor.SeekToFirst(); cursor.valid() && items.size() < kStepItems; cursor.Next()) {
    item::Item item = TRY(item::DecodeItem(cursor.value()));
    item::Key key = TRY(item::KeyOfItem(item, table.keys));
    bytes += cursor.value().size();
    items.push_back({std::string(cursor.key()), std::move(key), std::move(item)});
    if (bytes > kStepBytes) break;
  }
  TRY(cursor.status());
  return items;
}

// One step. It writes the rows of the next items and its progress in one batch, so that after a
// crash the filling continues exactly where it was. For items that the filling has passed, the
// writers keep the index up to date (Group::ChangeIndex).
Result<Definition> FillStep(const std::string& name, Group* group) {
  const TablePtr current = group->catalog().Find(name);
  if (current == nullptr || !HasGap(*current)) return Definition{};
  auto table = std::make_shared<Table>(*current);
  const Gap gap = FirstGap(table.get());
  const std::vector<StoredItem> items = TRY(NextItems(group->store(), *table, gap.fill->done_to));
  for (const StoredItem& stored : items) {
    if (gap.index != nullptr) group->AddIndexRow(*table, *gap.index, stored.key, stored.item);
    if (gap.expiry != nullptr) group->AddExpiryRow(*gap.expiry, stored.row_key, stored.item);
  }
  *gap.fill = items.empty() ? Fill{} : Fill{.complete = false, .done_to = items.back().row_key};
  return Definition{.table = std::move(table)};
}

// ---- Sweeping ----

// Removes the items of the rows if they are expired. They were expired when the sweeper found them,
// but somebody may have written an item since then. So each item is checked again here, inside the
// committer, where no other write can come between.
class SweepChange final : public Change {
 public:
  SweepChange(TablePtr table, std::span<const std::string> row_keys)
      : table_(std::move(table)), row_keys_(row_keys) {}

  Status Evaluate(Group* group) override {
    const TablePtr table = group->catalog().Find(table_->name);
    handled_ = row_keys_.size();
    if (table == nullptr || table->keyspace != table_->keyspace || !table->expiry) return Done{};
    std::vector<ItemChange> removals;
    size_t bytes = 0;
    for (handled_ = 0; handled_ < row_keys_.size() && bytes < kStepBytes; ++handled_) {
      const std::optional<item::Item>* item = TRY(group->Find(row_keys_[handled_]));
      if (!item->has_value()) continue;
      bytes += item::SizeBytes(**item);
      if (!IsExpired(*table->expiry, **item, group->now())) {
        LookAgain(*table->expiry, **item);
        continue;
      }
      item::Key key = TRY(item::KeyOfItem(**item, table->keys));
      removals.push_back({.table = table,
                          .key = std::move(key),
                          .row_key = row_keys_[handled_],
                          .previous = item,
                          .next = std::nullopt,
                          .expired = true});
    }
    for (ItemChange& removal : removals) group->Add(std::move(removal));
    return Done{};
  }

  // How many of the rows were looked at. Large items fill a step before its last row.
  size_t handled() const { return handled_; }

 private:
  // The clock went back, so the item stays, and so does its row in the list.
  static void LookAgain(const ExpiryList& expiry, const item::Item& item) {
    if (const auto ttl = TimeToLive(expiry, item)) expiry.sweep_start->Lower(*ttl);
  }

  TablePtr table_;
  std::span<const std::string> row_keys_;
  size_t handled_ = 0;
};

// Removes the tokens that are still expired. After the sweeper found them, a transaction may have
// used an expired token again, which renews it.
class TokenSweep final : public Change {
 public:
  explicit TokenSweep(std::vector<std::string> keys) : keys_(std::move(keys)) {}

  Status Evaluate(Group* group) override {
    std::vector<std::string> expired;
    for (const std::string& key : keys_) {
      std::string value;
      if (!TRY(group->store().Get(Family::kCatalog, key, &value))) continue;
      const TokenRecord token = TRY(DecodeToken(value));
      if (!IsLive(token.expires, group->now())) expired.push_back(key);
    }
    for (const std::string& key : expired) group->batch().Delete(Family::kCatalog, key);
    return Done{};
  }
  // Evaluate reads the store, which does not have the tokens of the same group yet. So this change
  // must not share a group with a transaction that uses a token.
  bool alone() const override { return true; }

 private:
  std::vector<std::string> keys_;
};

// ---- Trimming ----

// The table with the new state of the stream, or null when the table does not refer to the stream.
TablePtr WithStream(const Catalog& catalog, const Stream& old, const StreamPtr& renewed) {
  const TablePtr table = catalog.Find(old.table);
  const bool refers =
      table != nullptr && table->latest_stream && table->latest_stream->id == old.id;
  if (!refers) return nullptr;
  auto copy = std::make_shared<Table>(*table);
  copy->latest_stream = renewed;
  if (copy->stream) copy->stream = renewed;
  return copy;
}

// Deletes the records from `begin` up to but not including `end`. RocksDB prepares all deleted
// ranges of a memtable again at the first read after each new one, and the cost of ranges that
// overlap is the square of their number. So a range begins where the last one ended, and a trim of
// few records, as a quiet stream has every second, makes none.
void DeleteRecords(StreamId id, uint64_t begin, uint64_t end, Batch* batch) {
  if (end - begin > kStepItems) {
    return batch->DeleteRange(Family::kStreams, {StreamRowKey(id, begin), StreamRowKey(id, end)});
  }
  for (uint64_t sequence = begin; sequence < end; ++sequence) {
    batch->Delete(Family::kStreams, StreamRowKey(id, sequence));
  }
}

// The caller finds the horizon before it calls the committer, because a walk over all records to be
// removed would block the writers.
Result<Definition> TrimStep(StreamId id, uint64_t horizon, Group* group) {
  const StreamPtr stream = group->catalog().FindStream(id);
  if (stream == nullptr) return Definition{};
  Definition definition;
  if (IsOver(*stream, group->now())) {
    definition.dropped_streams.push_back(stream);
    definition.table = WithStream(group->catalog(), *stream, nullptr);
  } else if (horizon > stream->trimmed_through + 1) {
    auto trimmed = std::make_shared<Stream>(*stream);
    trimmed->trimmed_through = horizon - 1;
    DeleteRecords(id, stream->trimmed_through + 1, horizon, &group->batch());
    definition.streams.push_back(trimmed);
    definition.table = WithStream(group->catalog(), *stream, trimmed);
  }
  return definition;
}

}  // namespace

Status Maintenance::RunOnce() {
  TRY(Watch());
  return KeepHouse();
}

Status Maintenance::Watch() {
  std::lock_guard lock(watching_);
  store_->CheckFreeSpace();
  const Status recovered = Recover();
  metrics_->writable.Set(store_->Writable().has_value() && store_->HasSpace().has_value() ? 1 : 0);
  metrics_->sorted_runs.Set(static_cast<double>(store_->Shape().sorted_runs));
  TRY(recovered);
  return committer_->SyncNow();
}

Status Maintenance::KeepHouse() {
  std::lock_guard lock(keeping_house_);
  // Filling uses disk space and the other work frees it. So the other work is done even when
  // filling fails because the disk is full.
  const Status filled = FillAll();
  TRY(SweepItems());
  TRY(TrimStreams());
  TRY(SweepTokens());
  return filled;
}

// Opening a large store reads its logs. So the pause grows while the tries fail.
Status Maintenance::Recover() {
  const std::chrono::nanoseconds now = runtime_.clock.Monotonic();
  if (!store_->CanReopen() || now < next_recovery_) return Done{};
  const Status recovered = committer_->Recover();
  if (!recovered.has_value()) {
    next_recovery_ = now + recovery_pause_;
    recovery_pause_ = std::min(2 * recovery_pause_, kMaxRecoveryPause);
    return recovered;
  }
  recovery_pause_ = kFirstRecoveryPause;
  metrics_->recoveries.Add();
  runtime_.logger.Log(LogLevel::kWarning,
                      "the tables accept writes again: the data folder was opened again after a "
                      "full disk or exhausted descriptors");
  return Done{};
}

Status Maintenance::FillAll() {
  for (const TablePtr& table : catalog_->ListTables()) TRY(FillTable(table->name));
  return Done{};
}

Status Maintenance::FillTable(const std::string& name) {
  for (;;) {
    const TablePtr table = catalog_->Find(name);
    if (table == nullptr || !HasGap(*table) || stopping()) return Done{};
    DefinitionChange step([&](Group* group) { return FillStep(name, group); });
    TRY(committer_->Commit(&step));
  }
}

Status Maintenance::SweepItems() {
  for (const TablePtr& table : catalog_->ListTables()) {
    if (table->expiry) TRY(SweepTable(table));
  }
  return Done{};
}

Status Maintenance::SweepTable(const TablePtr& table) {
  const EpochSeconds now = runtime_.clock.NowSeconds();
  SweepStart& sweep_start = *table->expiry->sweep_start;
  const EpochSeconds start = sweep_start.Take(now + 1);
  // After the clock went back, rows of long ago may be due that were too old before.
  Status swept = SweepFrom(start <= now + 1 ? start : 0, now, table);
  if (!swept.has_value()) sweep_start.Lower(start);
  return swept;
}

Status Maintenance::SweepFrom(EpochSeconds start, EpochSeconds now, const TablePtr& table) {
  const Keyspace keyspace = table->expiry->keyspace;
  Range due = ExpiredRange(keyspace, now, tables::kOldestTimeToLive.count());
  due.low = std::min(std::max(due.low, ExpiryRowKey(keyspace, start, "")), due.high);
  // The cursor reads a snapshot, so the deletions below do not disturb it.
  Cursor cursor = store_->Iterate(Family::kRows, due, Walk::kLong);
  cursor.SeekToFirst();
  while (cursor.valid() && !stopping()) {
    std::vector<std::string> row_keys;
    for (; cursor.valid() && row_keys.size() < kStepItems; cursor.Next()) {
      const ExpiryRowKeyParts parts = TRY(DecodeExpiryRowKey(cursor.key()));
      row_keys.emplace_back(parts.item_row_key);
    }
    metrics_->swept_items.Add(static_cast<double>(row_keys.size()));
    TRY(SweepRows(table, row_keys));
  }
  return cursor.status();
}

Status Maintenance::SweepRows(const TablePtr& table, std::span<const std::string> row_keys) {
  while (!row_keys.empty() && !stopping()) {
    SweepChange step(table, row_keys);
    TRY(committer_->Commit(&step, Reserve::kUse));
    row_keys = row_keys.subspan(step.handled());
  }
  return Done{};
}

Status Maintenance::TrimStreams() {
  for (const StreamPtr& stream : catalog_->ListStreams()) TRY(TrimStream(stream->id));
  return Done{};
}

Status Maintenance::TrimStream(StreamId id) {
  const StreamPtr stream = catalog_->FindStream(id);
  if (stream == nullptr) return Done{};
  const EpochSeconds now = runtime_.clock.NowSeconds();
  const uint64_t horizon = TRY(Horizon(*store_, *stream, now));
  if (horizon == stream->trimmed_through + 1 && !IsOver(*stream, now)) return Done{};
  DefinitionChange step([&](Group* group) { return TrimStep(id, horizon, group); });
  return committer_->Commit(&step, Reserve::kUse);
}

// The sweep reads all tokens, because they are not ordered by time. So there is one sweep in each
// life of a token, and it reads a live token at most once. Whether a token counts does not depend
// on it.
Status Maintenance::SweepTokens() {
  if (runtime_.clock.Monotonic() < next_token_sweep_) return Done{};
  const EpochSeconds now = runtime_.clock.NowSeconds();
  Cursor cursor = store_->Iterate(Family::kCatalog, TokenRange(), Walk::kLong);
  cursor.SeekToFirst();
  while (cursor.valid() && !stopping()) {
    std::vector<std::string> expired;
    for (; cursor.valid() && expired.size() < kStepItems; cursor.Next()) {
      const TokenRecord token = TRY(DecodeToken(cursor.value()));
      if (!IsLive(token.expires, now)) expired.emplace_back(cursor.key());
    }
    if (expired.empty()) break;
    TokenSweep step(std::move(expired));
    TRY(committer_->Commit(&step, Reserve::kUse));
  }
  TRY(cursor.status());
  next_token_sweep_ = runtime_.clock.Monotonic() + tables::kTokenLife;
  return Done{};
}

// ---- The threads ----

void Maintenance::Run() {
  watch_.Start([this] { Note(Watch(), &watch_failures_); });
  housekeeping_.Start([this] { Note(KeepHouse(), &failures_); });
}

void Maintenance::Stop() {
  housekeeping_.Stop();
  watch_.Stop();
}

// What failed is tried again a second later. When the disk has failed, writers get that error
// themselves.
void Maintenance::Note(const Status& outcome, FailureLog* failures) {
  if (!outcome.has_value()) metrics_->housekeeping_failures.Add();
  failures->Note(outcome);
}

}  // namespace tidemark::embedded
