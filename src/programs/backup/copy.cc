#include "programs/backup/copy.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "objects/directory/folder_copy.h"
#include "programs/backup/partial_folder.h"

namespace tidemark::programs {

namespace {

namespace fs = std::filesystem;
using api::BackupPhase;
using api::BackupProgress;
using api::BackupReport;
using embedded::EmbeddedTables;

// Where the copies of the tables and the objects are, in a data folder.
constexpr char kObjectsName[] = "objects";
constexpr char kTablesName[] = "tables";
constexpr char kMarkerName[] = "TIDEMARK";

bool IsStopped(const BackupProgress& progress) {
  return progress.stop != nullptr && *progress.stop;
}

// Fails if the tables do not fit on the disk of the copy with some free space left.
Status CheckSpace(const fs::path& tables, const fs::path& to) {
  uint64_t needed = directory::kFreeBytesAfterCopy;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tables)) {
    if (entry.is_regular_file()) needed += entry.file_size();
  }
  const uint64_t available = fs::space(to).available;
  if (available >= needed) return Done{};
  return Error{ErrorCode::kUnavailable,
               fmt::format("the disk of '{}' has {} MB left, but {} MB are needed (with {} MB that "
                           "stay free): free some space, or name a folder on another disk",
                           to.string(), available >> 20, needed >> 20,
                           directory::kFreeBytesAfterCopy >> 20)};
}

// Copies the tables and the marker of a data folder, and syncs every file.
Status CopyTables(const fs::path& from, const fs::path& to, const BackupProgress& progress) {
  const fs::path tables = from / kTablesName;
  if (fs::is_directory(tables)) {
    TRY(CheckSpace(tables, to));
    fs::create_directory(to / kTablesName);
    for (const fs::directory_entry& entry : fs::directory_iterator(tables)) {
      if (IsStopped(progress)) {
        return Error{ErrorCode::kCancelled, "the copy of the tables was interrupted"};
      }
      const fs::path copy = to / kTablesName / entry.path().filename();
      fs::copy(entry.path(), copy);
      TRY(SyncToDisk(copy));
    }
    TRY(SyncToDisk(to / kTablesName));
  }
  if (fs::exists(from / kMarkerName)) {
    fs::copy_file(from / kMarkerName, to / kMarkerName);
    TRY(SyncToDisk(to / kMarkerName));
  }
  return SyncToDisk(to);
}

bool IsInside(const fs::path& inner, const fs::path& outer) {
  const fs::path whole_inner = fs::weakly_canonical(inner);
  const fs::path whole_outer = fs::weakly_canonical(outer);
  return std::mismatch(whole_outer.begin(), whole_outer.end(), whole_inner.begin(),
                       whole_inner.end())
             .first == whole_outer.end();
}

// Without the slash at its end, so that a suffix can be added.
fs::path Plain(const std::string& folder) {
  fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

// Refuses the names of work that was interrupted. Such a folder is not complete, and later work
// removes it.
Status CheckComplete(const std::string& backup) {
  if (!IsNameOfPartial(Plain(backup))) return Done{};
  return Invalid(
      fmt::format("'{}' has the ending of a backup that is not complete: name another", backup));
}

// Other programs take a name that begins with '-' for an option, and do not show one that begins
// with '.'.
Status CheckNewName(const std::string& backup) {
  TRY(CheckComplete(backup));
  const std::string name = Plain(backup).filename().string();
  if (!name.starts_with('-') && !name.starts_with('.')) return Done{};
  return Invalid(fmt::format(
      "'{}' is not a good name for a backup, because it begins with '{}': name another, such as "
      "monday",
      backup, name[0]));
}

directory::OnObject CountIn(BackupProgress* progress) {
  return [progress](uint64_t size_bytes) {
    ++progress->objects;
    progress->object_bytes += size_bytes;
    return !IsStopped(*progress);
  };
}

void Begin(BackupPhase phase, BackupProgress* progress) {
  progress->objects = 0;
  progress->object_bytes = 0;
  progress->phase = phase;
}

// Checks the objects of a copy. The report has the problems that were found while copying.
Result<BackupReport> VerifyObjects(const fs::path& objects, std::vector<std::string> problems,
                                   BackupProgress* progress) {
  Begin(BackupPhase::kVerifying, progress);
  const directory::FolderReport report =
      TRY(directory::VerifyFolder(objects.string(), CountIn(progress)));
  if (!report.problems.empty()) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the copy of the objects does not verify ({} problems; the first: "
                             "{}): check the disk",
                             report.problems.size(), report.problems[0])};
  }
  return BackupReport{
      .objects = report.objects, .object_bytes = report.bytes, .problems = std::move(problems)};
}

// Calls `work`, which may use <filesystem>: that throws when the disk fails.
template <typename T>
Result<T> Guarded(std::string_view doing, const std::function<Result<T>()>& work) {
  try {
    return work();
  } catch (const fs::filesystem_error& error) {
    return Error{ErrorCode::kUnavailable, fmt::format("{} failed: {}", doing, error.what())};
  }
}

}  // namespace

// ---- Backup ----

namespace {

// Ends the observation also when the work throws: the observer uses variables of the caller.
class ObservedUntilEnd {
 public:
  explicit ObservedUntilEnd(objects::ObservedDeletes* objects) : objects_(*objects) {}
  ~ObservedUntilEnd() { objects_.Observe(nullptr); }
  ObservedUntilEnd(const ObservedUntilEnd&) = delete;
  ObservedUntilEnd& operator=(const ObservedUntilEnd&) = delete;

