#include "tests/support/fault_file_system.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace tidemark {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// "a/b/", "a//b" and "a/b" are the same file. RocksDB uses all three forms.
std::string Tidy(const std::string& path) {
  std::string tidy = std::filesystem::path(path).lexically_normal().string();
  if (tidy.size() > 1 && tidy.back() == '/') tidy.pop_back();
  return tidy;
}

std::string ParentOf(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

void RenameForReal(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  // A later change of another folder may be synced already, although this one is not.
  CHECK(!error || error == std::errc::no_such_file_or_directory);
}

void RemoveForReal(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

IOStatus NotModelled(const char* what) { return IOStatus::NotSupported(what, "not modelled"); }

IOStatus PowerIsOff(const std::string& path) { return IOStatus::IOError(path, "power is off"); }

IOStatus Failed(FaultEffect effect, const std::string& path) {
  if (effect == FaultEffect::kError) return IOStatus::IOError(path, "injected error");
  IOStatus status = IOStatus::NoSpace(path, "injected: no space left on device");
  status.SetRetryable(true);  // As RocksDB's own file system does.
  return status;
}

class SilentLogger final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
  size_t GetLogFileSize() const override { return 0; }
};

}  // namespace

bool Changes(const FileCall& call) {
  switch (call.kind) {
    case FileCallKind::kOpen:
    case FileCallKind::kRead:
    case FileCallKind::kLook:
      return false;
    default:
      return true;
  }
}

// The bytes of one file. It has its own descriptor, so it can still cut off unsynced bytes after
// the file was renamed or deleted.
struct FaultFileSystem::Content {
  explicit Content(const std::string& path) : descriptor(open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
    CHECK(descriptor >= 0);
    written = synced = static_cast<uint64_t>(Look().st_size);
  }
  ~Content() { close(descriptor); }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;

  struct stat Look() const {
    struct stat found = {};
    CHECK(fstat(descriptor, &found) == 0);
    return found;
  }

  const int descriptor;
  uint64_t written = 0;
  uint64_t synced = 0;
  bool sync_failed = false;
};

// Finds the file by its inode: a file that was renamed and is opened again must be the same one.
std::shared_ptr<FaultFileSystem::Content> FaultFileSystem::ContentLocked(const std::string& path) {
  auto content = std::make_shared<Content>(path);
  for (const std::shared_ptr<Content>& known : unsynced_) {
    if (known->Look().st_ino == content->Look().st_ino) return known;
  }
  return content;
}

class FaultFileSystem::Writer final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  Writer(FaultFileSystem* files, std::string path, std::unique_ptr<rocksdb::FSWritableFile> target)
      : FSWritableFileOwnerWrapper(std::move(target)),
        files_(files),
        path_(std::move(path)),
        generation_(files->generation_),
        content_(files->ContentLocked(path_)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return files_->Append(content_, path_, data, generation_, [&](const Slice& part) {
      return target()->Append(part, options, debug);
    });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&, IODebugContext*) override {
    return NotModelled("PositionedAppend");
  }
  IOStatus PositionedAppend(const Slice&, uint64_t, const IOOptions&,
                            const rocksdb::DataVerificationInfo&, IODebugContext*) override {
    return NotModelled("PositionedAppend");
  }
  IOStatus Truncate(uint64_t, const IOOptions&, IODebugContext*) override {
    return NotModelled("Truncate");
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    return files_->Sync(content_, path_, generation_);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Sync(options, debug);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return files_->Do({FileCallKind::kClose, path_}, generation_,
                      [&] { return target()->Close(options, debug); });
  }
  // This only starts to write. The data is not durable afterwards.
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  // The real file cuts off preallocated space when it is closed. After a power cut that would
  // change the size of a file that we have shortened, so nothing is preallocated.
  void PrepareWrite(size_t, size_t, const IOOptions&, IODebugContext*) override {}
  IOStatus Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }

 private:
  FaultFileSystem* const files_;
  const std::string path_;
  const uint64_t generation_;
  const std::shared_ptr<Content> content_;
};

