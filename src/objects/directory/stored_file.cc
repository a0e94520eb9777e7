#include "objects/directory/stored_file.h"

#include <algorithm>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/hashing.h"
#include "objects/directory/file_ops.h"
#include "objects/directory/key_path.h"
#include "objects/directory/record.h"

namespace tidemark::directory {

namespace {

Error Corrupt(const std::string& key, std::string_view what) {
  return {ErrorCode::kCorrupt, fmt::format("the object '{}' is damaged: {}; restore it from a "
                                           "backup, or put it again",
                                           key, what)};
}

std::chrono::nanoseconds ModifiedAt(const struct stat& status) {
  return std::chrono::seconds(status.st_mtim.tv_sec) +
         std::chrono::nanoseconds(status.st_mtim.tv_nsec);
}

Result<std::optional<Record>> ReadRecord(const Descriptor& file, const std::string& key) {
  std::string bytes(kMaxRecordBytes, '\0');
  const ssize_t size = fgetxattr(file.get(), kRecordAttribute, bytes.data(), bytes.size());
  if (size < 0 && errno == ENODATA) return std::optional<Record>();
  if (size < 0 && errno != ERANGE) return SystemError("read the metadata of '" + key + "'");
  // ERANGE: the attribute is larger than any record that we write, so it is damaged and decodes to
  // nothing.
  bytes.resize(size < 0 ? 0 : static_cast<size_t>(size));
  auto record = DecodeRecord(bytes);
  if (!record) return Corrupt(key, "its record (content type, metadata, hash) is not readable");
  return record;
}

Result<std::string> HashOf(const Descriptor& file) {
  Sha256Stream hasher;
  for (uint64_t offset = 0;;) {
    const std::string piece = TRY(ReadAt(file, offset, kPieceBytes));
    if (piece.empty()) return hasher.Finish();
    hasher.Add(piece);
    offset += piece.size();
  }
}

void UseRecord(Record record, StoredFile* stored) {
  stored->info.etag = EtagOf(record);
  stored->info.content_type = std::move(record.content_type);
  stored->info.metadata = std::move(record.metadata);
  stored->sha256 = std::move(record.sha256);
}

bool IsOf(const Record& record, const struct stat& status) {
  return record.size == static_cast<uint64_t>(status.st_size) &&
         record.modified == ModifiedAt(status);
}

// The properties of a file with this status and this record.
Status Describe(std::optional<Record> record, const struct stat& status, StoredFile* stored) {
  stored->info.size = static_cast<uint64_t>(status.st_size);
  stored->info.modified = std::chrono::floor<std::chrono::milliseconds>(ModifiedAt(status));
  if (record && IsOf(*record, status)) {
    UseRecord(std::move(*record), stored);
    return Done();
  }
  // Another program has changed or copied the file. Only its hash says whether the record still
  // describes it. This reads the whole file.
  stored->sha256 = TRY(HashOf(stored->file));
  if (record && record->sha256 == stored->sha256) {
    UseRecord(std::move(*record), stored);
    return Done();
  }
  stored->info.etag = ToHex(stored->sha256);
  stored->info.content_type = "application/octet-stream";
  return Done();
}

}  // namespace

Result<std::string> ReadAt(const Descriptor& file, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t count =
        pread(file.get(), bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("read the object");
    if (count == 0) break;
    have += static_cast<size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

Result<std::optional<StoredFile>> OpenStored(const Descriptor& root, const std::string& key) {
  StoredFile stored;
  // O_NONBLOCK: opening a FIFO must not block. It is then rejected, because it is not a file.
  stored.file = Descriptor(
      openat(root.get(), PathOfKey(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!stored.file.is_open()) {
    const bool is_absent = errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENXIO;
    if (is_absent) return std::optional<StoredFile>();
    return SystemError("open the object '" + key + "'");
  }
  struct stat status {};
  if (fstat(stored.file.get(), &status) != 0) return SystemError("look at the object");
  if (!S_ISREG(status.st_mode)) return std::optional<StoredFile>();
  stored.info.key = key;
  auto record = TRY(ReadRecord(stored.file, key));
  TRY(Describe(std::move(record), status, &stored));
  return std::optional(std::move(stored));
}

Result<std::string> OpenFile::Read(uint64_t offset, size_t size) {
  const uint64_t left = stored_.info.size - std::min(offset, stored_.info.size);
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(size, left));
  std::string bytes = TRY(ReadAt(stored_.file, offset, wanted));
  if (bytes.size() < wanted) return Corrupt(stored_.info.key, "it is shorter than it was");
  TRY(Check(offset, bytes));
  return bytes;
}

Status OpenFile::Check(uint64_t offset, const std::string& bytes) {
  // The hash covers the whole object. So only a reader that reads it in order, from the beginning
  // to the end, can compare it. Other reads are not checked.
  if (offset == 0) {
    hasher_ = Sha256Stream();
    hashed_ = 0;
  }
  if (offset != hashed_ || (bytes.empty() && stored_.info.size > 0)) return Done();
  hasher_.Add(bytes);
  hashed_ += bytes.size();
  if (hashed_ < stored_.info.size || hasher_.Finish() == stored_.sha256) return Done();
  return Corrupt(stored_.info.key,
                 "its bytes are not those of its ETag, or another program is writing them");
}

}  // namespace tidemark::directory
