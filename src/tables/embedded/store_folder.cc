#include "tables/embedded/store_folder.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>
#include <rocksdb/env.h>
#include <rocksdb/status.h>

#include "tables/embedded/status.h"
#include "tables/embedded/store.h"

namespace tidemark::embedded {

namespace {

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

void MakePrivate(const std::string& folder) { (void)!::chmod(folder.c_str(), S_IRWXU); }

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

Status StoreFolder::Prepare(const Options& options) const {
  const rocksdb::Status marked = env_->FileExists(marker_file());
  if (!marked.ok() && !marked.IsNotFound()) return OpenError(marked, path_);
  if (marked.ok()) {
    std::string text;
    const rocksdb::Status read = rocksdb::ReadFileToString(env_, marker_file(), &text);
    if (!read.ok()) return OpenError(read, path_);
    return CheckMarkerText(text, path_);
  }
  const std::string child = TRY(FirstChild());
  if (!child.empty()) {
    return Invalid(
        fmt::format("the folder '{}' is not empty and not a data folder of tidemark "
                    "(it holds '{}', perhaps of a backup that was cut short); name another",
                    path_, child));
  }
  if (!options.create_if_missing || options.access == Access::kReadOnly) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no data folder '{}'; create a table to make it, or name "
                             "another",
                             path_)};
  }
  TRY(Make());
  return WriteMarker();
}

Result<std::string> StoreFolder::FirstChild() const {
  std::vector<std::string> children;
  const rocksdb::Status listed = env_->GetChildren(path_, &children);
  const bool missing = listed.IsNotFound() || Mentions(listed, "No such file");
  if (!listed.ok() && !missing) return OpenError(listed, path_);
  for (const std::string& child : children) {
    // A crash while the folder was made leaves TIDEMARK.new. The folder of objects may be there
    // before the first table, and .unfinished is in a backup until it is complete.
    static constexpr std::string_view kNotCounted[] = {".", "..", "TIDEMARK.new", "objects",
                                                       ".unfinished"};
    if (std::ranges::find(kNotCounted, child) == std::end(kNotCounted)) return child;
  }
  return std::string();
}

// Creates a folder and syncs its parent, so that the folder's name is on disk.
Status StoreFolder::MakeOne(const std::string& folder) const {
  const size_t slash = folder.rfind('/');
  const std::string parent =
      slash == std::string::npos ? "." : folder.substr(0, std::max<size_t>(slash, 1));
  const bool is_new = !env_->FileExists(folder).ok();
  rocksdb::Status status = env_->CreateDirIfMissing(folder);
  if (status.ok() && is_new) MakePrivate(folder);
  if (status.ok()) status = Sync(parent);
  if (!status.ok()) return OpenError(status, path_);
  return Done{};
}

Status StoreFolder::Make() const {
  // Parents first: a user may name "data/here" when there is no "data" yet.
  for (size_t slash = path_.find('/', 1); slash != std::string::npos;
       slash = path_.find('/', slash + 1)) {
    const std::string parent = path_.substr(0, slash);
    if (!env_->FileExists(parent).ok()) TRY(MakeOne(parent));
  }
  return MakeOne(path_);
}

Status StoreFolder::WriteMarker() const {
  // Written aside and renamed, so that a crash leaves a whole marker or none.
  const std::string aside = marker_file() + ".new";
  rocksdb::Status status = rocksdb::WriteStringToFile(env_, MarkerText(), aside, true);
  if (status.ok()) status = env_->RenameFile(aside, marker_file());
  if (status.ok()) status = Sync(path_);
  if (!status.ok()) return OpenError(status, path_);
  return Done{};
}

// ---- Copies ----

void StoreFolder::RemoveLinks() const {
  // RocksDB makes the folder under the second name and renames it.
  for (const std::string& folder : {links(), links() + ".tmp"}) {
    std::vector<std::string> names;
    if (!env_->GetChildren(folder, &names).ok()) continue;
    for (const std::string& name : names) {
      if (name == "." || name == "..") continue;
      env_->DeleteFile(folder + "/" + name).PermitUncheckedError();
    }
    env_->DeleteDir(folder).PermitUncheckedError();
  }
}

Status StoreFolder::TakeDatabase(const std::string& links, StopFlag stop) const {
  // Fails when this folder is on another disk.
  if (!env_->RenameFile(links, database()).ok()) TRY(CopyDatabase(links, stop));
  MakePrivate(database());
  return Done{};
}

Status StoreFolder::CopyDatabase(const std::string& links, StopFlag stop) const {
  std::vector<std::string> names;
  rocksdb::Status status = env_->GetChildren(links, &names);
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  uint64_t needed = kFreeBytesAfterCopy;
  for (const std::string& name : names) {
    uint64_t size = 0;
    if (status.ok()) status = env_->GetFileSize(links + "/" + name, &size);
    needed += size;
  }
  uint64_t free_bytes = 0;
  if (status.ok()) status = env_->GetFreeSpace(path_, &free_bytes);
  if (!status.ok()) return ToError(status, "measuring the tables");
  if (free_bytes < needed) {
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("the disk of the copy has {} MB left, but {} MB are needed (with {} MB "
                    "that stay free): free some space, or copy to another disk",
                    free_bytes >> 20, needed >> 20, kFreeBytesAfterCopy >> 20)};
  }
  TRY(MakeOne(database()));
  for (const std::string& name : names) {
    TRY(CopyFile(links + "/" + name, database() + "/" + name, stop));
  }
  return Done{};
}

Status StoreFolder::CopyFile(const std::string& from, const std::string& to, StopFlag stop) const {
  constexpr size_t kPieceBytes = 1 << 20;
  std::unique_ptr<rocksdb::SequentialFile> source;
  std::unique_ptr<rocksdb::WritableFile> target;
  rocksdb::Status status = env_->NewSequentialFile(from, &source, {});
  if (status.ok()) status = env_->NewWritableFile(to, &target, {});
  std::string scratch(kPieceBytes, '\0');
  for (rocksdb::Slice piece(scratch); status.ok() && !piece.empty();) {
    if (stop != nullptr && *stop) {
      return Error{ErrorCode::kCancelled, "the copy of the tables was interrupted"};
    }
    status = source->Read(scratch.size(), &piece, scratch.data());
    if (status.ok()) status = target->Append(piece);
  }
  if (status.ok()) status = target->Close();
  if (!status.ok()) return ToError(status, "copying the file '" + from + "'");
  return Done{};
}

rocksdb::Status StoreFolder::Sync(const std::string& folder) const {
  std::unique_ptr<rocksdb::Directory> directory;
  const rocksdb::Status status = env_->NewDirectory(folder, &directory);
  return status.ok() ? directory->Fsync() : status;
}

// Syncs every file of the database, and the folders, so that the names are on disk too.
rocksdb::Status StoreFolder::SyncDatabase() const {
  std::vector<std::string> names;
  rocksdb::Status status = env_->GetChildren(database(), &names);
  for (const std::string& name : names) {
    std::unique_ptr<rocksdb::WritableFile> file;
    if (name == "." || name == "..") continue;
    if (status.ok()) status = env_->ReopenWritableFile(database() + "/" + name, &file, {});
    if (status.ok()) status = file->Fsync();
  }
  if (status.ok()) status = Sync(database());
  return status.ok() ? Sync(path_) : status;
}

}  // namespace tidemark::embedded
