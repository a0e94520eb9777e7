#include "tables/embedded/store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/file_system.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include "tables/embedded/log_tail.h"
#include "tables/embedded/status.h"

namespace tidemark::embedded {

namespace {

constexpr std::array<const char*, 3> kFamilyNames = {"default", "rows", "streams"};
// Small, so that looking for a row's place stays in the processor's cache; several go to disk
// together, so that files do not become many.
constexpr size_t kMemtableBytes = 8 << 20;
constexpr int kMemtablesAFile = 4;
constexpr int kMaxMemtables = 2 * kMemtablesAFile;
constexpr size_t kMaxWalBytes = 256 << 20;
constexpr size_t kProtectionBytes = 8;
// Of a row: its keyspace and the hash of its partition.
constexpr size_t kPartitionPrefixBytes = 8;
constexpr const char* kMarkerFile = "/TIDEMARK";
constexpr const char* kTablesFolder = "/tables";

rocksdb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Remembers the first trouble that RocksDB meets in the background (a failed flush, a
// damaged block in a compaction), from which on nothing more is written.
class Trouble final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    Note(status->ToString());
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status,
                            bool* auto_recovery) override {
    // A store that lost its footing is checked and opened again by a person, not resumed.
    *auto_recovery = false;
  }
  void Note(const std::string& reason) {
    std::lock_guard lock(mutex_);
    if (!reason_.empty()) return;
    reason_ = reason;
    stopped_ = true;
  }
  bool stopped() const { return stopped_; }
  std::string reason() const {
    std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> stopped_ = false;
  std::string reason_;
};

rocksdb::ColumnFamilyOptions FamilyOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 16 << 10;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::ColumnFamilyOptions options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kLZ4Compression;
  options.write_buffer_size = kMemtableBytes;
  options.min_write_buffer_number_to_merge = kMemtablesAFile;
  options.max_write_buffer_number = kMaxMemtables;
  options.level_compaction_dynamic_level_bytes = true;
  options.memtable_protection_bytes_per_key = kProtectionBytes;
  // Most rows that are looked up before a write are new: the filter says so without a search.
  options.memtable_prefix_bloom_size_ratio = 0.02;
  options.memtable_whole_key_filtering = true;
  // The same for partitions: one that is not there costs a query no search.
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPartitionPrefixBytes));
  return options;
}

// Whether all keys of the range have one prefix, as those of a partition have.
bool HasOnePrefix(const Range& range) {
  return range.low.size() >= kPartitionPrefixBytes && range.high.size() >= kPartitionPrefixBytes &&
         range.low.compare(0, kPartitionPrefixBytes, range.high, 0, kPartitionPrefixBytes) == 0;
}

rocksdb::DBOptions DatabaseOptions(rocksdb::Env* env, const std::shared_ptr<Trouble>& trouble) {
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.paranoid_checks = true;
  // A torn last record is what a crash leaves. Damage before the end is not, and refuses to
  // open; what this mode takes for a torn end and is not, ExamineLogs has found before.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.track_and_verify_wals_in_manifest = true;
  options.recycle_log_file_num = 0;
  options.max_total_wal_size = kMaxWalBytes;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  // New files go to the disk as they grow: at their end one large sync would hold up the log's.
  options.bytes_per_sync = 1 << 20;
  options.max_background_jobs = 2;
  options.max_bgerror_resume_count = 0;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.keep_log_file_num = 5;
  options.max_log_file_size = 4 << 20;
  options.listeners = {trouble};
  return options;
}

bool Mentions(const rocksdb::Status& status, std::string_view words) {
  return status.ToString().find(words) != std::string::npos;
}

Error OpenError(const rocksdb::Status& status, const std::string& folder) {
  const std::string doing = fmt::format("opening the data folder '{}'", folder);
  // What the file system says of a lock that this process, or another, holds.
  if (Mentions(status, "lock hold by current process") ||
      Mentions(status, "Resource temporarily unavailable")) {
    return {ErrorCode::kInUse,
            fmt::format("{}: another process has it open (stop that process, or name another "
                        "folder): {}",
                        doing, status.ToString())};
  }
  if (Mentions(status, "Permission denied") || Mentions(status, "Read-only file system")) {
    return {ErrorCode::kDenied, fmt::format("{}: {} (make the folder writable, or name another)",
                                            doing, status.ToString())};
  }
  // RocksDB takes a file that it cannot read for a wrong option.
  if (status.IsInvalidArgument())
    return ToError(rocksdb::Status::IOError(status.ToString()), doing);
  return ToError(status, doing);
}

