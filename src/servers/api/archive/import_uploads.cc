#include "servers/api/archive/import_uploads.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/hashing.h"

namespace tidemark::api {

namespace {

namespace fs = std::filesystem;

constexpr size_t kIdLength = 64;
constexpr size_t kReadBytes = 1 << 20;
// After so long, an upload counts as given up when somebody begins another one.
constexpr std::chrono::minutes kGivenUpAfter(10);

Error SystemError(std::string_view doing, const std::string& path) {
  return {ErrorCode::kUnavailable, fmt::format("{} '{}': {}", doing, path, std::strerror(errno))};
}

Status WriteAll(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("writing", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Done{};
}

}  // namespace

Status ImportUploads::CheckId(const std::string& id) {
  const bool is_hex = std::ranges::all_of(
      id, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (is_hex && id.size() == kIdLength) return Done{};
  return Invalid(fmt::format(
      "'{}' is not the id of an export: it is the SHA-256 hash of the zip file, as 64 lower-case "
      "hexadecimal digits, such as `sha256sum` prints",
      id.substr(0, kIdLength)));
}

std::optional<uint64_t> ImportUploads::SizeOf(const std::string& id) const {
  std::error_code error;
  const uint64_t size = fs::file_size(PathOf(id), error);
  return error ? std::nullopt : std::optional(size);
}

Result<uint64_t> ImportUploads::Append(const std::string& id, uint64_t offset,
                                       std::string_view piece) {
  const std::lock_guard lock(mutex_);
  const uint64_t size = SizeOf(id).value_or(0);
  if (offset != size) {
    return Error{ErrorCode::kConflict,
                 fmt::format("the server has {} bytes of this export, and the piece begins at {}: "
                             "send the piece that begins at {}",
                             size, offset, size)};
  }
  TRY(MakeRoomFor(id));
  TRY(CheckDisk(piece.size()));
  const std::string path = PathOf(id);
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return SystemError("opening", path);
  if (Status written = WriteAll(file.get(), piece, path); !written) {
    // A part of the piece would be taken for all of it.
    (void)!::ftruncate(file.get(), static_cast<off_t>(size));
    return written.error();
  }
  receiving_ = id;
  received_at_ = clock_.Monotonic();
  return size + piece.size();
}

Status ImportUploads::MakeRoomFor(const std::string& id) {
  if (receiving_ == id) return Done{};
  const bool is_receiving = !receiving_.empty() && SizeOf(receiving_) &&
                            clock_.Monotonic() - received_at_ < kGivenUpAfter;
  if (is_receiving) {
    return Error{ErrorCode::kInUse,
                 fmt::format("another export ({}…) is being received: wait until it is imported, "
                             "or ten minutes after its last piece",
                             receiving_.substr(0, 8))};
  }
  std::error_code error;
  fs::create_directories(options_.folder, error);
  fs::permissions(options_.folder, fs::perms::owner_all, error);
  for (const fs::directory_entry& entry : fs::directory_iterator(options_.folder, error)) {
    if (entry.path() != PathOf(id)) fs::remove(entry.path(), error);
  }
  return Done{};
}

Status ImportUploads::CheckDisk(uint64_t bytes) const {
  std::error_code error;
  const fs::space_info space = fs::space(options_.folder, error);
  if (error || space.available >= options_.min_free_bytes + bytes) return Done{};
  return Error{ErrorCode::kUnavailable,
               fmt::format("the disk of '{}' has {} bytes free, and {} stay free "
                           "(archive.file-free-bytes): make room, and run the same command again",
                           options_.folder, space.available, options_.min_free_bytes)};
}

void ImportUploads::Finish(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (receiving_ == id) receiving_.clear();
}

Status ImportUploads::Verify(const std::string& id, const std::atomic<bool>& stop) const {
  std::ifstream file(PathOf(id), std::ios::binary);
  Sha256Stream hash;
  std::vector<char> buffer(kReadBytes);
  while (file) {
    if (stop) return Error{ErrorCode::kCancelled, "the server is stopping"};
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.Add({buffer.data(), static_cast<size_t>(file.gcount())});
  }
  if (file.eof() && ToHex(hash.Finish()) == id) return Done{};
  return Invalid("the bytes that arrived are not those of the export: send it again");
}

void ImportUploads::Remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  fs::remove(PathOf(id), error);
  if (receiving_ == id) receiving_.clear();
}

}  // namespace tidemark::api
