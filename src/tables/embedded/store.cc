#include "tables/embedded/store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fcntl.h>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/iterator.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/checkpoint.h>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/memory_limit.h"
#include "tables/embedded/durable_mark.h"
#include "tables/embedded/log_files.h"
#include "tables/embedded/logs.h"
#include "tables/embedded/status.h"
#include "tables/embedded/store_folder.h"
#include "tables/embedded/store_options.h"
#include "tables/embedded/trouble.h"
#include "tables/embedded/visitors.h"

namespace tidemark::embedded {

namespace {

constexpr std::array<const char*, 3> kFamilyNames = {"default", "rows", "streams"};
constexpr const char* kDurableMarkFile = "/SYNCED";
constexpr const char* kFlushedMarkFile = "/FLUSHED";

rocksdb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Whether all keys of the range have one prefix, as those of a partition have.
bool HasOnePrefix(const Range& range) {
  return range.low.size() >= kPartitionPrefixBytes && range.high.size() >= kPartitionPrefixBytes &&
         range.low.compare(0, kPartitionPrefixBytes, range.high, 0, kPartitionPrefixBytes) == 0;
}

rocksdb::Status Closed() {
  return rocksdb::Status::TryAgain(
      "the data folder is being opened again after a full disk or exhausted descriptors");
}

// While it lives, RocksDB does not delete files that are no longer needed.
class KeptFiles {
 public:
  explicit KeptFiles(rocksdb::DB* database) : database_(*database) {
    database_.DisableFileDeletions().PermitUncheckedError();
  }
  ~KeptFiles() { database_.EnableFileDeletions(false).PermitUncheckedError(); }
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

 private:
  rocksdb::DB& database_;
};

// Whether there are enough descriptors for an opening. The files that the store has open now do not
// count, because they are closed before.
bool HasDescriptors() {
  constexpr size_t kNeeded = 64;
  std::vector<Descriptor> probes;
  while (probes.size() < kNeeded) {
    probes.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!probes.back().is_open()) return false;
  }
  return true;
}

}  // namespace

// ---- Range and Batch ----

Range PrefixRange(std::string prefix) {
  std::string high = prefix;
  while (!high.empty() && static_cast<uint8_t>(high.back()) == 0xff) high.pop_back();
  CHECK(!high.empty());
  high.back() = static_cast<char>(static_cast<uint8_t>(high.back()) + 1);
  return {std::move(prefix), std::move(high)};
}

using Families = std::vector<rocksdb::ColumnFamilyHandle*>;

struct Batch::Rep {
  const Families& families;
  rocksdb::WriteBatch batch{0, 0, kProtectionBytes, 0};

  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return families[static_cast<size_t>(family)];
  }
};

