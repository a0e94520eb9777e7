#include "programs/backup/actions.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "http/url.h"
#include "programs/backup/copy.h"
#include "programs/interruption.h"
#include "programs/output.h"
#include "programs/program_runtime.h"
#include "programs/progress.h"

namespace tidemark::programs {

namespace {

using api::BackupPhase;
using api::BackupProgress;
using api::BackupReport;

std::string Describe(std::string_view phase, uint64_t objects, uint64_t bytes) {
  if (phase == "tables") return "copying and verifying the tables";
  const std::string amount =
      fmt::format("{} objects, {:.1f} MB", objects, static_cast<double>(bytes) / 1e6);
  return fmt::format("{} {}", amount, phase == "objects" ? "copied" : "verified");
}

std::string Describe(const BackupProgress& progress) {
  const BackupPhase phase = progress.phase;
  return Describe(phase == BackupPhase::kTables    ? "tables"
                  : phase == BackupPhase::kObjects ? "objects"
                                                   : "verifying",
                  progress.objects, progress.object_bytes);
}

void WriteProblems(const std::vector<std::string>& problems, JsonWriter* writer) {
  writer->Key("problems");
  writer->BeginArray();
  for (const std::string& problem : problems) writer->String(problem);
  writer->EndArray();
}

// Prints the report of a backup that was made.
Result<ExitCode> Report(const std::string& folder, const BackupReport& report) {
  std::string line;
  JsonWriter writer(&line);
  writer.BeginObject();
  writer.Key("verified");
  writer.Bool(report.problems.empty());
  writer.Key("folder");
  writer.String(folder);
  writer.Key("objects");
  writer.Int(static_cast<int64_t>(report.objects));
  writer.Key("object_bytes");
  writer.Int(static_cast<int64_t>(report.object_bytes));
  WriteProblems(report.problems, &writer);
  writer.EndObject();
  PrintLine(line);
  if (report.problems.empty()) return ExitCode::kOk;
  return Error{ErrorCode::kCorrupt,
               fmt::format("the backup is complete except for {} damaged objects; the first: {}",
                           report.problems.size(), report.problems.front())};
}

Result<ExitCode> BackUpFolder(const BackupOptions& options) {
  const Settings settings = TRY(LoadSettings(options.source.folder));
  ProgramRuntime program(LogOptionsOf(settings));
  const Runtime runtime = program.runtime();
  auto tables = OpenDataFolder(options.source.folder, Use::kWrite);
  if (!tables) return WithServerHint(std::move(tables).error());
  auto opened = OpenObjects(settings, runtime.clock, runtime.random);
  if (!opened) return WithServerHint(std::move(opened).error());
  objects::ObservedDeletes objects(*std::move(opened));
  FolderBackup maker({.tables = tables->get(),
                      .objects = &objects,
                      .objects_folder = FindObjectsFolder(settings)});
  const Interruption interruption;
  BackupProgress state{.stop = interruption.flag()};
  BackupReport report;
  {
    Progress progress(options.source.folder.progress, [&] { return Describe(state); });
    report = TRY(maker.Make(options.backup, &state));
  }
  return Report(options.backup, report);
}

// ---- At a server ----

// How often the server is asked. Small backups are complete after some milliseconds.
constexpr std::chrono::milliseconds kFirstPause(20);
constexpr std::chrono::milliseconds kLongestPause(1000);

std::vector<std::string> TextsIn(const Json& object, std::string_view name) {
  std::vector<std::string> texts;
  if (const auto list = object.Find(name)) {
    for (const Json element : list->Elements()) {
      texts.emplace_back(element.AsString().value_or(""));
    }
  }
  return texts;
}

// Waits until the backup is complete or has failed.
Result<JsonDocument> AwaitBackup(const BackupOptions& options, ApiSource& source,
                                 JsonDocument state) {
  std::mutex mutex;
  std::string shown = "the backup begins";
  Progress progress(options.source.folder.progress, [&] {
    const std::lock_guard lock(mutex);
    return shown;
  });
  const std::string path = "/api/v1/backups/" + http::PercentEncode(options.backup);
  for (auto pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    const Json root = state.root();
    if (TextIn(root, "state") != "running") return state;
    {
      const std::lock_guard lock(mutex);
      shown = Describe(TextIn(root, "phase"), static_cast<uint64_t>(IntegerIn(root, "objects")),
                       static_cast<uint64_t>(IntegerIn(root, "object_bytes")));
    }
    std::this_thread::sleep_for(pause);
    state = TRY(source.Need(path));
  }
}

Result<ExitCode> BackUpServer(const BackupOptions& options) {
  const auto source = TRY(OpenServerSource(options.source));
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  writer.Key("name");
  writer.String(options.backup);
  writer.EndObject();
  JsonDocument begun = TRY(source->Send(
      {.method = http::Method::kPost, .path = "/api/v1/backups", .body = std::move(body)}));
  const JsonDocument state = TRY(AwaitBackup(options, *source, std::move(begun)));
  const Json root = state.root();
  if (TextIn(root, "state") != "done") {
    return Error{ErrorCode::kUnavailable,
                 "the server could not make the backup: " + TextIn(root, "error")};
  }
  return Report(TextIn(root, "folder"),
                {.objects = static_cast<uint64_t>(IntegerIn(root, "objects")),
                 .object_bytes = static_cast<uint64_t>(IntegerIn(root, "object_bytes")),
                 .problems = TextsIn(root, "problems")});
}

}  // namespace

Result<ExitCode> BackUp(const BackupOptions& options) {
  return options.source.server ? BackUpServer(options) : BackUpFolder(options);
}

Result<ExitCode> RestoreBackup(const RestoreOptions& options) {
  const Settings settings = TRY(LoadSettings(options.folder));
  const std::string data = settings.Text("data");
  const Interruption interruption;
  BackupProgress state{.stop = interruption.flag()};
  RestoreReport report;
  {
    Progress progress(options.folder.progress, [&] { return Describe(state); });
    report = TRY(Restore(
        {.backup = options.backup, .data = data, .objects = FindObjectsFolder(settings)}, &state));
  }
  std::string line;
  JsonWriter writer(&line);
  writer.BeginObject();
  writer.Key("sound");
  writer.Bool(report.objects.problems.empty());
  const std::pair<std::string_view, uint64_t> counts[] = {
      {"tables", report.tables.tables},         {"items", report.tables.items},
      {"index_rows", report.tables.index_rows}, {"stream_records", report.tables.stream_records},
      {"objects", report.objects.objects},      {"object_bytes", report.objects.object_bytes}};
  for (const auto& [name, count] : counts) {
    writer.Key(name);
    writer.Int(static_cast<int64_t>(count));
  }
  writer.Key("folder");
  writer.String(data);
  WriteProblems(report.objects.problems, &writer);
  writer.EndObject();
  PrintLine(line);
  if (report.objects.problems.empty()) return ExitCode::kOk;
  return Error{ErrorCode::kCorrupt,
               fmt::format("restored, except for {} objects that are damaged in the backup; the "
                           "first: {}",
                           report.objects.problems.size(), report.objects.problems.front())};
}

}  // namespace tidemark::programs
