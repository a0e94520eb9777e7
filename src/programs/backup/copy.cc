#include "programs/backup/copy.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <mutex>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "objects/directory/folder_copy.h"

namespace tidemark::programs {

namespace {

namespace fs = std::filesystem;
using api::BackupPhase;
using api::BackupProgress;
using api::BackupReport;
using embedded::EmbeddedTables;

// Where the copies of the tables and the objects are, in a data folder.
constexpr char kObjectsName[] = "objects";

Status Sync(const fs::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.is_open() && fsync(file.get()) == 0) return Done{};
  return Error{ErrorCode::kUnavailable, fmt::format("cannot sync '{}' to disk", path.string())};
}

// Copies the folder without the objects in it, and syncs every file.
Status CopyTables(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    if (entry.path().filename() == kObjectsName) continue;
    fs::copy(entry.path(), to / entry.path().filename(), fs::copy_options::recursive);
  }
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(to)) {
    TRY(Sync(entry.path()));
  }
  return Sync(to);
}

bool IsMissingOrEmpty(const fs::path& folder) {
  return !fs::exists(folder) || (fs::is_directory(folder) && fs::is_empty(folder));
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

// Refuses the names of work that was interrupted. Such a folder is not complete, and the next work
// of the same name removes it.
Status CheckComplete(const std::string& backup) {
  const std::string extension = Plain(backup).extension().string();
  if (extension != ".making" && extension != ".restoring") return Done{};
  return Invalid(
      fmt::format("'{}' is the name of a backup that is not complete: name another", backup));
}

// Gives the folder its name, which makes it visible, and makes that durable.
Status Publish(const fs::path& partial, const fs::path& folder) {
  fs::rename(partial, folder);  // Replaces an empty folder.
  return Sync(folder.parent_path());
}

directory::OnObject CountIn(BackupProgress* progress) {
  return [progress](uint64_t size_bytes) {
    ++progress->objects;
    progress->object_bytes += size_bytes;
    return !progress->stop;
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

// Calls `work`, which may use <filesystem>: that throws when the disk fails. What is left of
// `partial` is removed.
template <typename T>
Result<T> WithPartial(const std::vector<fs::path>& partial, std::string_view doing,
                      const std::function<Result<T>()>& work) {
  const auto remove = [&] {
    for (const fs::path& path : partial) {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };
  remove();  // Work that was killed may have left it.
  Result<T> result = [&]() -> Result<T> {
    try {
      return work();
    } catch (const fs::filesystem_error& error) {
      return Error{ErrorCode::kUnavailable, fmt::format("{} failed: {}", doing, error.what())};
    }
  }();
  remove();
  return result;
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
  TRY(CheckComplete(folder));
  const fs::path target = Plain(folder);
  const fs::path partial = target.string() + ".making";
  return WithPartial<BackupReport>({partial}, "the backup", [&]() -> Result<BackupReport> {
    if (!IsMissingOrEmpty(target)) {
      return Invalid(fmt::format("the folder '{}' is not empty: name a new one", folder));
    }
    if (IsInside(target, stores_.objects_folder)) {
      return Invalid(
          fmt::format("the folder '{}' is inside of the objects, which are copied: name "
                      "another",
                      folder));
    }
    fs::create_directories(target.parent_path());
    BackupReport report = TRY(MakeIn(partial.string(), progress));
    TRY(Publish(partial, target));
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
    TRY(stores_.tables->Backup(partial));
    Begin(BackupPhase::kObjects, progress);
    return copy->CopyAll(CountIn(progress));
  }();
  if (!copied) return copied.error();
  if (!kept) return kept.error();
  TRY(copy->Sync());
  return VerifyObjects(objects, copy->problems(), progress);
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
    if (!IsMissingOrEmpty(folder)) {
      return Invalid(
          fmt::format("the data folder '{}' is not empty: name a new folder with --data", folder));
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
  const fs::path partial = data.string() + ".restoring";
  const fs::path inner = objects.lexically_relative(data);
  const bool is_inside = !inner.empty() && *inner.begin() != "..";
  const fs::path partial_objects =
      is_inside ? partial / inner : fs::path(objects.string() + ".restoring");
  return WithPartial<RestoreReport>(
      {partial, partial_objects}, "restoring", [&]() -> Result<RestoreReport> {
        TRY(CheckPlaces(places));
        fs::create_directories(data.parent_path());
        RestoreReport report;
        Begin(BackupPhase::kTables, progress);
        TRY(CopyTables(places.backup, partial));
        {
          const auto tables = TRY(EmbeddedTables::Open(
              {.folder = partial.string(), .create_if_missing = false, .background = false}));
          report.tables = TRY(tables->Verify());
          TRY(ToStatus(report.tables));
        }
        const fs::path copied_objects = fs::path(places.backup) / kObjectsName;
        report.objects = TRY(CopyObjects(copied_objects, partial_objects, progress));
        const bool has_objects = fs::exists(partial_objects);
        if (!is_inside && has_objects) TRY(Publish(partial_objects, objects));
        TRY(Publish(partial, data));
        return report;
      });
}

}  // namespace tidemark::programs