Batch::Batch(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;

// Adding to a batch fails only without memory, or for a family that does not exist.
void Batch::Put(Family family, std::string_view key, std::string_view value) {
  CHECK(rep_->batch.Put(rep_->handle(family), ToSlice(key), ToSlice(value)).ok());
}
void Batch::Delete(Family family, std::string_view key) {
  CHECK(rep_->batch.Delete(rep_->handle(family), ToSlice(key)).ok());
}
void Batch::DeleteRange(Family family, const Range& range) {
  CHECK(
      rep_->batch.DeleteRange(rep_->handle(family), ToSlice(range.low), ToSlice(range.high)).ok());
}
bool Batch::empty() const { return rep_->batch.Count() == 0; }
size_t Batch::size_bytes() const { return rep_->batch.GetDataSize(); }

// ---- Snapshot and Cursor ----

struct Snapshot::Rep {
  Visit visit;  // Null when the store was closed: then there is nothing to read.
  rocksdb::DB* database;
  const rocksdb::Snapshot* snapshot;
  ~Rep() {
    if (visit) database->ReleaseSnapshot(snapshot);
  }
};

Snapshot::Snapshot(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Snapshot::~Snapshot() = default;
Snapshot::Snapshot(Snapshot&&) noexcept = default;

struct Cursor::Rep {
  Visit visit;
  // RocksDB keeps pointers to the bounds, so they live beside the iterator.
  Range range;
  rocksdb::Slice low;
  rocksdb::Slice high;
  std::unique_ptr<rocksdb::Iterator> iterator;
};

Cursor::Cursor(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Cursor::~Cursor() = default;
Cursor::Cursor(Cursor&&) noexcept = default;

void Cursor::SeekToFirst() { rep_->iterator->SeekToFirst(); }
void Cursor::SeekToLast() { rep_->iterator->SeekToLast(); }
void Cursor::Seek(std::string_view key) { rep_->iterator->Seek(ToSlice(key)); }
void Cursor::SeekForPrev(std::string_view key) { rep_->iterator->SeekForPrev(ToSlice(key)); }
void Cursor::Next() { rep_->iterator->Next(); }
void Cursor::Prev() { rep_->iterator->Prev(); }
bool Cursor::valid() const { return rep_->iterator->Valid(); }
std::string_view Cursor::key() const { return ToView(rep_->iterator->key()); }
std::string_view Cursor::value() const { return ToView(rep_->iterator->value()); }

Status Cursor::status() const {
  const rocksdb::Status status = rep_->iterator->status();
  if (!status.ok()) return ToError(status, "walking the rows");
  return Done{};
}

bool Cursor::needs_disk() const { return rep_->iterator->status().IsIncomplete(); }

// ---- Opening ----

struct Store::Rep {
  explicit Rep(const Options& given)
      : options(given),
        file_system(std::make_shared<LogFiles>(given.file_system ? given.file_system
                                                                 : rocksdb::FileSystem::Default())),
        env(rocksdb::NewCompositeEnv(file_system)),
        folder(env.get(), given.folder) {}
  ~Rep() {
    mark.Sync();
    Close();
    Unlock();
  }

  bool read_only() const { return options.access == Access::kReadOnly; }
  std::string database_folder() const { return folder.database(); }
  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return families[static_cast<size_t>(family)];
  }

  rocksdb::Status LinkFiles();
  std::string durable_mark_file() const { return database_folder() + kDurableMarkFile; }
  // At the last opening, everything up to this sequence number was in table files.
  std::string flushed_mark_file() const { return database_folder() + kFlushedMarkFile; }
  Status Lock();
  void Unlock();
  // The last sequence number that the logs hold; 0 when they are empty.
  Result<uint64_t> CheckLogs();
  Result<uint64_t> FirstNeededLog();
  Status EndLogs(std::span<const ExaminedLog> logs, const LogChain& chain);
  Status CheckMayEnd(std::span<const ExaminedLog> logs, const LogChain& chain, uint64_t kept) const;
  Error Damaged(const ExaminedLog& log) const;
  // The last sequence number that was on disk, or was acknowledged by this process.
  Result<uint64_t> Promised() const;
  Result<uint64_t> Flushed() const;
  Status CheckReach(uint64_t in_logs);
  Status OpenDatabase();
  std::vector<rocksdb::ColumnFamilyDescriptor> Descriptors() const;
  Status OpenForReading();
  Status OpenForWriting();
  // Notes in the mark that everything up to this number is on disk.
  void Promise(uint64_t sequence);
  void Close();
  Result<Found> Get(Family family, std::string_view key, std::string* value,
                    const rocksdb::ReadOptions& read);
  std::unique_ptr<Cursor::Rep> Iterate(Family family, Range range,
                                       const rocksdb::ReadOptions& base);

  Options options;
  std::shared_ptr<rocksdb::FileSystem> file_system;
  std::unique_ptr<rocksdb::Env> env;
  const StoreFolder folder;
  std::shared_ptr<Trouble> trouble = std::make_shared<Trouble>();
  std::unique_ptr<rocksdb::DB> database;
  Families families;
  rocksdb::FileLock* lock = nullptr;  // For read-only access, where RocksDB takes none.
  DurableMark mark;
  // Counts all uses of `database` except the committer's writes, which never run while it is
  // closed.
  Visitors visitors;
  uint64_t acknowledged = 0;  // The sequence number of the last successful write.
  std::atomic<bool> reopening = false;
  std::atomic<uint64_t> free_bytes = UINT64_MAX;
};

void Store::Rep::Promise(uint64_t sequence) {
  mark.Advance(sequence);
  // In this mode there is one sync a second. A second one costs little, and makes the mark exact
  // even after a power cut.
  if (options.durability == Durability::kEverySecond) mark.Sync();
}

void Store::Rep::Close() {
  for (rocksdb::ColumnFamilyHandle* handle : families) {
    if (database) database->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  families.clear();
  if (database) database->Close().PermitUncheckedError();
  database.reset();
}

Status Store::Rep::Lock() {
  const rocksdb::Status locked = env->LockFile(database_folder() + "/LOCK", &lock);
  // No process can write to a read-only medium, so no lock is needed.
  const bool unwritable = Mentions(locked, "Permission denied") || Mentions(locked, "Read-only");
  if (!locked.ok() && !unwritable) return OpenError(locked, options.folder);
  return Done{};
}

void Store::Rep::Unlock() {
  if (lock != nullptr) env->UnlockFile(lock).PermitUncheckedError();
  lock = nullptr;
}

Result<uint64_t> Store::Rep::CheckLogs() {
  std::vector<ExaminedLog> logs;
  const rocksdb::Status read = ExamineLogs(env.get(), database_folder(), &logs);
  if (!read.ok()) return OpenError(read, options.folder);
  for (const ExaminedLog& log : logs) {
    const bool is_damaged = log.tail.end() == LogEnd::kDamaged;
    // In the every-second mode it may be a hole that a power cut left: see EndLogs.
    if (is_damaged && options.durability == Durability::kSynced) return Damaged(log);
  }
  if (ChainOf(logs).logs < logs.size()) {
    // RocksDB deletes the newest of the logs that it no longer needs first. So after a crash an
    // older one may be left, and the gap behind it means nothing.
    const uint64_t first_needed = TRY(FirstNeededLog());
    std::erase_if(logs, [&](const ExaminedLog& log) { return log.number() < first_needed; });
  }
  const LogChain chain = ChainOf(logs);
  if (chain.logs < logs.size() || chain.has_hole) TRY(EndLogs(logs, chain));
  return chain.reach;
}

Result<uint64_t> Store::Rep::FirstNeededLog() {
  TRY(OpenForReading());
  uint64_t number = 0;
  const bool known =
      database->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &number);
  Close();
  Unlock();
  return known ? number : 0;
}

Error Store::Rep::Damaged(const ExaminedLog& log) const {
  return {ErrorCode::kCorrupt,
          fmt::format("opening the data folder '{}': the log '{}' is damaged in front of "
                      "acknowledged writes; restore a backup, and keep this folder for analysis",
                      options.folder, log.name)};
}

// Called when changes are missing between two logs, or in a hole of one log. With synced writes
// these changes were acknowledged as being on disk. In the every-second mode a power cut may lose
// changes that were not synced. Then all later changes are given up too, so that the folder has the
// state of one moment. Their bytes are kept in files that nothing reads, and a warning names them.
Status Store::Rep::EndLogs(std::span<const ExaminedLog> logs, const LogChain& chain) {
  const uint64_t kept = std::max(chain.reach, TRY(Flushed()));
  TRY(CheckMayEnd(logs, chain, kept));
  rocksdb::Status status;
  if (chain.has_hole) status = CutOff(env.get(), database_folder(), logs[chain.logs - 1]);
  for (const ExaminedLog& log : logs.subspan(chain.logs)) {
    if (status.ok()) status = PutAside(env.get(), database_folder(), log);
  }
  if (status.ok()) status = folder.Sync(database_folder());
  if (!status.ok()) return OpenError(status, options.folder);
  if (options.logger != nullptr) {
    const size_t first_unread = chain.has_hole ? chain.logs - 1 : chain.logs;
    options.logger->Log(LogLevel::kWarning,
                        "a power cut took back changes that were not on disk yet; what follows "
                        "them is kept and not read",
                        {{"first_missing_change", kept + 1},
                         {"first_file", logs[first_unread].name + ".unread"},
                         {"files", logs.size() - first_unread}});
  }
  return Done{};
}

// Fails unless the mode is every-second, the folder is opened for writing, and every synced change
// is in front of the missing ones. `kept` is the last change that is known to be in front of them:
// it is in the logs, or in table files if the logs begin with the hole.
Status Store::Rep::CheckMayEnd(std::span<const ExaminedLog> logs, const LogChain& chain,
                               uint64_t kept) const {
  const bool is_marked = TRY(DurableMark::Read(durable_mark_file())).has_value();
  const uint64_t promised = TRY(Promised());
  const bool may_end = options.durability == Durability::kEverySecond && promised <= kept;
  // Without a mark nobody knows what was synced, so the hole may contain synced changes.
  if (chain.has_hole && !(may_end && is_marked)) return Damaged(logs[chain.logs - 1]);
  if (may_end && !read_only()) return Done{};
  const std::string where =
      chain.has_hole ? fmt::format("the changes from {} on are missing in the log '{}'", kept + 1,
                                   logs[chain.logs - 1].name)
                     : fmt::format("the changes {} to {} are missing in front of the log '{}'",
                                   chain.reach + 1, logs[chain.logs].tail.first_sequence() - 1,
                                   logs[chain.logs].name);
  return Error{
      ErrorCode::kCorrupt,
      fmt::format("opening the data folder '{}': {}. {}", options.folder, where,
                  may_end ? "A power cut took them back. Open the folder for writing once, which "
                            "puts what follows them aside"
                          : "Put the missing log back, or restore a backup. To go on with the "
                            "state before them, move this log and all later ones away")};
}

Result<uint64_t> Store::Rep::Flushed() const {
  return TRY(DurableMark::Read(flushed_mark_file())).value_or(0);
}

Result<uint64_t> Store::Rep::Promised() const {
  const std::optional<uint64_t> marked = TRY(DurableMark::Read(durable_mark_file()));
  return std::max(marked.value_or(0), acknowledged);
}

// Checks that every write up to the durable mark is present. Usually the logs already show it.
// Writes that are not in the logs may be in table files, which only RocksDB can read. So the
// database is first opened read-only, which changes nothing. Opening it for writing would delete
// the logs that it has read.
Status Store::Rep::CheckReach(uint64_t in_logs) {
  const uint64_t promised = TRY(Promised());
  if (promised <= in_logs) return Done{};
  TRY(OpenForReading());
  const uint64_t reached = database->GetLatestSequenceNumber();
  Close();
  Unlock();
  if (reached >= promised) return Done{};
  return Error{
      ErrorCode::kCorrupt,
      fmt::format("opening the data folder '{}': acknowledged writes are missing. It ends at "
                  "change {}, and change {} was on disk: a log was cut or deleted. Put the log "
                  "back, or restore a backup. To go on without these writes, delete '{}'",
                  options.folder, reached, promised, durable_mark_file())};
}

Status Store::Rep::OpenDatabase() {
  const uint64_t in_logs = TRY(CheckLogs());
  TRY(CheckReach(in_logs));
  return read_only() ? OpenForReading() : OpenForWriting();
}

std::vector<rocksdb::ColumnFamilyDescriptor> Store::Rep::Descriptors() const {
  const auto cache = rocksdb::NewLRUCache(options.block_cache_bytes.value_or(MemoryBytes() / 4));
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const char* name : kFamilyNames) descriptors.emplace_back(name, FamilyOptions(cache));
  return descriptors;
}

Status Store::Rep::OpenForReading() {
  TRY(Lock());
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(
      DatabaseOptions(env.get(), trouble), database_folder(), Descriptors(), &families, &opened);
  if (!status.ok()) return OpenError(status, options.folder);
  database.reset(opened);
  return Done{};
}

Status Store::Rep::OpenForWriting() {
  if (!env->FileExists(database_folder()).ok()) TRY(folder.MakeOne(database_folder()));
  MakePrivate(database_folder());  // An earlier version left it open.
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(
      DatabaseOptions(env.get(), trouble), database_folder(), Descriptors(), &families, &opened);
  if (!status.ok()) return OpenError(status, options.folder);
  database.reset(opened);
  mark = TRY(DurableMark::Open(durable_mark_file()));
  // RocksDB has just written everything from the logs into synced table files.
  Promise(database->GetLatestSequenceNumber());
  DurableMark flushed = TRY(DurableMark::Open(flushed_mark_file()));
  flushed.Advance(database->GetLatestSequenceNumber());
  flushed.Sync();
  return Done{};
}

Result<std::unique_ptr<Store>> Store::Open(const Options& options) {
  if (options.folder.empty()) return Invalid("the data folder has no name; give one with --data");
  auto rep = std::make_unique<Rep>(options);
  TRY(rep->folder.Prepare(options));
  TRY(rep->OpenDatabase());
  // A backup that was killed left links, which keep old files on the disk. This is not done when
  // the store is opened again: a backup may be copying them.
  if (!rep->read_only()) rep->folder.RemoveLinks();
  std::unique_ptr<Store> store(new Store(std::move(rep)));
  store->CheckFreeSpace();
  return store;
}

Store::Store(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Store::~Store() = default;

// ---- Reading ----

Result<Found> Store::Rep::Get(Family family, std::string_view key, std::string* value,
                              const rocksdb::ReadOptions& read) {
  const Visit visit = visitors.Enter();
  if (!visit) return ToError(Closed(), "reading a row");
  const rocksdb::Status status = database->Get(read, handle(family), ToSlice(key), value);
  // Of a file that is not open RocksDB answers with an empty value; no row is empty.
  const bool is_memory_only = read.read_tier == rocksdb::kBlockCacheTier;
  if (status.ok() && is_memory_only && value->empty()) return Found::kNeedsDisk;
  if (status.ok()) return Found::kYes;
  if (status.IsNotFound()) return Found::kNo;
  if (status.IsIncomplete() && is_memory_only) return Found::kNeedsDisk;
  return ToError(status, "reading a row");
}

Result<bool> Store::Get(Family family, std::string_view key, std::string* value) const {
  return TRY(rep_->Get(family, key, value, {})) == Found::kYes;
}

Result<bool> Store::Get(Family family, std::string_view key, std::string* value,
                        const Snapshot& snapshot) const {
  if (!snapshot.rep_->visit) return ToError(Closed(), "reading a row");
  rocksdb::ReadOptions read;
  read.snapshot = snapshot.rep_->snapshot;
  return TRY(rep_->Get(family, key, value, read)) == Found::kYes;
}

Result<Found> Store::GetInMemory(Family family, std::string_view key, std::string* value) const {
  rocksdb::ReadOptions read;
  read.read_tier = rocksdb::kBlockCacheTier;
  return rep_->Get(family, key, value, read);
}

std::unique_ptr<Cursor::Rep> Store::Rep::Iterate(Family family, Range range,
                                                 const rocksdb::ReadOptions& base) {
  auto cursor = std::make_unique<Cursor::Rep>();
  cursor->range = std::move(range);
  cursor->low = cursor->range.low;
  cursor->high = cursor->range.high;
  rocksdb::ReadOptions read = base;
  // The prefix filter may be used only when all keys of the range have the same prefix.
  read.prefix_same_as_start = HasOnePrefix(cursor->range);
  read.total_order_seek = !read.prefix_same_as_start;
  read.iterate_lower_bound = &cursor->low;
  read.iterate_upper_bound = &cursor->high;
  cursor->visit = visitors.Enter();
  cursor->iterator.reset(cursor->visit ? database->NewIterator(read, handle(family))
                                       : rocksdb::NewErrorIterator(Closed()));
  return cursor;
}

Cursor Store::Iterate(Family family, Range range, Walk walk) const {
  rocksdb::ReadOptions read;
  read.fill_cache = walk == Walk::kShort;
  read.adaptive_readahead = walk == Walk::kLong;
  if (walk == Walk::kInMemory) read.read_tier = rocksdb::kBlockCacheTier;
  return Cursor(rep_->Iterate(family, std::move(range), read));
}

Cursor Store::Iterate(Family family, Range range, const Snapshot& snapshot) const {
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  read.snapshot = snapshot.rep_->snapshot;
  if (!snapshot.rep_->visit) {
    auto closed = std::make_unique<Cursor::Rep>();
    closed->iterator.reset(rocksdb::NewErrorIterator(Closed()));
    return Cursor(std::move(closed));
  }
  return Cursor(rep_->Iterate(family, std::move(range), read));
}

Snapshot Store::TakeSnapshot() const {
  Visit visit = rep_->visitors.Enter();
  rocksdb::DB* database = rep_->database.get();
  const rocksdb::Snapshot* taken = visit ? database->GetSnapshot() : nullptr;
  return Snapshot(std::unique_ptr<Snapshot::Rep>(
      new Snapshot::Rep{.visit = std::move(visit), .database = database, .snapshot = taken}));
}

// ---- Writing ----

Batch Store::NewBatch() const {
  return Batch(std::unique_ptr<Batch::Rep>(new Batch::Rep{.families = rep_->families}));
}

Status Store::Write(Batch* batch, Sync sync) {
  TRY(Writable());
  rocksdb::WriteOptions options;
  options.sync = sync == Sync::kYes;
  const rocksdb::Status status = rep_->database->Write(options, &batch->rep_->batch);
  if (status.ok()) {
    rep_->acknowledged = rep_->database->GetLatestSequenceNumber();
    if (options.sync) rep_->Promise(rep_->acknowledged);
    return Done{};
  }
  rep_->trouble->Note(status.ToString());
  return Error{ErrorCode::kUnknown,
               fmt::format("the disk failed under a write, which may or may not be there when the "
                           "folder is opened again: {}",
                           status.ToString())};
}

Status Store::Writable() const {
  if (rep_->read_only()) {
    return Error{ErrorCode::kDenied,
                 "the data folder is open for reading only; nothing was written"};
  }
  if (rep_->trouble->stopped()) {
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("writes are stopped because the disk failed, or there was no file descriptor "
                    "left ({}); nothing was written. {}",
                    rep_->trouble->reason(),
                    rep_->trouble->passes() ? "They go on by themselves once the cause is gone"
                                            : "Check the disk, then open the data folder again")};
  }
  if (rep_->reopening) {
    return Error{ErrorCode::kUnavailable,
                 "the data folder is being opened again after a full disk or exhausted "
                 "descriptors; nothing was written, try again"};
  }
  return Done{};
}

Status Store::HasSpace() const {
  const uint64_t free_bytes = rep_->free_bytes;
  if (free_bytes < rep_->options.disk_reserve_bytes) {
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("the disk has {} MB left, less than the {} MB kept in reserve; nothing "
                    "was written. Free some space and try again",
                    free_bytes >> 20, rep_->options.disk_reserve_bytes >> 20)};
  }
  return Done{};
}

