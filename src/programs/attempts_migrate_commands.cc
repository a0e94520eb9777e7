#include "programs/attempts_migrate_commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "programs/attempts_source.h"
#include "programs/output.h"

namespace tidemark::programs {

namespace {

constexpr const char* kPath = "/api/v1/attempts/migration";
// All subjects of both stores are copied and compared before the answer.
constexpr std::chrono::hours kPatience(24);

struct MigrateOptions {
  SourceOptions source;
  OutputOptions output;
  bool force = false;
  bool copy = false;
};

std::string MomentOf(const Json& object, std::string_view name) {
  const auto value = object.Find(name);
  const int64_t at = value ? value->AsInt().value_or(0) : 0;
  if (at == 0) return "-";
  return FormatTime(at);
}

void PrintStatus(const OutputOptions& output, const Json& status) {
  Printer printer(output, {{"PHASE"}, {"SINCE"}, {"DRIFT"}, {"LAST DRIFT"}, {"MAY GO ON"}},
                  [](const Json& one) {
                    return Cells{CellOf(one, "phase"), MomentOf(one, "since"), CellOf(one, "drift"),
                                 MomentOf(one, "last_drift_at"), MomentOf(one, "ready_at")};
                  });
  printer.Print(status);
}

Result<ExitCode> ShowStatus(const MigrateOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kWrite));
  const JsonDocument status = TRY(source->Need(kPath));
  PrintStatus(options.output, status.root());
  return ExitCode::kOk;
}

// kNotMet when the phase is as it was, with the reason on standard error.
Result<ExitCode> Move(const MigrateOptions& options, const std::string& step,
                      const std::string& body) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kWrite));
  const JsonDocument moved = TRY(source->Send({.method = http::Method::kPost,
                                               .path = fmt::format("{}/{}", kPath, step),
                                               .body = body,
                                               .patience = kPatience}));
  PrintStatus(options.output, moved.root());
  const std::string held_by = CellOf(moved.root(), "held_by");
  if (held_by.empty()) return ExitCode::kOk;
  PrintMessage(fmt::format("tidemark: not yet: {}", held_by));
  return ExitCode::kNotMet;
}

Result<ExitCode> Advance(const MigrateOptions& options) { return Move(options, "advance", "{}"); }

Result<ExitCode> Back(const MigrateOptions& options) {
  return Move(options, "back", fmt::format(R"({{"force":{}}})", options.force));
}

// kNotMet when the stores differ.
Result<ExitCode> Verify(const MigrateOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kWrite));
  const JsonDocument compared =
      TRY(source->Send({.method = http::Method::kPost,
                        .path = fmt::format("{}/verify", kPath),
                        .body = fmt::format(R"({{"copy":{}}})", options.copy),
                        .patience = kPatience}));
  Printer printer(
      options.output, {{"SUBJECTS"}, {"ROWS"}, {"PERMANENT"}, {"DIFFERING"}, {"FOR EXAMPLE"}},
      [](const Json& one) {
        return Cells{CellOf(one, "subjects"), CellOf(one, "rows"), CellOf(one, "permanent"),
                     CellOf(one, "differing"), Printable(CellOf(one, "example"))};
      });
  printer.Print(compared.root());
  const auto differing = compared.root().Find("differing");
  return differing && differing->AsInt() == 0 ? ExitCode::kOk : ExitCode::kNotMet;
}

using Run = Result<ExitCode> (*)(const MigrateOptions&);

MigrateOptions& AddStep(CLI::App& parent, const CommandText& text, Action* action, Run run,
                        CLI::App** added) {
  auto [command, options] = AddCommand<MigrateOptions>(parent, text, action, run);
  AddOutput(*command, options->output);
  AddSource(*command, options->source);
  *added = command;
  return *options;
}

}  // namespace

void AddAttemptsMigrateCommands(CLI::App& group, Action* action) {
  CLI::App* migrate = AddGroup(group, "migrate", "Move attempts from an old store, in five phases");
  CLI::App* command = nullptr;
  AddStep(*migrate,
          {"status", "Show the phase, since when, and what was seen to differ",
           "tidemark attempts migrate status"},
          action, &ShowStatus, &command);
  AddStep(*migrate,
          {"advance", "Go on to the next phase; exit 1 and the reason when it is too early",
           "tidemark attempts migrate advance"},
          action, &Advance, &command);
  MigrateOptions& back = AddStep(*migrate,
                                 {"back", "Go back to the phase before, without losing anything",
                                  "tidemark attempts migrate back"},
                                 action, &Back, &command);
  command->add_flag("--force", back.force,
                    "Without copying, for when a store is lost: what only that one knew is lost");
  MigrateOptions& verify =
      AddStep(*migrate,
              {"verify", "Compare all subjects of both stores; exit 1 when they differ",
               "tidemark attempts migrate verify --copy"},
              action, &Verify, &command);
  command->add_flag("--copy", verify.copy, "First copy to each store what it lacks");
}

}  // namespace tidemark::programs
