#include "programs/archive/upkeep.h"

#include <atomic>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "apps/archive/verify.h"
#include "base/json.h"
#include "programs/archive/folder.h"
#include "programs/output.h"
#include "programs/progress.h"

namespace tidemark::programs {

namespace {

std::string ToJson(const archive::VerifyReport& report) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("sound");
  writer.Bool(report.problems == 0);
  for (const auto& [name, count] :
       {std::pair("rows", report.rows), std::pair("messages", report.messages),
        std::pair("versions", report.versions), std::pair("channels", report.channels),
        std::pair("files", report.files), std::pair("problems", report.problems)}) {
    writer.Key(name);
    writer.Int(static_cast<int64_t>(count));
  }
  writer.Key("examples");
  writer.BeginArray();
  for (const std::string& example : report.examples) writer.String(example);
  writer.EndArray();
  writer.EndObject();
  return text;
}

Result<std::vector<slack::TeamId>> TeamsOf(ArchiveFolder& folder, const UpkeepOptions& options) {
  if (!options.team) return folder.state().Teams();
  return std::vector<slack::TeamId>{TRY(slack::TeamId::Parse(*options.team))};
}

}  // namespace

Result<ExitCode> VerifyArchiveRows(const UpkeepOptions& options) {
  const auto folder = TRY(ArchiveFolder::Open(options.folder, Use::kRead));
  objects::Objects* const objects = TRY(folder->OpenFiles());
  std::atomic<uint64_t> rows = 0;
  archive::VerifyReport report;
  {
    Progress progress(options.folder.progress,
                      [&] { return fmt::format("{} rows checked", rows.load()); });
    report = TRY(archive::VerifyArchive({.table = folder->options().archive.table,
                                         .tables = &folder->tables(),
                                         .objects = objects,
                                         .index = &folder->index()},
                                        &rows));
  }
  if (!IsTable(options.output)) {
    PrintLine(ToJson(report));
  } else {
    PrintText(
        fmt::format("{} rows checked ({} messages, {} versions, {} channels, {} files), "
                    "{} problems\n",
                    report.rows, report.messages, report.versions, report.channels, report.files,
                    report.problems));
    for (const std::string& example : report.examples) {
      PrintText("  " + Printable(example) + "\n");
    }
  }
  return report.problems == 0 ? ExitCode::kOk : ExitCode::kNotMet;
}

Result<ExitCode> RebuildIndex(const UpkeepOptions& options) {
  const auto folder = TRY(ArchiveFolder::Open(options.folder, Use::kWrite));
  for (const slack::TeamId& team : TRY(TeamsOf(*folder, options))) {
    std::atomic<uint64_t> rows = 0;
    Progress progress(options.folder.progress,
                      [&] { return fmt::format("{}: {} rows read", team.text(), rows.load()); });
    const auto report = TRY(folder->index().Rebuild(team, [&](uint64_t so_far) { rows = so_far; }));
    const auto line =
        IsTable(options.output)
            ? fmt::format("{}: {} channels in {} shards, {} entries changed", team.text(),
                          report.channels, report.shards, report.changed)
            : fmt::format(R"({{"team":"{}","channels":{},"shards":{},"changed":{}}})", team.text(),
                          report.channels, report.shards, report.changed);
    PrintLine(line);
  }
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