class FaultFileSystem::SequentialReader final : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  SequentialReader(FaultFileSystem* files, std::string path,
                   std::unique_ptr<rocksdb::FSSequentialFile> target)
      : FSSequentialFileOwnerWrapper(std::move(target)),
        files_(files),
        path_(std::move(path)),
        generation_(files->generation_) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) override {
    return files_->Do({FileCallKind::kRead, path_}, generation_,
                      [&] { return target()->Read(n, options, result, scratch, debug); });
  }

 private:
  FaultFileSystem* const files_;
  const std::string path_;
  const uint64_t generation_;
};

class FaultFileSystem::PlacedReader final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  PlacedReader(FaultFileSystem* files, std::string path,
               std::unique_ptr<rocksdb::FSRandomAccessFile> target)
      : FSRandomAccessFileOwnerWrapper(std::move(target)),
        files_(files),
        path_(std::move(path)),
        generation_(files->generation_) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* debug) const override {
    return files_->Do({FileCallKind::kRead, path_, offset}, generation_,
                      [&] { return target()->Read(offset, n, options, result, scratch, debug); });
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* debug) override {
    for (size_t i = 0; i < count; ++i) {
      rocksdb::FSReadRequest& request = requests[i];
      request.status =
          Read(request.offset, request.len, options, &request.result, request.scratch, debug);
    }
    return IOStatus::OK();
  }
  // After this answer RocksDB reads the file in the ordinary way.
  IOStatus Prefetch(uint64_t, size_t, const IOOptions&, IODebugContext*) override {
    return NotModelled("Prefetch");
  }
  IOStatus ReadAsync(rocksdb::FSReadRequest&, const IOOptions&,
                     std::function<void(const rocksdb::FSReadRequest&, void*)>, void*, void**,
                     rocksdb::IOHandleDeleter*, IODebugContext*) override {
    return NotModelled("ReadAsync");
  }

 private:
  FaultFileSystem* const files_;
  const std::string path_;
  const uint64_t generation_;
};

class FaultFileSystem::Folder final : public rocksdb::FSDirectoryWrapper {
 public:
  Folder(FaultFileSystem* files, std::string path, std::unique_ptr<rocksdb::FSDirectory> target)
      : FSDirectoryWrapper(std::move(target)),
        files_(files),
        path_(std::move(path)),
        generation_(files->generation_) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return files_->Do({FileCallKind::kSyncFolder, path_}, generation_, [&] {
      files_->SettleLocked(path_);
      return IOStatus::OK();
    });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions&) override {
    return Fsync(options, debug);
  }

 private:
  FaultFileSystem* const files_;
  const std::string path_;
  const uint64_t generation_;
};

FaultFileSystem::FaultFileSystem(std::string root, Random* random)
    : FileSystemWrapper(rocksdb::FileSystem::Default()),
      attic_(Tidy(root) + "/attic"),
      random_(random) {
  std::filesystem::create_directories(attic_);
}

FaultFileSystem::~FaultFileSystem() { RemoveForReal(attic_); }

void FaultFileSystem::Arm(Fault fault) {
  std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
  matched_ = 0;
  fired_ = false;
}

void FaultFileSystem::Disarm() {
  std::lock_guard lock(mutex_);
  fault_.reset();
}

bool FaultFileSystem::fired() const {
  std::lock_guard lock(mutex_);
  return fired_;
}

void FaultFileSystem::SetTearing(Tearing tearing) {
  std::lock_guard lock(mutex_);
  tearing_ = tearing;
}

void FaultFileSystem::PowerCut() {
  std::lock_guard lock(mutex_);
  PowerCutLocked();
}

void FaultFileSystem::Restart() {
  std::lock_guard lock(mutex_);
  powered_ = true;
}

bool FaultFileSystem::powered() const {
  std::lock_guard lock(mutex_);
  return powered_;
}

void FaultFileSystem::SetFreeBytes(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  free_bytes_ = bytes;
}

uint64_t FaultFileSystem::Count(FileCallKind kind) const {
  std::lock_guard lock(mutex_);
  return counts_[static_cast<size_t>(kind)];
}

uint64_t FaultFileSystem::CountChanges() const {
  std::lock_guard lock(mutex_);
  return changes_;
}

template <typename Action>
IOStatus FaultFileSystem::Do(const FileCall& call, uint64_t generation, Action action) {
  std::lock_guard lock(mutex_);
  if (IOStatus status = Admit(call, generation); !status.ok()) return status;
  return action();
}