std::string MarkerText() {
  return fmt::format("tidemark data folder, format {}\n", Store::kFormat);
}

Status CheckMarkerText(const std::string& text, const std::string& folder) {
  uint32_t format = 0;
  if (std::sscanf(text.c_str(), "tidemark data folder, format %u", &format) != 1) {
    return Error{ErrorCode::kCorrupt, fmt::format("the data folder '{}' has a TIDEMARK file that "
                                                  "does not say its format; restore a backup",
                                                  folder)};
  }
  if (format > Store::kFormat) {
    return Invalid(
        fmt::format("the data folder '{}' has format {}, and this version reads up to {}; "
                    "use the version that wrote it, or a newer one",
                    folder, format, Store::kFormat));
  }
  return Done{};
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

// Adding to a batch fails only for want of memory, or for a family that does not exist.
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
  rocksdb::DB* database;
  const rocksdb::Snapshot* snapshot;
  ~Rep() { database->ReleaseSnapshot(snapshot); }
};

Snapshot::Snapshot(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Snapshot::~Snapshot() = default;
Snapshot::Snapshot(Snapshot&&) noexcept = default;

struct Cursor::Rep {
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

// ---- Opening ----

struct Store::Rep {
  explicit Rep(const Options& given) : options(given) {
    file_system = given.file_system ? given.file_system : rocksdb::FileSystem::Default();
    env = rocksdb::NewCompositeEnv(file_system);
  }
  ~Rep() {
    for (rocksdb::ColumnFamilyHandle* handle : families) {
      if (database) database->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
    if (database) database->Close().PermitUncheckedError();
    if (lock != nullptr) env->UnlockFile(lock).PermitUncheckedError();
  }

  bool read_only() const { return options.access == Access::kReadOnly; }
  std::string database_folder() const { return options.folder + kTablesFolder; }
  std::string marker_file() const { return options.folder + kMarkerFile; }
  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return families[static_cast<size_t>(family)];
  }

  Status PrepareFolder();
  // The name of something in the folder; empty when it is missing or has nothing in it.
  Result<std::string> FirstChild() const;
  Status MakeFolder();
  Status MakeOne(const std::string& folder);
  Status WriteMarker();
  rocksdb::Status Sync(const std::string& folder) const;
  rocksdb::Status SyncDatabase() const;
  Status LockForReading();
  Status ExamineLogs();
  rocksdb::Status ExamineLog(const std::string& path, LogTail* tail);
  Status OpenDatabase();
  Result<bool> Get(Family family, std::string_view key, std::string* value,
                   const rocksdb::Snapshot* snapshot) const;
  std::unique_ptr<Cursor::Rep> Iterate(Family family, Range range,
                                       const rocksdb::ReadOptions& base) const;

  Options options;
  std::shared_ptr<rocksdb::FileSystem> file_system;
  std::unique_ptr<rocksdb::Env> env;
  std::shared_ptr<Trouble> trouble = std::make_shared<Trouble>();
  std::unique_ptr<rocksdb::DB> database;
  Families families;
  rocksdb::FileLock* lock = nullptr;  // For read-only access, where RocksDB takes none.
  std::atomic<uint64_t> free_bytes = UINT64_MAX;
};

Status Store::Rep::PrepareFolder() {
  const rocksdb::Status marked = env->FileExists(marker_file());
  if (!marked.ok() && !marked.IsNotFound()) return OpenError(marked, options.folder);
  if (marked.ok()) {
    std::string text;
    const rocksdb::Status read = rocksdb::ReadFileToString(env.get(), marker_file(), &text);
    if (!read.ok()) return OpenError(read, options.folder);
    return CheckMarkerText(text, options.folder);
  }
  const std::string child = TRY(FirstChild());
  if (!child.empty()) {
    return Invalid(
        fmt::format("the folder '{}' is not empty and not a data folder of tidemark "
                    "(it holds '{}', perhaps of a backup that was cut short); name another",
                    options.folder, child));
  }
  if (!options.create_if_missing || read_only()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no data folder '{}'; create a table to make it, or name "
                             "another",
                             options.folder)};
  }
  TRY(MakeFolder());
  return WriteMarker();
}

Result<std::string> Store::Rep::FirstChild() const {
  std::vector<std::string> children;
  const rocksdb::Status listed = env->GetChildren(options.folder, &children);
  const bool missing = listed.IsNotFound() || Mentions(listed, "No such file");
  if (!listed.ok() && !missing) return OpenError(listed, options.folder);
  for (const std::string& child : children) {
    // A marker aside is what a crash left of a folder being made.
    if (child == "." || child == ".." || child == "TIDEMARK.new") continue;
    return child;
  }
  return std::string();
}

