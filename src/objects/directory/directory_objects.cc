#include "objects/directory/directory_objects.h"

#include <array>
#include <errno.h>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <mutex>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/hashing.h"
#include "objects/directory/file_ops.h"
#include "objects/directory/folder_names.h"
#include "objects/directory/key_path.h"
#include "objects/directory/lister.h"
#include "objects/directory/record.h"
#include "objects/directory/stored_file.h"
#include "objects/validate.h"

namespace tidemark::directory {

namespace {

using objects::DeleteReply;
using objects::DeleteRequest;
using objects::PutReply;
using objects::PutRequest;

constexpr char kOwnFolder[] = ".tidemark";
constexpr char kLockFile[] = ".tidemark/lock";
constexpr size_t kStripes = 64;

Result<Descriptor> OpenFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("make the folder '" + folder + "'");
  }
  Descriptor root(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return SystemError("open the folder '" + folder + "'");
  return root;
}

Result<Descriptor> LockFolder(const Descriptor& root, const std::string& folder) {
  Descriptor lock(openat(root.get(), kLockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.is_open()) return SystemError("open the lock of '" + folder + "'");
  if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return SystemError("lock '" + folder + "'");
  return Error{ErrorCode::kInUse,
               fmt::format("another process has the objects in '{}' open: stop it, or name "
                           "another folder",
                           folder)};
}

// Checks that the file system can store records, and that "a" and "A" are different names.
Status Probe(FileOps* files, const Descriptor& root, const std::string& folder) {
  const std::string path = std::string(kTemporaryFolder) + "/probe";
  const Descriptor file = TRY(files->Create(path));
  const bool keeps_records =
      files->SetRecord(file, std::string(kMaxRecordBytes, 'x'), std::chrono::milliseconds(0))
          .has_value();
  const std::string shouted = std::string(kTemporaryFolder) + "/PROBE";
  const bool tells_case = faccessat(root.get(), shouted.c_str(), F_OK, 0) != 0;
  TRY(files->Remove(path));
  if (keeps_records && tells_case) return Done();
  return Invalid(
      fmt::format("the file system of '{}' cannot keep objects: it {}; choose a folder on ext4, "
                  "XFS, Btrfs or ZFS",
                  folder,
                  keeps_records ? "does not distinguish upper case from lower case"
                                : "has no extended attributes of 3,200 bytes"));
}

// Passes the content of the request to `take`, piece by piece.
Status ForEachPiece(const PutRequest& request,
                    const std::function<Status(std::string_view)>& take) {
  if (request.file.empty()) return take(request.bytes);
  const Descriptor file(open(request.file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return Invalid(fmt::format("cannot open '{}' to store it: {}", request.file,
                               std::generic_category().message(errno)));
  }
  for (uint64_t offset = 0;;) {
    const std::string piece = TRY(ReadAt(file, offset, kPieceBytes));
    if (piece.empty()) return Done();
    TRY(take(piece));
    offset += piece.size();
  }
}

Error NothingDone(Error error) {
  if (error.code == ErrorCode::kNotFound) error.code = ErrorCode::kUnavailable;
  return error;
}

}  // namespace

class DirectoryObjects::State {
 public:
  State(Descriptor root, Descriptor lock, const Clock& clock, Random& random, FileOps* files)
      : root_(std::move(root)),
        lock_(std::move(lock)),
        clock_(clock),
        random_(random),
        system_(&root_),
        files_(files != nullptr ? *files : system_) {}

  // Removes temporary files, and syncs what a killed process may have written without a sync.
  Status Recover(const std::string& folder) {
    TRY(files_.MakeFolder(kTemporaryFolder));
    TRY(RemoveLeftovers(folder));
    TRY(Probe(&files_, root_, folder));
    return files_.SyncAll();
  }

  Result<PutReply> Put(const PutRequest& request) {
    const std::string temporary = fmt::format("{}/{}", kTemporaryFolder, random_.Hex(16));
    auto reply = PutThrough(temporary, request);
    // After an error, or if the condition does not hold, the temporary file is still there. If it
    // cannot be removed, the next Open removes it.
    const bool is_left = !reply || !reply->applied;
    if (is_left) (void)files_.Remove(temporary).has_value();
    return reply;
  }

  Result<DeleteReply> Delete(const DeleteRequest& request) {
    const std::lock_guard lock(StripeOf(request.key));
    if (request.if_match) {
      const auto stored = TRY(OpenStored(root_, request.key));
      if (stored && stored->info.etag != *request.if_match) return DeleteReply{.applied = false};
    }
    TRY(Remove(PathOfKey(request.key)));
    return DeleteReply{};
  }

  const Descriptor& root() const { return root_; }

 private:
  std::mutex& StripeOf(const std::string& key) {
    return stripes_[std::hash<std::string>()(key) % kStripes];
  }

  Status RemoveLeftovers(const std::string& folder) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::path(folder) / kTemporaryFolder;
    for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      TRY(files_.Remove(fmt::format("{}/{}", kTemporaryFolder, entry->path().filename().string())));
    }
    if (!error) return Done();
    return Error{ErrorCode::kUnavailable,
                 fmt::format("cannot list '{}': {}", path.string(), error.message())};
  }

  Result<PutReply> PutThrough(const std::string& temporary, const PutRequest& request) {
    // The file is written and synced before the lock is taken, because that may take long. The
    // condition is checked under the lock, together with the rename, so no other put comes between.
    const Record record = TRY(WriteAside(temporary, request));
    const std::lock_guard lock(StripeOf(request.key));
    const bool may_write = TRY(Holds(request));
    if (!may_write) return PutReply{.applied = false};
    TRY(Publish(temporary, PathOfKey(request.key)));
    return PutReply{.etag = EtagOf(record)};
  }