template <typename Action>
IOStatus FaultFileSystem::Do(const FileCall& call, Action action) {
  std::lock_guard lock(mutex_);
  if (IOStatus status = Admit(call, generation_); !status.ok()) return status;
  return action();
}

IOStatus FaultFileSystem::Admit(const FileCall& call, uint64_t generation) {
  if (!powered_ || generation != generation_) return PowerIsOff(call.path);
  ++counts_[static_cast<size_t>(call.kind)];
  if (Changes(call)) ++changes_;
  if (!fault_ || !fault_->matches(call) || ++matched_ < fault_->nth) return IOStatus::OK();
  if (matched_ > fault_->nth && !fault_->persistent) return IOStatus::OK();
  fired_ = true;
  if (fault_->effect != FaultEffect::kPowerCut) return Failed(fault_->effect, call.path);
  PowerCutLocked();
  return PowerIsOff(call.path);
}

IOStatus FaultFileSystem::Append(const std::shared_ptr<Content>& content, const std::string& path,
                                 const Slice& data, uint64_t generation,
                                 const WriteForReal& write) {
  std::lock_guard lock(mutex_);
  IOStatus status = Admit({FileCallKind::kWrite, path}, generation);
  uint64_t length = data.size();
  if (!status.ok()) {
    if (!powered_ || generation != generation_) return status;
    length = random_->Below(data.size() + 1);
  } else if (free_bytes_ && *free_bytes_ < data.size()) {
    status = Failed(FaultEffect::kNoSpace, path);
    length = *free_bytes_;
  }
  if (free_bytes_) *free_bytes_ -= std::min(*free_bytes_, length);
  IOStatus written = write(Slice(data.data(), length));
  if (written.ok()) {
    content->written += length;
    unsynced_.insert(content);
  }
  return status.ok() ? written : status;
}

IOStatus FaultFileSystem::Sync(const std::shared_ptr<Content>& content, const std::string& path,
                               uint64_t generation) {
  std::lock_guard lock(mutex_);
  IOStatus status = Admit({FileCallKind::kSync, path}, generation);
  if (!status.ok()) {
    content->sync_failed = true;
  } else if (!content->sync_failed) {
    content->synced = content->written;
    unsynced_.erase(content);
  }
  return status;
}

// How many of the unsynced bytes are kept: none, all, or any number of them.
uint64_t FaultFileSystem::KeptOf(uint64_t unsynced) {
  switch (random_->Below(4)) {
    case 0:
      return 0;
    case 1:
      return unsynced;
    default:
      return random_->Below(unsynced + 1);
  }
}

void FaultFileSystem::PowerCutLocked() {
  powered_ = false;
  ++generation_;
  for (const std::shared_ptr<Content>& content : unsynced_) LoseContentLocked(content.get());
  unsynced_.clear();
  UndoNamesLocked();
}

void FaultFileSystem::LoseContentLocked(Content* content) {
  const uint64_t kept = content->synced + KeptOf(content->written - content->synced);
  CHECK(ftruncate(content->descriptor, static_cast<off_t>(kept)) == 0);
  if (tearing_ == Tearing::kPrefix) return;
  constexpr uint64_t kPageBytes = 4096;
  for (uint64_t page = content->synced; page < kept; page += kPageBytes - page % kPageBytes) {
    if (random_->Below(4) != 0) continue;
    const std::string zeros(std::min(kept, page + kPageBytes - page % kPageBytes) - page, '\0');
    CHECK(pwrite(content->descriptor, zeros.data(), zeros.size(), static_cast<off_t>(page)) ==
          static_cast<ssize_t>(zeros.size()));
  }
}

void FaultFileSystem::UndoNamesLocked() {
  const uint64_t kept = KeptOf(names_.size());
  while (names_.size() > kept) {
    const NameChange change = std::move(names_.back());
    names_.pop_back();
    if (change.renamed_from) {
      RenameForReal(change.path, *change.renamed_from);
      RetellPathsLocked(change.path, *change.renamed_from);
    } else if (change.created) {
      RemoveForReal(change.path);
    }
    if (change.kept_at) RenameForReal(*change.kept_at, change.path);
  }
  for (const NameChange& change : names_) {
    if (change.kept_at) RemoveForReal(*change.kept_at);
  }
  names_.clear();
}

