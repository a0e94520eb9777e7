#include "tables/embedded/store.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/checkpoint.h>

#include "base/descriptor.h"
#include "tables/embedded/durable_mark.h"
#include "tables/embedded/log_files.h"
#include "tables/embedded/log_tail.h"
#include "tables/embedded/status.h"
#include "tables/embedded/store_options.h"
#include "tables/embedded/trouble.h"
#include "tables/embedded/visitors.h"

namespace tidemark::embedded {

namespace {

constexpr std::array<const char*, 3> kFamilyNames = {"default", "rows", "streams"};
constexpr const char* kMarkerFile = "/TIDEMARK";
constexpr const char* kTablesFolder = "/tables";
constexpr const char* kDurableMarkFile = "/SYNCED";

rocksdb::Slice ToSlice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Whether all keys of the range have one prefix, as those of a partition have.
bool HasOnePrefix(const Range& range) {
  return range.low.size() >= kPartitionPrefixBytes && range.high.size() >= kPartitionPrefixBytes &&
         range.low.compare(0, kPartitionPrefixBytes, range.high, 0, kPartitionPrefixBytes) == 0;
}

// RocksDB makes its files readable to everybody, so the folder keeps other users out. If this
// fails, as on a file system without permissions, `tidemark doctor` says so.
void MakePrivate(const std::string& folder) { (void)!::chmod(folder.c_str(), S_IRWXU); }

bool Mentions(const rocksdb::Status& status, std::string_view words) {
  return status.ToString().find(words) != std::string::npos;
}

rocksdb::Status Closed() {
  return rocksdb::Status::TryAgain(
      "the data folder is being opened again after a full disk or exhausted descriptors");
}

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

Error OpenError(const rocksdb::Status& status, const std::string& folder) {
  const std::string doing = fmt::format("opening the data folder '{}'", folder);
  // The error texts of RocksDB's file system when this process or another one holds the lock.
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
  // RocksDB reports a file that it cannot read as a wrong option.
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
  if (format == 0) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the data folder '{}' has a TIDEMARK file with format 0, which no "
                             "version writes; restore a backup",
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

// ---- Opening ----

struct Store::Rep {
  explicit Rep(const Options& given) : options(given) {
    file_system = std::make_shared<LogFiles>(given.file_system ? given.file_system
                                                               : rocksdb::FileSystem::Default());
    env = rocksdb::NewCompositeEnv(file_system);
  }
  ~Rep() {
    mark.Sync();
    Close();
    Unlock();
  }

  bool read_only() const { return options.access == Access::kReadOnly; }
  std::string database_folder() const { return options.folder + kTablesFolder; }
  std::string marker_file() const { return options.folder + kMarkerFile; }
  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return families[static_cast<size_t>(family)];
  }

  Status PrepareFolder();
  // The name of one entry of the folder; empty when the folder is missing or empty.
  Result<std::string> FirstChild() const;
  Status MakeFolder();
  Status MakeOne(const std::string& folder);
  Status WriteMarker();
  rocksdb::Status Sync(const std::string& folder) const;
  rocksdb::Status SyncDatabase() const;
  std::string durable_mark_file() const { return database_folder() + kDurableMarkFile; }
  Status Lock();
  void Unlock();
  // The last sequence number that the logs hold; 0 when they are empty.
  Result<uint64_t> ExamineLogs();
  rocksdb::Status ExamineLog(const std::string& path, LogTail* tail);
  Status CheckReach(uint64_t in_logs);
  Status OpenDatabase();
  std::vector<rocksdb::ColumnFamilyDescriptor> Descriptors() const;
  Status OpenForReading();
  Status OpenForWriting();
  // Notes in the mark that everything up to this number is on disk.
  void Promise(uint64_t sequence);
  void Close();
  Result<bool> Get(Family family, std::string_view key, std::string* value,
                   const rocksdb::Snapshot* snapshot);
  std::unique_ptr<Cursor::Rep> Iterate(Family family, Range range,
                                       const rocksdb::ReadOptions& base);

  Options options;
  std::shared_ptr<rocksdb::FileSystem> file_system;
  std::unique_ptr<rocksdb::Env> env;
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
    // A crash while the folder was made leaves this file. The folder of objects may be there before
    // the first table.
    if (child == "." || child == ".." || child == "TIDEMARK.new" || child == "objects") continue;
    return child;
  }
  return std::string();
}

// Creates a folder and syncs its parent, so that the folder's name is on disk.
Status Store::Rep::MakeOne(const std::string& folder) {
  const size_t slash = folder.rfind('/');
  const std::string parent =
      slash == std::string::npos ? "." : folder.substr(0, std::max<size_t>(slash, 1));
  const bool is_new = !env->FileExists(folder).ok();
  rocksdb::Status status = env->CreateDirIfMissing(folder);
  if (status.ok() && is_new) MakePrivate(folder);
  if (status.ok()) status = Sync(parent);
  if (!status.ok()) return OpenError(status, options.folder);
  return Done{};
}

Status Store::Rep::MakeFolder() {
  // Parents first: a user may name "data/here" when there is no "data" yet.
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

// Syncs every file of the database, and the folders, so that the names are on disk too.
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

Result<uint64_t> Store::Rep::ExamineLogs() {
  std::vector<std::string> names;
  const rocksdb::Status listed = env->GetChildren(database_folder(), &names);
  if (listed.IsNotFound() || Mentions(listed, "No such file")) return 0;
  if (!listed.ok()) return OpenError(listed, options.folder);
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
  // Sorted by number. A number of more than six digits makes a longer name, so the length comes
  // first.
  std::sort(names.begin(), names.end(), [](const std::string& one, const std::string& other) {
    return std::pair(one.size(), one) < std::pair(other.size(), other);
  });
  LogChain chain;
  for (const std::string& name : names) {
    LogTail tail;
    const rocksdb::Status status = ExamineLog(database_folder() + "/" + name, &tail);
    if (!status.ok()) return OpenError(status, options.folder);
    chain.Add(tail);
    if (tail.end() != LogEnd::kDamaged) continue;
    return Error{
        ErrorCode::kCorrupt,
        fmt::format("opening the data folder '{}': the log '{}' is damaged in front of "
                    "acknowledged writes; restore a backup, and keep this folder for analysis",
                    options.folder, name)};
  }
  return chain.reach;
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

// Checks that every write up to the durable mark is present. Usually the logs already show it.
// Writes that are not in the logs may be in table files, which only RocksDB can read. So the
// database is first opened read-only, which changes nothing. Opening it for writing would delete
// the logs that it has read.
Status Store::Rep::CheckReach(uint64_t in_logs) {
  const std::optional<uint64_t> marked = TRY(DurableMark::Read(durable_mark_file()));
  const uint64_t promised = std::max(marked.value_or(0), acknowledged);
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
  const uint64_t in_logs = TRY(ExamineLogs());
  TRY(CheckReach(in_logs));
  return read_only() ? OpenForReading() : OpenForWriting();
}

std::vector<rocksdb::ColumnFamilyDescriptor> Store::Rep::Descriptors() const {
  const auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
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
  if (!env->FileExists(database_folder()).ok()) TRY(MakeOne(database_folder()));
  MakePrivate(database_folder());  // An earlier version left it open.
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(
      DatabaseOptions(env.get(), trouble), database_folder(), Descriptors(), &families, &opened);
  if (!status.ok()) return OpenError(status, options.folder);
  database.reset(opened);
  mark = TRY(DurableMark::Open(durable_mark_file()));
  // RocksDB has just written everything from the logs into synced table files.
  Promise(database->GetLatestSequenceNumber());
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
                             const rocksdb::Snapshot* snapshot) {
  const Visit visit = visitors.Enter();
  if (!visit) return ToError(Closed(), "reading a row");
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
  if (!snapshot.rep_->visit) return ToError(Closed(), "reading a row");
  return rep_->Get(family, key, value, snapshot.rep_->snapshot);
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

Status Store::Reopen() {
  if (!rep_->visitors.TryClose()) return ToError(Closed(), "waiting for reads to end");
  rep_->reopening = true;
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

Status Store::VerifyFiles() const {
  const Visit visit = rep_->visitors.Enter();
  if (!visit) return ToError(Closed(), "verifying the files");
  const rocksdb::Status status = rep_->database->VerifyChecksum();
  if (!status.ok()) return ToError(status, "verifying the files");
  return Done{};
}

Status Store::Checkpoint(const std::string& folder) const {
  const std::string doing = fmt::format("copying to '{}'", folder);
  const Visit visit = rep_->visitors.Enter();
  if (!visit) return ToError(Closed(), doing);
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
  if (status.ok()) MakePrivate(target.database_folder());
  if (status.ok()) status = target.SyncDatabase();
  if (!status.ok()) return ToError(status, doing);
  // The marker is written last. If the copying is interrupted, the copy must not open as an empty
  // data folder.
  return target.WriteMarker().WithContext(doing);
}

}  // namespace tidemark::embedded
