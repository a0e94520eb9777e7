#include "base/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/descriptor.h"

namespace tidemark {

namespace {

// Each returns false with the reason in errno, also when the file is not open.
bool Write(const Descriptor& file, std::string_view bytes) {
  if (!file.is_open()) return false;
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool Sync(const Descriptor& file) { return file.is_open() && ::fsync(file.get()) == 0; }

bool WriteNew(const std::string& path, std::string_view bytes) {
  ::unlink(path.c_str());  // A killed process may have left it, with any permissions.
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return Write(file, bytes) && Sync(file);
}

// A new name is durable only after its folder is synced.
bool SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return Sync(Descriptor(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

Error NotWritten(const std::string& path) {
  const bool is_denied = errno == EACCES || errno == EPERM || errno == EROFS;
  return {is_denied ? ErrorCode::kDenied : ErrorCode::kUnavailable,
          fmt::format("the file {} cannot be written: {}", path, std::strerror(errno))};
}

}  // namespace

Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  const bool is_there =
      WriteNew(fresh, bytes) && std::rename(fresh.c_str(), path.c_str()) == 0 && SyncFolderOf(path);
  if (is_there) return Done{};
  return NotWritten(path);
}

Status CreateFile(const std::string& path, std::string_view bytes) {
  const std::string fresh = fmt::format("{}.new.{}", path, ::getpid());
  Status created = Done{};
  // A link, unlike a rename, does not replace a file.
  if (!WriteNew(fresh, bytes) || ::link(fresh.c_str(), path.c_str()) != 0) {
    created = errno == EEXIST
                  ? Error{ErrorCode::kInUse, fmt::format("the file {} exists already", path)}
                  : NotWritten(path);
  }
  ::unlink(fresh.c_str());
  if (created && !SyncFolderOf(path)) return NotWritten(path);
  return created;
}

}  // namespace tidemark