void FaultFileSystem::SettleLocked(const std::string& folder) {
  std::erase_if(names_, [&](const NameChange& change) {
    if (change.folder != folder) return false;
    if (change.kept_at) RemoveForReal(*change.kept_at);
    return true;
  });
}

// After a folder is renamed, its files must be found under the new name.
void FaultFileSystem::RetellPathsLocked(const std::string& from, const std::string& to) {
  const std::string prefix = from + "/";
  const auto retell = [&](std::string* path) {
    if (path->starts_with(prefix)) path->replace(0, from.size(), to);
  };
  for (NameChange& change : names_) {
    retell(&change.path);
    if (change.renamed_from) retell(&*change.renamed_from);
    change.folder = ParentOf(change.path);
  }
}

// Returns the path under which the file is kept; nullopt when there is no file at `path`.
std::optional<std::string> FaultFileSystem::MoveToAtticLocked(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  std::string kept_at = attic_ + "/" + std::to_string(++attic_names_);
  RenameForReal(path, kept_at);
  return kept_at;
}

IOStatus FaultFileSystem::NewSequentialFile(const std::string& path, const FileOptions& options,
                                            std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                            IODebugContext* debug) {
  return Do({FileCallKind::kOpen, path}, [&] {
    IOStatus status = target()->NewSequentialFile(path, options, result, debug);
    if (status.ok()) *result = std::make_unique<SequentialReader>(this, path, std::move(*result));
    return status;
  });
}

IOStatus FaultFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                              std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                              IODebugContext* debug) {
  return Do({FileCallKind::kOpen, path}, [&] {
    IOStatus status = target()->NewRandomAccessFile(path, options, result, debug);
    if (status.ok()) *result = std::make_unique<PlacedReader>(this, path, std::move(*result));
    return status;
  });
}

IOStatus FaultFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* result,
                                          IODebugContext* debug) {
  return Do({FileCallKind::kCreate, path}, [&] {
    const std::string name = Tidy(path);
    std::optional<std::string> kept_at = MoveToAtticLocked(name);
    IOStatus status = target()->NewWritableFile(name, options, result, debug);
    if (!status.ok()) {
      if (kept_at) RenameForReal(*kept_at, name);
      return status;
    }
    *result = std::make_unique<Writer>(this, name, std::move(*result));
    names_.push_back({.folder = ParentOf(name), .path = name, .kept_at = kept_at});
    return status;
  });
}

IOStatus FaultFileSystem::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                                             IODebugContext* debug) {
  return Do({FileCallKind::kOpen, path}, [&] {
    const std::string name = Tidy(path);
    if (!std::filesystem::exists(name)) return IOStatus::PathNotFound(name, "no such file");
    IOStatus status = target()->ReopenWritableFile(name, options, result, debug);
    if (status.ok()) *result = std::make_unique<Writer>(this, name, std::move(*result));
    return status;
  });
}

IOStatus FaultFileSystem::ReuseWritableFile(const std::string&, const std::string&,
                                            const FileOptions&,
                                            std::unique_ptr<rocksdb::FSWritableFile>*,
                                            IODebugContext*) {
  return NotModelled("ReuseWritableFile");
}

IOStatus FaultFileSystem::NewRandomRWFile(const std::string&, const FileOptions&,
                                          std::unique_ptr<rocksdb::FSRandomRWFile>*,
                                          IODebugContext*) {
  return NotModelled("NewRandomRWFile");
}

IOStatus FaultFileSystem::NewDirectory(const std::string& path, const IOOptions& options,
                                       std::unique_ptr<rocksdb::FSDirectory>* result,
                                       IODebugContext* debug) {
  return Do({FileCallKind::kOpen, path}, [&] {
    IOStatus status = target()->NewDirectory(path, options, result, debug);
    if (status.ok()) *result = std::make_unique<Folder>(this, Tidy(path), std::move(*result));
    return status;
  });
}

IOStatus FaultFileSystem::FileExists(const std::string& path, const IOOptions& options,
                                     IODebugContext* debug) {
  return Do({FileCallKind::kLook, path},
            [&] { return target()->FileExists(path, options, debug); });
}

