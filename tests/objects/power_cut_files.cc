#include "tests/objects/power_cut_files.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "base/check.h"
#include "objects/directory/record.h"

namespace tidemark::directory {

namespace fs = std::filesystem;

namespace {

uint64_t InodeOf(const Descriptor& file) {
  struct stat status {};
  CHECK(fstat(file.get(), &status) == 0);
  return status.st_ino;
}

uint64_t InodeOf(const std::string& path) {
  struct stat status {};
  CHECK(lstat(path.c_str(), &status) == 0);
  return status.st_ino;
}

}  // namespace

PowerCutFiles::PowerCutFiles(std::string folder, std::string attic, Random* random)
    : folder_(std::move(folder)),
      attic_(std::move(attic)),
      random_(*random),
      root_(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  CHECK(root_.is_open());
}

Status PowerCutFiles::Admit() {
  ++calls_;
  if (calls_ == cut_at_) powered_ = false;
  if (!powered_) return Error{ErrorCode::kUnavailable, "the power is gone"};
  if (calls_ == fail_at_) return Error{ErrorCode::kUnavailable, "input/output error"};
  return Done();
}

std::string PowerCutFiles::Keep(const std::string& path) {
  const std::string kept = attic_ + "/" + std::to_string(kept_++);
  std::error_code error;
  fs::create_hard_link(Path(path), kept, error);
  return error ? "" : kept;
}

Result<Descriptor> PowerCutFiles::Create(const std::string& path) {
  TRY(Admit());
  const bool is_new = !fs::exists(Path(path));
  Descriptor file = TRY(system_.Create(path));
  unsynced_.insert(InodeOf(file));
  if (is_new) {
    changes_.push_back({FolderOf(path), [name = Path(path)] { fs::remove(name); }});
  }
  return file;
}

Status PowerCutFiles::Write(const Descriptor& file, std::string_view bytes) {
  TRY(Admit());
  unsynced_.insert(InodeOf(file));
  return system_.Write(file, bytes);
}

Status PowerCutFiles::SetRecord(const Descriptor& file, std::string_view record,
                                std::chrono::milliseconds modified) {
  TRY(Admit());
  unsynced_.insert(InodeOf(file));
  return system_.SetRecord(file, record, modified);
}

Status PowerCutFiles::Sync(const Descriptor& file) {
  TRY(Admit());
  unsynced_.erase(InodeOf(file));
  return Done();
}

Status PowerCutFiles::Rename(const std::string& from, const std::string& to) {
  TRY(Admit());
  const std::string kept = Keep(to);
  TRY(system_.Rename(from, to));
  changes_.push_back({FolderOf(to), [kept, old_name = Path(from), new_name = Path(to)] {
                        fs::rename(new_name, old_name);
                        if (!kept.empty()) fs::create_hard_link(kept, new_name);
                      }});
  return Done();
}

Status PowerCutFiles::Remove(const std::string& path) {
  TRY(Admit());
  const std::string kept = Keep(path);
  TRY(system_.Remove(path));
  changes_.push_back(
      {FolderOf(path), [kept, name = Path(path)] { fs::create_hard_link(kept, name); }});
  return Done();
}

Result<bool> PowerCutFiles::MakeFolder(const std::string& path) {
  TRY(Admit());
  const bool made = TRY(system_.MakeFolder(path));
  // When the creation of a folder is lost, its files are lost too, even if they were synced.
  if (made) changes_.push_back({FolderOf(path), [name = Path(path)] { fs::remove_all(name); }});
  return made;
}

Result<bool> PowerCutFiles::RemoveFolder(const std::string& path) {
  TRY(Admit());
  const bool removed = TRY(system_.RemoveFolder(path));
  if (removed) {
    changes_.push_back({FolderOf(path), [name = Path(path)] { fs::create_directory(name); }});
  }
  return removed;
}

Status PowerCutFiles::SyncFolder(const std::string& path) {
  TRY(Admit());
  if (!fs::is_directory(Path(path))) return Error{ErrorCode::kNotFound, "no such folder"};
  std::erase_if(changes_, [&](const NameChange& change) { return change.folder == path; });
  return Done();
}

Status PowerCutFiles::SyncAll() {
  TRY(Admit());
  changes_.clear();
  unsynced_.clear();
  return Done();
}

void PowerCutFiles::Restart(const Losses& losses) {
  LoseBytes(losses.bytes);
  size_t lost = losses.names == Loss::kAll ? changes_.size() : 0;
  if (losses.names == Loss::kSome) lost = random_.Below(changes_.size() + 1);
  for (; lost > 0; --lost) {
    const std::function<void()> undo = std::move(changes_.back().undo);
    changes_.pop_back();
    try {
      undo();
    } catch (const fs::filesystem_error&) {
      // An older change that is durable has already removed the folder or the name.
    }
  }
  changes_.clear();
  unsynced_.clear();
  powered_ = true;
  cut_at_ = 0;
}

void PowerCutFiles::LoseBytes(Loss loss) {
  if (loss == Loss::kNone) return;
  for (const std::string& place : {folder_, attic_}) {
    for (const auto& entry : fs::recursive_directory_iterator(place)) {
      if (entry.is_regular_file()) LoseBytesOf(entry.path().string(), loss);
    }
  }
}

void PowerCutFiles::LoseBytesOf(const std::string& path, Loss loss) {
  // A file with several names is cut only once.
  if (unsynced_.erase(InodeOf(path)) == 0) return;
  const uint64_t kept = loss == Loss::kAll ? 0 : random_.Below(fs::file_size(path) + 1);
  fs::resize_file(path, kept);
  (void)removexattr(path.c_str(), kRecordAttribute);
}

}  // namespace tidemark::directory
