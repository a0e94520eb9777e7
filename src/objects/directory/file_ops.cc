#include "objects/directory/file_ops.h"

#include <cstdio>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "objects/directory/record.h"

namespace tidemark::directory {

namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

timespec TimeOf(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  timespec result{};
  result.tv_sec = seconds.count();
  result.tv_nsec = std::chrono::nanoseconds(time - seconds).count();
  return result;
}

Status StatusOf(int result, std::string_view doing) {
  if (result != 0) return SystemError(doing);
  return Done();
}

}  // namespace

Error SystemError(std::string_view doing) {
  // Read first, because the calls below may change it.
  const int reason = errno;
  const ErrorCode code =
      reason == ENOENT || reason == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kUnavailable;
  return {code, fmt::format("cannot {}: {}", doing, std::generic_category().message(reason))};
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

Result<Descriptor> SystemFileOps::Create(const std::string& path) {
  // O_NOFOLLOW: a link in place of the file must not lead the write to another folder.
  Descriptor file(openat(root_.get(), path.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!file.is_open()) return SystemError("make a file for the object");
  return file;
}

Status SystemFileOps::Write(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("write the object");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return Done();
}

Status SystemFileOps::SetRecord(const Descriptor& file, std::string_view record,
                                std::chrono::milliseconds modified) {
  if (fsetxattr(file.get(), kRecordAttribute, record.data(), record.size(), 0) != 0) {
    return SystemError("keep the object's metadata as an extended attribute of its file");
  }
  const timespec times[] = {TimeOf(modified), TimeOf(modified)};
  return StatusOf(futimens(file.get(), times), "set the time of the object's file");
}

Status SystemFileOps::Sync(const Descriptor& file) {
  return StatusOf(fsync(file.get()), "sync the object's file");
}

Status SystemFileOps::Rename(const std::string& from, const std::string& to) {
  return StatusOf(renameat(root_.get(), from.c_str(), root_.get(), to.c_str()),
                  "put the object's file in its place");
}

Status SystemFileOps::Remove(const std::string& path) {
  return StatusOf(unlinkat(root_.get(), path.c_str(), 0), "remove a file");
}

Result<bool> SystemFileOps::MakeFolder(const std::string& path) {
  if (mkdirat(root_.get(), path.c_str(), kFolderMode) == 0) return true;
  if (errno == EEXIST) return false;
  return SystemError("make a folder for the object");
}

Result<bool> SystemFileOps::RemoveFolder(const std::string& path) {
  if (unlinkat(root_.get(), path.c_str(), AT_REMOVEDIR) == 0) return true;
  // The folder has entries again, or another delete has removed it. Both are normal.
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT || errno == ENOTDIR) return false;
  return SystemError("remove an empty folder");
}

Status SystemFileOps::SyncFolder(const std::string& path) {
  const Descriptor folder(
      openat(root_.get(), path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return SystemError("open a folder to sync it");
  return StatusOf(fsync(folder.get()), "sync a folder");
}

Status SystemFileOps::SyncAll() { return StatusOf(syncfs(root_.get()), "sync the file system"); }

}  // namespace tidemark::directory
