// A PartialFolder is the folder in which a copy is made. When the copy is complete, it gets its
// name.
//
//   PartialFolder partial = TRY(PartialFolder::Begin("/backups/monday", kMaking));
//   ... write into partial.path() ...
//   TRY(partial.Publish());
//
// If the target is missing, the copy is made beside it (/backups/monday.making) and renamed. If it
// is an empty folder, such as the root of another disk, the copy is made in it
// (/backups/monday/tidemark.making), and its entries are moved up, TIDEMARK last: only this file
// makes it a data folder. The destructor removes what was not published.
//
// A process that is killed leaves its partial folder. The folder has a file .unfinished, which the
// process keeps locked while it lives. So if another process can lock that file, it may remove the
// folder: nobody is working on it. A complete copy has no such file, even if somebody renames it.
//
// The functions use <filesystem>, which throws when the disk fails. One thread at a time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/result.h"

namespace tidemark::programs {

inline constexpr std::string_view kMaking = ".making";        // Of a backup.
inline constexpr std::string_view kRestoring = ".restoring";  // Of a data folder that is restored.

// Whether the name has one of these endings, which no complete backup or data folder may have.
bool IsNameOfPartial(const std::filesystem::path& path);

// Removes the partial folders with this ending that killed processes left in a folder, which may be
// missing. Returns how many there were.
size_t RemoveLeftovers(const std::filesystem::path& folder, std::string_view ending);

class PartialFolder {
 public:
  // kInvalid when the target is neither missing nor empty, kUnavailable when another process is
  // making it. A folder lost+found, which the root of a disk has, does not count.
  static Result<PartialFolder> Begin(const std::filesystem::path& target, std::string_view ending);
  PartialFolder(PartialFolder&& other) noexcept;
  PartialFolder& operator=(PartialFolder&&) = delete;
  ~PartialFolder();

  const std::filesystem::path& path() const { return path_; }
  // Gives the copy its name, and makes that durable.
  Status Publish();

 private:
  PartialFolder(std::filesystem::path target, std::filesystem::path path, Descriptor lock)
      : target_(std::move(target)), path_(std::move(path)), lock_(std::move(lock)) {}
  bool is_beside() const { return path_.parent_path() == target_.parent_path(); }

  std::filesystem::path target_;
  std::filesystem::path path_;  // Empty when there is nothing to remove.
  Descriptor lock_;
};

// Puts the content of a file or the names in a folder on disk.
Status SyncToDisk(const std::filesystem::path& path);

}  // namespace tidemark::programs
