#include "programs/attempts/migrate_commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "programs/attempts/source.h"
#include "programs/output.h"

namespace tidemark::programs {

namespace {

constexpr const char* kPath = "/api/v1/attempts/migration";
// Going back from the phase `new` empties the old store before it is answered.
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
  Printer printer(output,
                  {{"PHASE"}, {"SINCE"}, {"DRIFT"}, {"LAST DRIFT"}, {"MAY GO ON"}, {"VISITED"}},
                  [](const Json& one) {
                    return Cells{CellOf(one, "phase"),      MomentOf(one, "since"),
                                 CellOf(one, "drift"),      MomentOf(one, "last_drift_at"),
                                 MomentOf(one, "ready_at"), CellOf(one, "visited")};
                  });
  printer.Print(status);
}

Result<ExitCode> ShowStatus(const MigrateOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kWrite));
  const JsonDocument status = TRY(source->Need(kPath));
  PrintStatus(options.output, status.root());
  return ExitCode::kOk;
}

// Visiting all subjects may take minutes. The server answers every few seconds how far it is, and
// goes on with the next call: so does a command that is started again after it was interrupted.
Result<JsonDocument> AskUntilDone(ApiSource& source, const std::string& step,
                                  std::string_view flag) {
  constexpr int kSliceSeconds = 5;
  for (;;) {
    JsonDocument answer =
        TRY(source.Send({.method = http::Method::kPost,
                         .path = fmt::format("{}/{}", kPath, step),
                         .body = fmt::format(R"({{{}"for_seconds":{}}})", flag, kSliceSeconds),
                         .patience = kPatience}));
    const auto more = answer.root().Find("more");
    if (!more || !more->AsBool().value_or(false)) return answer;
    PrintMessage(fmt::format("tidemark: {} subjects visited, {} a second",
                             CellOf(answer.root(), "visited"),
                             CellOf(answer.root(), "visited_per_second")));
  }
}

// kNotMet when the phase has not changed; the reason is on standard error.
Result<ExitCode> Move(const MigrateOptions& options, const std::string& step,
                      std::string_view flag) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kWrite));
  const JsonDocument moved = TRY(AskUntilDone(*source, step, flag));
  PrintStatus(options.output, moved.root());
  const std::string held_by = CellOf(moved.root(), "held_by");
  if (held_by.empty()) return ExitCode::kOk;
  PrintMessage(fmt::format("tidemark: not yet: {}", held_by));
  return ExitCode::kNotMet;
}

Result<ExitCode> Advance(const MigrateOptions& options) { return Move(options, "advance", ""); }

Result<ExitCode> Back(const MigrateOptions& options) {
  return Move(options, "back", fmt::format(R"("force":{},)", options.force));
}

// kNotMet when the stores differ.
Result<ExitCode> Verify(const MigrateOptions& options) {
  const auto source = TRY(OpenAttemptsSource(options.source, Use::kWrite));
  const JsonDocument compared =
      TRY(AskUntilDone(*source, "verify", fmt::format(R"("copy":{},)", options.copy)));
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
          {"status", "Show the phase, when it began, and the differences that were seen",
           "tidemark attempts migrate status"},
          action, &ShowStatus, &command);
  AddStep(*migrate,
          {"advance", "Go to the next phase; exit 1 with the reason when it is too early",
           "tidemark attempts migrate advance"},
          action, &Advance, &command);
  MigrateOptions& back = AddStep(*migrate,
                                 {"back", "Go back to the previous phase, without losing anything",
                                  "tidemark attempts migrate back"},
                                 action, &Back, &command);
  command->add_flag(
      "--force", back.force,
      "Do not copy first. Use it if a store is lost; rows that only that store had are lost");
  MigrateOptions& verify =
      AddStep(*migrate,
              {"verify", "Compare all subjects of both stores; exit 1 when they differ",
               "tidemark attempts migrate verify --copy"},
              action, &Verify, &command);
  command->add_flag("--copy", verify.copy,
                    "Then copy to each store the rows that it lacks; run it again to see that "
                    "nothing differs");
}

}  // namespace tidemark::programs
