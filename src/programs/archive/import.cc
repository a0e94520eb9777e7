#include "programs/archive/import.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/archive/import.h"
#include "programs/archive/folder.h"
#include "programs/archive/import_at_server.h"
#include "programs/interruption.h"
#include "programs/output.h"
#include "programs/progress.h"
#include "servers/api/archive/import_json.h"

namespace tidemark::programs {

namespace {

using archive::ImportProgress;
using archive::ImportReport;

double SecondsSince(std::chrono::steady_clock::time_point started) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

// "412 of 1460 files, 38 %, 61,204 messages, 20,401 a second, 40 s to go"
std::string Describe(const ImportProgress& progress, double seconds) {
  const double total = static_cast<double>(std::max<uint64_t>(progress.total_bytes, 1));
  const double done = static_cast<double>(progress.bytes) / total;
  const double rate = static_cast<double>(progress.messages) / seconds;
  std::string text =
      fmt::format("{} of {} files, {:.0f} %, {} messages, {:.0f} a second", progress.files.load(),
                  progress.total_files.load(), 100 * done, progress.messages.load(), rate);
  if (done > 0.01) text += fmt::format(", {:.0f} s to go", seconds * (1 - done) / done);
  return text;
}

archive::ImportMode ModeOf(const ImportCommandOptions& options) {
  return options.dry_run ? archive::ImportMode::kDryRun : archive::ImportMode::kStore;
}

Result<ImportReport> Run(const ImportCommandOptions& options, ArchiveFolder* folder) {
  SystemClock clock;
  archive::ImportParts parts{.clock = &clock};
  if (folder != nullptr) {
    parts.archive = &folder->archive();
    parts.tables = &folder->tables();
    parts.ledger = &folder->ledger();
    parts.state = &folder->state();
    parts.index = &folder->index();
  }
  ImportProgress so_far;
  const Interruption interruption;
  const auto started = std::chrono::steady_clock::now();
  Progress progress(options.source.folder.progress,
                    [&] { return Describe(so_far, SecondsSince(started)); });
  return archive::ImportExport(options.path,
                               {.teams = options.teams,
                                .with_private = options.with_private,
                                .mode = ModeOf(options),
                                .is_stopped = [&] { return interruption.IsAsked(); }},
                               parts, &so_far);
}

// nullptr for a dry run when there is no archive yet.
Result<std::unique_ptr<ArchiveFolder>> OpenFor(const ImportCommandOptions& options) {
  if (!options.dry_run) return ArchiveFolder::Open(options.source.folder, Use::kCreate);
  auto folder = ArchiveFolder::Open(options.source.folder, Use::kRead);
  if (!folder && folder.error().code == ErrorCode::kNotFound) {
    return std::unique_ptr<ArchiveFolder>();
  }
  return folder;
}

Result<ImportReport> ImportHere(const ImportCommandOptions& options) {
  auto opened = OpenFor(options);
  if (!opened) return WithServerHint(std::move(opened).error());
  const std::unique_ptr<ArchiveFolder> folder = *std::move(opened);
  ImportReport report = TRY(Run(options, folder.get()));
  // Close first, so that everything in the report is on disk.
  if (folder) folder->Close();
  return report;
}

void PrintForPeople(const ImportReport& report, bool dry_run) {
  const auto& messages = report.messages;
  std::string text = fmt::format(
      "{} {} from {} in {:.1f} s ({:.0f} messages a second)\n"
      "  messages   {} new, {} updated, {} unchanged\n"
      "  left out   {} joins, leaves and changes of channels\n"
      "  reactions  {} new\n"
      "  pins       {} new\n"
      "  users      {}\n"
      "  channels   {}{}\n"
      "  problems   {}{}\n",
      dry_run ? "Would import" : "Imported", fmt::join(report.teams, ", "),
      Counted(report.files, "file", "files"), report.seconds,
      static_cast<double>(report.MessageCount()) / std::max(report.seconds, 1e-9),
      messages.stored_new, messages.updated, messages.unchanged, report.left_out,
      messages.reactions, report.pins, report.users, report.channels,
      report.private_left_out == 0
          ? ""
          : fmt::format(" ({} private ones left out: --with-private takes them)",
                        report.private_left_out),
      report.problems, report.problems > report.examples.size() ? ", the first:" : "");
  for (const archive::Problem& problem : report.examples) {
    text += fmt::format("    {}: {}\n", Printable(problem.file), Printable(problem.reason));
  }
  PrintText(text);
}

}  // namespace

namespace {

// What is not imported although nothing failed.
void PrintRemarks(const ImportReport& report) {
  if (report.attachments > 0) {
    PrintMessage(fmt::format(
        "tidemark: the export contains {} attached to messages, such as {}; attachments are not "
        "imported",
        Counted(report.attachments, "file", "files"), report.first_attachment));
  }
  if (report.is_stopped) {
    PrintMessage(fmt::format(
        "tidemark: stopped after {} of {}{}. What was read is stored. Run the same command "
        "again to go on: what is stored is not stored twice",
        report.files, Counted(report.total_files, "file", "files"),
        report.last_file.empty() ? "" : fmt::format(", the last one {}", report.last_file)));
  }
}

}  // namespace

Result<ExitCode> ImportArchive(const ImportCommandOptions& options) {
  const ImportReport report =
      TRY(options.source.server ? ImportAtServer(options) : ImportHere(options));
  if (IsTable(options.output)) {
    PrintForPeople(report, options.dry_run);
  } else {
    PrintLine(api::ToJson(report, ModeOf(options)));
  }
  PrintRemarks(report);
  return report.problems == 0 && !report.is_stopped ? ExitCode::kOk : ExitCode::kNotMet;
}

}  // namespace tidemark::programs