// Makes a folder and puts its name on disk.
Status Store::Rep::MakeOne(const std::string& folder) {
  const size_t slash = folder.rfind('/');
  const std::string parent =
      slash == std::string::npos ? "." : folder.substr(0, std::max<size_t>(slash, 1));
  rocksdb::Status status = env->CreateDirIfMissing(folder);
  if (status.ok()) status = Sync(parent);
  if (!status.ok()) return OpenError(status, options.folder);
  return Done{};
}

Status Store::Rep::MakeFolder() {
  // Parents first: a new user names "data/here" and expects it to be there.
  for (size_t slash = options.folder.find('/', 1); slash != std::string::npos;
       slash = options.folder.find('/', slash + 1)) {
    const std::string parent = options.folder.substr(0, slash);
    if (!env->FileExists(parent).ok()) TRY(MakeOne(parent));
  }
  return MakeOne(options.folder);
}

Status Store::Rep::WriteMarker() {
  // Written aside and renamed, so that a crash leaves a whole marker or none.
  const std::string aside = marker_file() + ".new";
  rocksdb::Status status = rocksdb::WriteStringToFile(env.get(), MarkerText(), aside, true);
  if (status.ok()) status = env->RenameFile(aside, marker_file());
  if (status.ok()) status = Sync(options.folder);
  if (!status.ok()) return OpenError(status, options.folder);
  return Done{};
}

rocksdb::Status Store::Rep::Sync(const std::string& folder) const {
  std::unique_ptr<rocksdb::Directory> directory;
  const rocksdb::Status status = env->NewDirectory(folder, &directory);
  return status.ok() ? directory->Fsync() : status;
}

// Every file of the database, and their names.
rocksdb::Status Store::Rep::SyncDatabase() const {
  std::vector<std::string> names;
  rocksdb::Status status = env->GetChildren(database_folder(), &names);
  for (const std::string& name : names) {
    std::unique_ptr<rocksdb::WritableFile> file;
    if (name == "." || name == "..") continue;
    if (status.ok()) status = env->ReopenWritableFile(database_folder() + "/" + name, &file, {});
    if (status.ok()) status = file->Fsync();
  }
  if (status.ok()) status = Sync(database_folder());
  return status.ok() ? Sync(options.folder) : status;
}

Status Store::Rep::LockForReading() {
  const rocksdb::Status locked = env->LockFile(database_folder() + "/LOCK", &lock);
  // On a medium that cannot be written nobody else writes either: no lock is needed.
  const bool unwritable = Mentions(locked, "Permission denied") || Mentions(locked, "Read-only");
  if (!locked.ok() && !unwritable) return OpenError(locked, options.folder);
  return Done{};
}

Status Store::Rep::ExamineLogs() {
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(database_folder(), &names);
  if (listed.IsNotFound() || Mentions(listed, "No such file")) return Done{};
  if (!listed.ok()) return OpenError(listed, options.folder);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
  for (const std::string& name : names) {
    LogTail tail;
    const rocksdb::Status status = ExamineLog(database_folder() + "/" + name, &tail);
    if (!status.ok()) return OpenError(status, options.folder);
    if (tail.end() != LogEnd::kDamaged) continue;
    return Error{
        ErrorCode::kCorrupt,
        fmt::format("opening the data folder '{}': the log '{}' is damaged in front of "
                    "acknowledged writes; restore a backup, and keep the folder for a look",
                    options.folder, name)};
  }
  return Done{};
}

rocksdb::Status Store::Rep::ExamineLog(const std::string& path, LogTail* tail) {
  std::unique_ptr<rocksdb::SequentialFile> file;
  rocksdb::Status status = env->NewSequentialFile(path, &file, rocksdb::EnvOptions());
  std::string scratch(LogTail::kBlockBytes, '\0');
  rocksdb::Slice block;
  do {
    if (status.ok()) status = file->Read(scratch.size(), &block, scratch.data());
    if (status.ok()) tail->Add(ToView(block));
  } while (status.ok() && block.size() == scratch.size());
  return status;
}

Status Store::Rep::OpenDatabase() {
  TRY(ExamineLogs());
  const auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const char* name : kFamilyNames) descriptors.emplace_back(name, FamilyOptions(cache));
  const rocksdb::DBOptions database_options = DatabaseOptions(env.get(), trouble);
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status;
  if (read_only()) {
    TRY(LockForReading());
    status = rocksdb::DB::OpenForReadOnly(database_options, database_folder(), descriptors,
                                          &families, &opened);
  } else {
    if (!env->FileExists(database_folder()).ok()) TRY(MakeOne(database_folder()));
    status =
        rocksdb::DB::Open(database_options, database_folder(), descriptors, &families, &opened);
  }
  if (!status.ok()) return OpenError(status, options.folder);
  database.reset(opened);
  return Done{};
}