void Store::CheckFreeSpace() {
  uint64_t bytes = 0;
  const rocksdb::Status status = rep_->env->GetFreeSpace(rep_->database_folder(), &bytes);
  if (status.ok()) rep_->free_bytes = bytes;
}

// ---- Opening again ----

bool Store::CanReopen() const {
  return rep_->trouble->passes() && HasSpace().has_value() && HasDescriptors();
}

Status Store::Reopen(const std::function<void()>& forget) {
  if (!rep_->visitors.TryClose()) return ToError(Closed(), "waiting for reads to end");
  rep_->reopening = true;
  // Nobody can read the store now, so caches stay empty until it is open again. It may open with an
  // older state, and a reader must not get one row from a cache and another one from that state.
  forget();
  rep_->Close();
  rep_->Unlock();
  rep_->trouble->Clear();
  Status opened = rep_->OpenDatabase();
  if (!opened.has_value()) {
    rep_->trouble->Note(opened.error().message);
    rep_->reopening = false;
    rep_->Unlock();
    // So that reads go on until the next try. What may be damaged is not read.
    if (!rep_->trouble->passes() || !rep_->OpenForReading().has_value()) return opened;
  }
  rep_->visitors.Open();
  return opened;
}

void Store::EndReopening(const Status& outcome) {
  if (!outcome.has_value()) rep_->trouble->Note(outcome.error().message);
  rep_->reopening = false;
}