IOStatus FaultFileSystem::GetChildren(const std::string& folder, const IOOptions& options,
                                      std::vector<std::string>* result, IODebugContext* debug) {
  return Do({FileCallKind::kLook, folder},
            [&] { return target()->GetChildren(folder, options, result, debug); });
}

IOStatus FaultFileSystem::GetFileSize(const std::string& path, const IOOptions& options,
                                      uint64_t* size, IODebugContext* debug) {
  return Do({FileCallKind::kLook, path},
            [&] { return target()->GetFileSize(path, options, size, debug); });
}

IOStatus FaultFileSystem::DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) {
  return Do({FileCallKind::kDelete, path}, [&] {
    const std::string name = Tidy(path);
    std::optional<std::string> kept_at = MoveToAtticLocked(name);
    if (!kept_at) return IOStatus::PathNotFound(name, "no such file");
    names_.push_back(
        {.folder = ParentOf(name), .path = name, .kept_at = kept_at, .created = false});
    return IOStatus::OK();
  });
}

IOStatus FaultFileSystem::Truncate(const std::string&, size_t, const IOOptions&, IODebugContext*) {
  return NotModelled("Truncate");
}

IOStatus FaultFileSystem::CreateDir(const std::string& path, const IOOptions& options,
                                    IODebugContext* debug) {
  return Do({FileCallKind::kMakeFolder, path}, [&] {
    const std::string name = Tidy(path);
    IOStatus status = target()->CreateDir(name, options, debug);
    if (status.ok()) names_.push_back({.folder = ParentOf(name), .path = name});
    return status;
  });
}

IOStatus FaultFileSystem::CreateDirIfMissing(const std::string& path, const IOOptions& options,
                                             IODebugContext* debug) {
  if (powered() && std::filesystem::is_directory(path)) return IOStatus::OK();
  return CreateDir(path, options, debug);
}

IOStatus FaultFileSystem::RenameFile(const std::string& from, const std::string& to,
                                     const IOOptions& options, IODebugContext* debug) {
  return Do({FileCallKind::kRename, from}, [&] {
    const std::string source = Tidy(from);
    const std::string name = Tidy(to);
    std::optional<std::string> kept_at = MoveToAtticLocked(name);
    IOStatus status = target()->RenameFile(source, name, options, debug);
    if (!status.ok()) {
      if (kept_at) RenameForReal(*kept_at, name);
      return status;
    }
    RetellPathsLocked(source, name);
    names_.push_back(
        {.folder = ParentOf(name), .path = name, .renamed_from = source, .kept_at = kept_at});
    return status;
  });
}

IOStatus FaultFileSystem::LinkFile(const std::string& from, const std::string& to,
                                   const IOOptions& options, IODebugContext* debug) {
  return Do({FileCallKind::kLink, to}, [&] {
    const std::string name = Tidy(to);
    IOStatus status = target()->LinkFile(from, name, options, debug);
    if (status.ok()) names_.push_back({.folder = ParentOf(name), .path = name});
    return status;
  });
}

IOStatus FaultFileSystem::LockFile(const std::string& path, const IOOptions& options,
                                   rocksdb::FileLock** lock, IODebugContext* debug) {
  return Do({FileCallKind::kOpen, path},
            [&] { return target()->LockFile(path, options, lock, debug); });
}

IOStatus FaultFileSystem::NewLogger(const std::string&, const IOOptions&,
                                    std::shared_ptr<rocksdb::Logger>* result, IODebugContext*) {
  *result = std::make_shared<SilentLogger>();
  return IOStatus::OK();
}

IOStatus FaultFileSystem::GetFreeSpace(const std::string& path, const IOOptions& options,
                                       uint64_t* free_bytes, IODebugContext* debug) {
  return Do({FileCallKind::kLook, path}, [&] {
    if (!free_bytes_) return target()->GetFreeSpace(path, options, free_bytes, debug);
    *free_bytes = *free_bytes_;
    return IOStatus::OK();
  });
}

void FlipBit(const std::string& path, uint64_t bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto place = static_cast<std::streamoff>(bit / 8);
  file.seekg(place);
  const int byte = file.get();
  CHECK(byte >= 0);
  file.seekp(place);
  file.put(static_cast<char>(byte ^ (1 << (bit % 8))));
  CHECK(file.good());
}

}  // namespace tidemark