Result<std::unique_ptr<Store>> Store::Open(const Options& options) {
  if (options.folder.empty()) return Invalid("the data folder has no name; give one with --data");
  auto rep = std::make_unique<Rep>(options);
  TRY(rep->PrepareFolder());
  TRY(rep->OpenDatabase());
  std::unique_ptr<Store> store(new Store(std::move(rep)));
  store->CheckFreeSpace();
  return store;
}

Store::Store(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Store::~Store() = default;

// ---- Reading ----

Result<bool> Store::Rep::Get(Family family, std::string_view key, std::string* value,
                             const rocksdb::Snapshot* snapshot) const {
  rocksdb::ReadOptions read;
  read.snapshot = snapshot;
  const rocksdb::Status status = database->Get(read, handle(family), ToSlice(key), value);
  if (status.ok()) return true;
  if (status.IsNotFound()) return false;
  return ToError(status, "reading a row");
}

Result<bool> Store::Get(Family family, std::string_view key, std::string* value) const {
  return rep_->Get(family, key, value, nullptr);
}

Result<bool> Store::Get(Family family, std::string_view key, std::string* value,
                        const Snapshot& snapshot) const {
  return rep_->Get(family, key, value, snapshot.rep_->snapshot);
}

std::unique_ptr<Cursor::Rep> Store::Rep::Iterate(Family family, Range range,
                                                 const rocksdb::ReadOptions& base) const {
  auto cursor = std::make_unique<Cursor::Rep>();
  cursor->range = std::move(range);
  cursor->low = cursor->range.low;
  cursor->high = cursor->range.high;
  rocksdb::ReadOptions read = base;
  // Filters by prefix are asked only where no other prefix is looked for.
  read.prefix_same_as_start = HasOnePrefix(cursor->range);
  read.total_order_seek = !read.prefix_same_as_start;
  read.iterate_lower_bound = &cursor->low;
  read.iterate_upper_bound = &cursor->high;
  cursor->iterator.reset(database->NewIterator(read, handle(family)));
  return cursor;
}

Cursor Store::Iterate(Family family, Range range, Walk walk) const {
  rocksdb::ReadOptions read;
  read.fill_cache = walk == Walk::kShort;
  read.adaptive_readahead = walk == Walk::kLong;
  return Cursor(rep_->Iterate(family, std::move(range), read));
}

Cursor Store::Iterate(Family family, Range range, const Snapshot& snapshot) const {
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  read.snapshot = snapshot.rep_->snapshot;
  return Cursor(rep_->Iterate(family, std::move(range), read));
}

Snapshot Store::TakeSnapshot() const {
  rocksdb::DB* database = rep_->database.get();
  return Snapshot(std::unique_ptr<Snapshot::Rep>(
      new Snapshot::Rep{.database = database, .snapshot = database->GetSnapshot()}));
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
  if (status.ok()) return Done{};
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
        fmt::format("writes are stopped because the disk failed ({}); nothing was written. "
                    "Check the disk, then open the data folder again",
                    rep_->trouble->reason())};
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

// ---- Verifying and copying ----

Status Store::VerifyFiles() const {
  const rocksdb::Status status = rep_->database->VerifyChecksum();
  if (!status.ok()) return ToError(status, "verifying the files");
  return Done{};
}

Status Store::Checkpoint(const std::string& folder) const {
  const std::string doing = fmt::format("copying to '{}'", folder);
  Rep target({.folder = folder, .file_system = rep_->options.file_system});
  const std::string child = TRY(target.FirstChild().WithContext(doing));
  if (!child.empty()) {
    return Invalid(
        fmt::format("{}: the folder is not empty (it holds '{}'); name another", doing, child));
  }
  TRY(target.MakeFolder().WithContext(doing));
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(rep_->database.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  // Zero means that the memtables are flushed first, so that the copy needs no log.
  if (status.ok()) status = checkpoint->CreateCheckpoint(target.database_folder(), 0);
  if (status.ok()) status = target.SyncDatabase();
  if (!status.ok()) return ToError(status, doing);
  // Last: a copy that is cut short must not open as a new and empty data folder.
  return target.WriteMarker().WithContext(doing);
}

}  // namespace tidemark::embedded