// ---- Verifying and copying ----

FileShape Store::Shape() const {
  FileShape shape;
  const Visit visit = rep_->visitors.Enter();
  if (!visit) return shape;
  using Properties = rocksdb::DB::Properties;
  for (rocksdb::ColumnFamilyHandle* family : rep_->families) {
    const auto number = [&](const std::string& property) {
      std::string text;
      return rep_->database->GetProperty(family, property, &text) ? std::stoull(text) : 0;
    };
    // Each file of level 0 is a run, and each other level is one.
    shape.sorted_runs += number(Properties::kNumFilesAtLevelPrefix + "0");
    for (int level = 1; level < rep_->database->NumberLevels(family); ++level) {
      const std::string files = Properties::kNumFilesAtLevelPrefix + std::to_string(level);
      shape.sorted_runs += number(files) > 0 ? 1 : 0;
    }
    for (const std::string& busy :
         {Properties::kMemTableFlushPending, Properties::kNumRunningFlushes,
          Properties::kCompactionPending, Properties::kNumRunningCompactions}) {
      shape.settled = shape.settled && number(busy) == 0;
    }
  }
  return shape;
}

// RocksDB can verify all files in one call, but that call cannot be interrupted. So the files are
// verified one by one, and none of them may be deleted in the meantime.
Status Store::VerifyFiles(const std::function<Status()>& go_on) const {
  const Visit visit = rep_->visitors.Enter();
  if (!visit) return ToError(Closed(), "verifying the files");
  const KeptFiles kept(rep_->database.get());
  std::vector<rocksdb::LiveFileMetaData> files;
  rep_->database->GetLiveFilesMetaData(&files);
  const rocksdb::Options options = rep_->database->GetOptions();
  for (const rocksdb::LiveFileMetaData& file : files) {
    TRY(go_on());
    const rocksdb::Status status = rocksdb::VerifySstFileChecksum(
        options, rocksdb::EnvOptions(options), file.db_path + file.name);
    if (!status.ok()) return ToError(status, "verifying the files");
  }
  return Done{};
}