  Result<Record> WriteAside(const std::string& path, const PutRequest& request) {
    Record record{.modified = clock_.Now(),
                  .nonce = random_.Next(),
                  .content_type = request.content_type,
                  .metadata = request.metadata};
    const Descriptor file = TRY(files_.Create(path));
    Sha256Stream hasher;
    TRY(ForEachPiece(request, [&](std::string_view piece) {
      hasher.Add(piece);
      record.size += piece.size();
      return files_.Write(file, piece);
    }));
    record.sha256 = hasher.Finish();
    TRY(files_.SetRecord(file, EncodeRecord(record), record.modified));
    TRY(files_.Sync(file));
    return record;
  }

  Result<bool> Holds(const PutRequest& request) {
    if (!request.if_absent && !request.if_match) return true;
    const auto stored = TRY(OpenStored(root_, request.key));
    if (request.if_absent) return !stored;
    return stored && stored->info.etag == *request.if_match;
  }

  Status Publish(const std::string& temporary, const std::string& path) {
    {
      // The lock keeps a delete from removing the folder before the file is in it.
      const std::lock_guard lock(folders_mutex_);
      TRY(MakeFolders(path));
      TRY(files_.Rename(temporary, path));
    }
    auto synced = files_.SyncFolder(FolderOf(path));
    if (synced) return Done();
    // The rename has happened, so readers see the new object, but a power cut may undo it.
    return Error{ErrorCode::kUnknown,
                 "the object may be lost in a power cut: " + synced.error().message};
  }

  // Each folder is durable before something is put into it.
  Status MakeFolders(const std::string& path) {
    for (size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const std::string folder = path.substr(0, slash);
      const bool made = TRY(files_.MakeFolder(folder));
      if (!made) continue;
      auto synced = files_.SyncFolder(FolderOf(folder));
      if (synced) continue;
      // Otherwise the next put would believe that the folder is durable.
      (void)files_.RemoveFolder(folder).has_value();
      return std::move(synced).error();
    }
    return Done();
  }

  Status Remove(const std::string& path) {
    struct stat status {};
    const bool is_there = fstatat(root_.get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                          S_ISREG(status.st_mode);
    if (is_there) TRY(files_.Remove(path));
    // Also of one that is gone: an earlier delete may have ended between the two.
    auto synced = files_.SyncFolder(FolderOf(path));
    if (!synced && synced.error().code != ErrorCode::kNotFound) {
      return Error{ErrorCode::kUnknown,
                   "a power cut may undo the delete: " + synced.error().message};
    }
    const std::lock_guard lock(folders_mutex_);
    for (std::string folder = FolderOf(path); !folder.empty(); folder = FolderOf(folder)) {
      // If the folder cannot be removed, it stays, but it is invisible. The object is deleted.
      const auto removed = files_.RemoveFolder(folder);
      if (!removed || !*removed) break;
    }
    return Done();
  }

  const Descriptor root_;
  const Descriptor lock_;
  const Clock& clock_;
  Random& random_;
  SystemFileOps system_;
  FileOps& files_;
  std::array<std::mutex, kStripes>
      stripes_;               // By key: held from the check of the condition to the write.
  std::mutex folders_mutex_;  // Held while folders are created and removed.
};

DirectoryObjects::DirectoryObjects(std::unique_ptr<State> state) : state_(std::move(state)) {}
DirectoryObjects::~DirectoryObjects() = default;

Result<std::unique_ptr<DirectoryObjects>> DirectoryObjects::Open(const std::string& folder,
                                                                 const Clock& clock, Random& random,
                                                                 FileOps* files) {
  Descriptor root = TRY(OpenFolder(folder));
  if (mkdirat(root.get(), kOwnFolder, 0700) != 0 && errno != EEXIST) {
    return SystemError("make the folder '" + folder + "/" + kOwnFolder + "'");
  }
  Descriptor lock = TRY(LockFolder(root, folder));
  auto state = std::make_unique<State>(std::move(root), std::move(lock), clock, random, files);
  TRY(state->Recover(folder));
  return std::unique_ptr<DirectoryObjects>(new DirectoryObjects(std::move(state)));
}

Result<PutReply> DirectoryObjects::Put(const PutRequest& request) {
  TRY(objects::Validate(request));
  auto reply = state_->Put(request);
  if (!reply) return NothingDone(std::move(reply).error());
  return reply;
}

Result<std::optional<objects::ObjectInfo>> DirectoryObjects::Head(const std::string& key) {
  TRY(objects::ValidateKey(key));
  auto stored = TRY(OpenStored(state_->root(), key));
  if (!stored) return std::optional<objects::ObjectInfo>();
  return std::optional(std::move(stored->info));
}

Result<std::unique_ptr<objects::OpenObject>> DirectoryObjects::Open(const std::string& key) {
  TRY(objects::ValidateKey(key));
  auto stored = TRY(OpenStored(state_->root(), key));
  if (!stored) return std::unique_ptr<objects::OpenObject>();
  return std::unique_ptr<objects::OpenObject>(std::make_unique<OpenFile>(std::move(*stored)));
}

Result<DeleteReply> DirectoryObjects::Delete(const DeleteRequest& request) {
  TRY(objects::ValidateKey(request.key));
  auto reply = state_->Delete(request);
  if (!reply) return NothingDone(std::move(reply).error());
  return reply;
}

Result<objects::ListReply> DirectoryObjects::List(const objects::ListRequest& request) {
  TRY(objects::Validate(request));
  return ListObjects(state_->root(), request);
}

}  // namespace tidemark::directory
