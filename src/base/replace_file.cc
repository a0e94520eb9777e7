#include "base/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

namespace tidemark {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  // Each is false, with the reason in errno, also when there is nothing open.
  bool Write(std::string_view bytes) const {
    if (number_ < 0) return false;
    while (!bytes.empty()) {
      const ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }
  bool Sync() const { return number_ >= 0 && ::fsync(number_) == 0; }

 private:
  const int number_;
};

bool WriteNew(const std::string& path, std::string_view bytes) {
  ::unlink(path.c_str());  // What a process left that was killed, with whatever rights.
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file.Write(bytes) && file.Sync();
}

// A new name in a folder is durable once the folder is.
bool SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return Descriptor(
             ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
      .Sync();
}

}  // namespace

Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  const bool is_there =
      WriteNew(fresh, bytes) && std::rename(fresh.c_str(), path.c_str()) == 0 && SyncFolderOf(path);
  if (is_there) return Done{};
  const bool is_denied = errno == EACCES || errno == EPERM || errno == EROFS;
  return Error{is_denied ? ErrorCode::kDenied : ErrorCode::kUnavailable,
               fmt::format("the file {} cannot be written: {}", path, std::strerror(errno))};
}

}  // namespace tidemark