// Links the present files in the data folder itself. This is quick even for a large store.
rocksdb::Status Store::Rep::LinkFiles() {
  folder.RemoveLinks();
  const Visit visit = visitors.Enter();
  if (!visit) return Closed();
  rocksdb::Checkpoint* made = nullptr;
  const rocksdb::Status status = rocksdb::Checkpoint::Create(database.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  // Zero means that the memtables are flushed first, so that the copy needs no log.
  return status.ok() ? checkpoint->CreateCheckpoint(folder.links(), 0) : status;
}

Status Store::Checkpoint(const std::string& folder, StopFlag stop) const {
  const std::string doing = fmt::format("copying to '{}'", folder);
  const StoreFolder target(rep_->env.get(), folder);
  const std::string child = TRY(target.FirstChild().WithContext(doing));
  if (!child.empty()) {
    return Invalid(
        fmt::format("{}: the folder is not empty (it holds '{}'); name another", doing, child));
  }
  TRY(target.Make().WithContext(doing));
  rocksdb::Status status = rep_->LinkFiles();
  if (!status.ok()) return ToError(status, doing);
  // From here on only the links are read, so the store can be closed and opened again.
  const Status moved = target.TakeDatabase(rep_->folder.links(), stop);
  rep_->folder.RemoveLinks();
  TRY(Status(moved).WithContext(doing));
  status = target.SyncDatabase();
  if (!status.ok()) return ToError(status, doing);
  // The marker is written last. If the copying is interrupted, the copy must not open as an empty
  // data folder.
  return target.WriteMarker().WithContext(doing);
}

}  // namespace tidemark::embedded
