#include "programs/backup/partial_folder.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace tidemark::programs {

namespace {

namespace fs = std::filesystem;

// A hidden name, because a hidden file is not an object (docs/formats/objects.md).
constexpr char kUnfinished[] = ".unfinished";
// The file that makes a folder a data folder (docs/formats/folder.md).
constexpr char kMarker[] = "TIDEMARK";
constexpr char kLostFiles[] = "lost+found";
constexpr mode_t kPrivateFile = 0600;

// Locks a partial folder. The result is not open if the folder has no such file, or if another
// process has locked it.
Descriptor TryLock(const fs::path& partial, int flags) {
  Descriptor file(
      open((partial / kUnfinished).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, kPrivateFile));
  if (file.is_open() && flock(file.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return file;
}

// False when the folder is in use, or was not left by a killed process.
bool RemoveLeftover(const fs::path& partial) {
  if (!fs::is_directory(fs::symlink_status(partial))) return false;
  const Descriptor lock = TryLock(partial, 0);
  if (!lock.is_open()) return false;
  fs::remove_all(partial);
  return true;
}

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() != kLostFiles) entries.push_back(entry.path());
  }
  return entries;
}

Status CheckEmpty(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    return Invalid(fmt::format("'{}' is not a folder: name a new folder", folder.string()));
  }
  const std::vector<fs::path> entries = EntriesOf(folder);
  if (entries.empty()) return Done{};
  return Invalid(fmt::format("the folder '{}' is not empty (it has '{}'): name a new folder",
                             folder.string(), entries.front().filename().string()));
}

}  // namespace

bool IsNameOfPartial(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == kMaking || ending == kRestoring;
}

size_t RemoveLeftovers(const fs::path& folder, std::string_view ending) {
  if (!fs::is_directory(folder)) return 0;
  return static_cast<size_t>(std::ranges::count_if(EntriesOf(folder), [&](const fs::path& entry) {
    return entry.extension() == ending && RemoveLeftover(entry);
  }));
}

Result<PartialFolder> PartialFolder::Begin(const fs::path& target, std::string_view ending) {
  const bool is_there = fs::exists(target);
  fs::path path = is_there ? target / "tidemark" : target;
  path += ending;
  fs::create_directories(path.parent_path());
  RemoveLeftovers(path.parent_path(), ending);
  if (fs::exists(fs::symlink_status(path))) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the folder '{}' exists already: if another process is making this "
                             "copy, wait until it has ended; otherwise remove the folder",
                             path.string())};
  }
  if (is_there) TRY(CheckEmpty(target));
  fs::create_directory(path);
  fs::permissions(path, fs::perms::owner_all);
  Descriptor lock = TryLock(path, O_CREAT);
  if (!lock.is_open()) {
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("cannot write into '{}': check the disk and the permissions", path.string())};
  }
  return PartialFolder(target, std::move(path), std::move(lock));
}

PartialFolder::PartialFolder(PartialFolder&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)) {}

PartialFolder::~PartialFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Status PartialFolder::Publish() {
  if (is_beside()) {
    fs::rename(path_, target_);
    path_.clear();
    fs::remove(target_ / kUnfinished);
  } else {
    for (const fs::path& entry : EntriesOf(path_)) {
      const fs::path name = entry.filename();
      if (name != kUnfinished && name != kMarker) fs::rename(entry, target_ / name);
    }
    TRY(SyncToDisk(target_));
    // A copy of objects has no marker.
    if (fs::exists(path_ / kMarker)) fs::rename(path_ / kMarker, target_ / kMarker);
    fs::remove_all(std::exchange(path_, {}));
  }
  TRY(SyncToDisk(target_));
  return SyncToDisk(target_.parent_path());
}

Status SyncToDisk(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.is_open() && fsync(file.get()) == 0) return Done{};
  return Error{ErrorCode::kUnavailable,
               fmt::format("cannot sync '{}' to disk: check the disk", path.string())};
}

}  // namespace tidemark::programs
