#include "objects/directory/folder_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "objects/directory/file_ops.h"
#include "objects/directory/folder_names.h"
#include "objects/directory/key_path.h"
#include "objects/directory/record.h"
#include "objects/directory/stored_file.h"

namespace tidemark::directory {

namespace {

constexpr size_t kMaxProblems = 100;  // A longer list would not help anybody.

void AddProblem(const Error& error, std::vector<std::string>* problems) {
  if (problems->size() < kMaxProblems) problems->push_back(error.message);
}

Error Stopped() { return {ErrorCode::kCancelled, "it was interrupted"}; }

// Calls `visit` with the key of every object below the path.
Status WalkKeys(const Descriptor& root, const std::string& path,
                const std::function<Status(const std::string& key)>& visit) {
  for (const FolderName& name : TRY(ReadNames(root, path))) {
    const std::string inner = path.empty() ? name.text : path + "/" + name.text;
    if (name.is_folder) {
      TRY(WalkKeys(root, inner, visit));
    } else if (const auto key = KeyOfPath(inner)) {
      TRY(visit(*key));
    }
  }
  return Done{};
}

Status MakeFolders(const Descriptor& root, const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (mkdirat(root.get(), folder.c_str(), 0700) != 0 && errno != EEXIST) {
      return SystemError("make the folder '" + folder + "' of the copy");
    }
  }
  return Done{};
}

Status WriteAll(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write the copy of an object");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Done{};
}

// The record, as its bytes are, and the time: the record is valid only together with the time.
Status CopyProperties(const Descriptor& from, const Descriptor& to) {
  std::string record(kMaxRecordBytes, '\0');
  const ssize_t size = fgetxattr(from.get(), kRecordAttribute, record.data(), record.size());
  if (size < 0 && errno != ENODATA) return SystemError("read the metadata of an object");
  const bool has_record = size >= 0;
  if (has_record &&
      fsetxattr(to.get(), kRecordAttribute, record.data(), static_cast<size_t>(size), 0) != 0) {
    return SystemError(
        "store the metadata of an object (the file system of the copy needs extended attributes)");
  }
  struct stat status {};
  if (fstat(from.get(), &status) != 0) return SystemError("look at an object");
  const timespec times[2] = {status.st_atim, status.st_mtim};
  if (futimens(to.get(), times) != 0) return SystemError("set the time of the copy of an object");
  return Done{};
}

// Reads the object to its end, which checks its hash. `take` gets the pieces.
Status ReadWhole(OpenFile* object, const std::function<Status(std::string_view)>& take) {
  const uint64_t size = object->info().size;
  for (uint64_t offset = 0; offset < size;) {
    const std::string piece = TRY(object->Read(offset, kPieceBytes));
    TRY(take(piece));
    offset += piece.size();
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<FolderCopy>> FolderCopy::Open(const std::string& from, const std::string& to,
                                                     uint64_t min_free_bytes) {
  Descriptor source(open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!source.is_open()) {
    const bool is_missing = errno == ENOENT;
    Error error = SystemError("open the folder of objects '" + from + "'");
    if (is_missing) error.code = ErrorCode::kNotFound;
    return error;
  }
  std::error_code failed;
  std::filesystem::create_directories(to, failed);
  Descriptor target(open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (failed || !target.is_open()) return SystemError("make the folder '" + to + "'");
  return std::unique_ptr<FolderCopy>(
      new FolderCopy(std::move(source), std::move(target), min_free_bytes));
}

Status FolderCopy::CheckSpaceFor(uint64_t size_bytes) const {
  struct statvfs disk {};
  if (fstatvfs(to_.get(), &disk) != 0) return SystemError("ask for the free space of the copy");
  const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  if (free_bytes >= size_bytes && free_bytes - size_bytes >= min_free_bytes_) return Done{};
  return Error{ErrorCode::kUnavailable,
               fmt::format("the disk of the copy has {} MB left, and {} MB must stay free: free "
                           "some space, or copy to another disk",
                           free_bytes >> 20, min_free_bytes_ >> 20)};
}

Status FolderCopy::Copy(const std::string& key) {
  TRY(CopyOne(key));
  return Done{};
}

Result<uint64_t> FolderCopy::CopyOne(const std::string& key) {
  const auto damaged = [&](const Error& error) {
    const std::lock_guard lock(mutex_);
    AddProblem(error, &problems_);
  };
  auto stored = OpenStored(from_, key);
  if (!stored && stored.error().code == ErrorCode::kCorrupt) {
    damaged(stored.error());
    return uint64_t{0};
  }
  if (!stored) return std::move(stored).error();
  if (!*stored) return uint64_t{0};
  const uint64_t size = (*stored)->info.size;
  const Descriptor source(dup((*stored)->file.get()));
  if (!source.is_open()) return SystemError("open an object again");
  TRY(CheckSpaceFor(size));
  const std::string path = PathOfKey(key);
  TRY(MakeFolders(to_, path));
  const Descriptor target(
      openat(to_.get(), path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // Another thread copied it, or is doing so.
  if (!target.is_open() && errno == EEXIST) return size;
  if (!target.is_open()) return SystemError("make the copy of the object '" + key + "'");
  OpenFile object(*std::move(*stored));
  Status copied =
      ReadWhole(&object, [&](std::string_view piece) { return WriteAll(target, piece); });
  if (copied) copied = CopyProperties(source, target);
  if (copied) return size;
  unlinkat(to_.get(), path.c_str(), 0);
  if (copied.error().code != ErrorCode::kCorrupt) return std::move(copied).error();
  damaged(copied.error());
  return uint64_t{0};
}

Status FolderCopy::CopyAll(const OnObject& on_object) {
  return WalkKeys(from_, "", [&](const std::string& key) -> Status {
    const uint64_t size_bytes = TRY(CopyOne(key));
    if (on_object(size_bytes)) return Done{};
    return Stopped();
  });
}

Status FolderCopy::Sync() const {
  if (syncfs(to_.get()) != 0) return SystemError("sync the copy of the objects");
  return Done{};
}

std::vector<std::string> FolderCopy::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

Result<FolderReport> VerifyFolder(const std::string& folder, const OnObject& on_object) {
  FolderReport report;
  const Descriptor root(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open() && errno == ENOENT) return report;
  if (!root.is_open()) return SystemError("open the folder of objects '" + folder + "'");
  TRY(WalkKeys(root, "", [&](const std::string& key) -> Status {
    auto stored = OpenStored(root, key);
    if (stored && !*stored) return Done{};
    Status read = Done{};
    uint64_t size_bytes = 0;
    if (stored) {
      OpenFile object(*std::move(*stored));
      size_bytes = object.info().size;
      read = ReadWhole(&object, [](std::string_view) { return Done{}; });
    } else {
      read = std::move(stored).error();
    }
    if (!read && read.error().code != ErrorCode::kCorrupt) return read;
    if (!read) AddProblem(read.error(), &report.problems);
    ++report.objects;
    report.bytes += size_bytes;
    if (on_object(size_bytes)) return Done{};
    return Stopped();
  }));
  return report;
}

}  // namespace tidemark::directory
