#include "programs/tables/copy_actions.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "programs/output.h"
#include "programs/progress.h"

namespace tidemark::programs {

namespace {

namespace fs = std::filesystem;
using embedded::EmbeddedTables;

std::string Megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// The size of all files in the folder, which may be changing.
uint64_t SizeBytes(const fs::path& folder) {
  uint64_t size_bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::end(entry); entry.increment(error)) {
    std::error_code gone;
    uint64_t length = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) size_bytes += length;
  }
  return size_bytes;
}

Result<ExitCode> PrintReport(const embedded::VerifyReport& report) {
  PrintLine(ToJson(report));
  if (report.problems.empty()) return ExitCode::kOk;
  return Error{ErrorCode::kCorrupt,
               fmt::format("verification found {} problems; the first is: {}. Restore a backup",
                           report.problems.size(), report.problems.front())};
}

Result<embedded::VerifyReport> Verify(EmbeddedTables& tables, bool shows_progress) {
  auto started = std::chrono::steady_clock::now();
  Progress progress(shows_progress, [&] {
    auto length = std::chrono::steady_clock::now() - started;
    return fmt::format("verifying for {} s",
                       std::chrono::duration_cast<std::chrono::seconds>(length).count());
  });
  return tables.Verify();
}

Status Sync(const fs::path& path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  bool synced = file >= 0 && fsync(file) == 0;
  if (file >= 0) close(file);
  if (synced) return Done{};
  return Error{ErrorCode::kUnavailable, fmt::format("cannot sync '{}' to disk", path.string())};
}

// Copies the folder and syncs every file.
Status CopyDurably(const fs::path& from, const fs::path& to) {
  fs::copy(from, to, fs::copy_options::recursive);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(to)) {
    TRY(Sync(entry.path()));
  }
  return Sync(to);
}

struct RestorePlaces {
  fs::path backup;
  fs::path partial;  // A folder beside the data folder, where the copy is made.
  fs::path data;
};

// Copies and verifies the backup in `partial`, and then renames it to `data`.
Result<embedded::VerifyReport> Restore(const RestorePlaces& places, const FolderOptions& options) {
  const auto& [backup, partial, data] = places;
  fs::create_directories(data.parent_path());
  {
    std::string total = Megabytes(SizeBytes(backup));
    Progress progress(options.progress, [&] {
      return fmt::format("{} of {} copied", Megabytes(SizeBytes(places.partial)), total);
    });
    TRY(CopyDurably(backup, partial));
  }
  embedded::VerifyReport report;
  {
    std::unique_ptr<EmbeddedTables> copy = TRY(EmbeddedTables::Open(
        {.folder = partial.string(), .create_if_missing = false, .background = false}));
    report = TRY(Verify(*copy, options.progress));
  }
  if (!report.problems.empty()) return report;
  fs::rename(partial, data);
  TRY(Sync(data.parent_path()));
  return report;
}

Status VerifyPlaces(const RestorePlaces& places) {
  const auto& [backup, partial, data] = places;
  if (!fs::is_directory(backup) || fs::is_empty(backup)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no backup in '{}': name a folder that 'tidemark tables "
                             "backup' wrote",
                             backup.string())};
  }
  const fs::path whole_backup = fs::weakly_canonical(backup);
  const fs::path whole_data = fs::weakly_canonical(data);
  if (std::mismatch(whole_backup.begin(), whole_backup.end(), whole_data.begin(), whole_data.end())
          .first == whole_backup.end()) {
    return Invalid(fmt::format(
        "the data folder '{}' is inside the backup '{}', which would be copied into itself: name "
        "another folder with --data",
        data.string(), backup.string()));
  }
  if (fs::exists(data) && !(fs::is_directory(data) && fs::is_empty(data))) {
    return Invalid(fmt::format("the data folder '{}' is not empty: name a new folder with --data",
                               data.string()));
  }
  return Done{};
}

}  // namespace

Result<ExitCode> VerifyFolder(const VerifyOptions& options) {
  std::unique_ptr<EmbeddedTables> tables = TRY(OpenDataFolder(options.folder, Use::kRead));
  return PrintReport(TRY(Verify(*tables, options.folder.progress)));
}

Result<ExitCode> BackUpFolder(const CopyOptions& options) {
  std::unique_ptr<EmbeddedTables> tables = TRY(OpenDataFolder(options.folder, Use::kWrite));
  {
    Progress progress(options.folder.progress, [&] {
      return fmt::format("{} copied", Megabytes(SizeBytes(options.backup)));
    });
    TRY(tables->Backup(options.backup));
  }
  PrintLine(fmt::format(R"({{"verified":true,"size_bytes":{}}})", SizeBytes(options.backup)));
  return ExitCode::kOk;
}

Result<ExitCode> RestoreFolder(const CopyOptions& options) {
  std::string folder = TRY(FindDataFolder(options.folder));
  // <filesystem> throws if the disk fails.
  try {
    fs::path data = fs::absolute(folder).lexically_normal();
    if (!data.has_filename()) data = data.parent_path();  // It ended with a slash.
    RestorePlaces places{options.backup, data.string() + ".restoring", data};
    TRY(VerifyPlaces(places));
    // A restore that was killed may have left this folder.
    fs::remove_all(places.partial);
    Result<embedded::VerifyReport> report = Restore(places, options.folder);
    fs::remove_all(places.partial);
    return PrintReport(TRY(std::move(report)));
  } catch (const fs::filesystem_error& error) {
    return Error{ErrorCode::kUnavailable, fmt::format("restoring failed: {}", error.what())};
  }
}

}  // namespace tidemark::programs