 private:
  objects::ObservedDeletes& objects_;
};

}  // namespace

Result<BackupReport> FolderBackup::Make(const std::string& folder, BackupProgress* progress) {
  TRY(CheckNewName(folder));
  const fs::path target = Plain(folder);
  return Guarded<BackupReport>("the backup", [&]() -> Result<BackupReport> {
    if (IsInside(target, stores_.objects_folder)) {
      return Invalid(
          fmt::format("the folder '{}' is inside of the objects, which are copied: name "
                      "another",
                      folder));
    }
    PartialFolder partial = TRY(PartialFolder::Begin(target, kMaking));
    BackupReport report = TRY(MakeIn(partial.path().string(), progress));
    TRY(partial.Publish());
    return report;
  });
}

Result<BackupReport> FolderBackup::MakeIn(const std::string& partial, BackupProgress* progress) {
  const fs::path objects = fs::path(partial) / kObjectsName;
  const auto copy = TRY(directory::FolderCopy::Open(stores_.objects_folder, objects.string()));
  Status kept = Done{};
  std::mutex mutex;
  const Status copied = [&]() -> Status {
    const ObservedUntilEnd observed(stores_.objects);
    stores_.objects->Observe([&](const std::string& key) {
      Status saved = copy->Copy(key);
      const std::lock_guard lock(mutex);
      if (!saved) kept = std::move(saved);
    });
    Begin(BackupPhase::kTables, progress);
    TRY(stores_.tables->Backup(partial, progress->stop));
    Begin(BackupPhase::kObjects, progress);
    return copy->CopyAll(CountIn(progress));
  }();
  if (!copied) return copied.error();
  if (!kept) return kept.error();
  TRY(copy->Sync());
  return VerifyObjects(objects, copy->problems(), progress);
}

Result<size_t> RemoveInterruptedBackups(const std::string& folder) {
  return Guarded<size_t>("removing interrupted backups",
                         [&]() -> Result<size_t> { return RemoveLeftovers(folder, kMaking); });
}

// ---- Restore ----

namespace {

Status CheckPlaces(const RestorePlaces& places) {
  if (!fs::is_directory(places.backup) || fs::is_empty(places.backup)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no backup in '{}': name a folder that 'tidemark backup' "
                             "wrote",
                             places.backup)};
  }
  for (const std::string& folder : {places.data, places.objects}) {
    if (IsInside(folder, places.backup)) {
      return Invalid(fmt::format(
          "the data folder '{}' is inside the backup '{}', which would be copied into itself: name "
          "another folder with --data",
          folder, places.backup));
    }
  }
  return Done{};
}

Result<BackupReport> CopyObjects(const fs::path& from, const fs::path& to,
                                 BackupProgress* progress) {
  Begin(BackupPhase::kObjects, progress);
  auto copy = directory::FolderCopy::Open(from.string(), to.string());
  // A backup of tables alone has none.
  if (!copy && copy.error().code == ErrorCode::kNotFound) return BackupReport{};
  if (!copy) return std::move(copy).error();
  TRY((*copy)->CopyAll(CountIn(progress)));
  TRY((*copy)->Sync());
  return VerifyObjects(to, (*copy)->problems(), progress);
}

// The problems that verification found in the copy, as an error.
Status ToStatus(const embedded::VerifyReport& report) {
  if (report.problems.empty()) return Done{};
  return Error{ErrorCode::kCorrupt,
               fmt::format("the backup does not verify ({} problems; the first: {}): restore "
                           "another one",
                           report.problems.size(), report.problems[0])};
}

}  // namespace

Result<RestoreReport> Restore(const RestorePlaces& places, BackupProgress* progress) {
  TRY(CheckComplete(places.backup));
  const fs::path data = Plain(places.data);
  const fs::path objects = Plain(places.objects);
  const fs::path inner = objects.lexically_relative(data);
  const bool is_inside = !inner.empty() && *inner.begin() != "..";
  return Guarded<RestoreReport>("restoring", [&]() -> Result<RestoreReport> {
    TRY(CheckPlaces(places));
    RestoreReport report;
    PartialFolder partial = TRY(PartialFolder::Begin(data, kRestoring));
    std::optional<PartialFolder> partial_objects;
    if (!is_inside) partial_objects.emplace(TRY(PartialFolder::Begin(objects, kRestoring)));
    const fs::path objects_copy = is_inside ? partial.path() / inner : partial_objects->path();
    Begin(BackupPhase::kTables, progress);
    TRY(CopyTables(places.backup, partial.path(), *progress));
    {
      const auto tables = TRY(EmbeddedTables::Open(
          {.folder = partial.path().string(), .create_if_missing = false, .background = false}));
      report.tables = TRY(tables->Verify(progress->stop));
      TRY(ToStatus(report.tables));
    }
    const fs::path backed_up = fs::path(places.backup) / kObjectsName;
    report.objects = TRY(CopyObjects(backed_up, objects_copy, progress));
    if (partial_objects) TRY(partial_objects->Publish());
    TRY(partial.Publish());
    return report;
  });
}

}  // namespace tidemark::programs
