// The program `tidemark`: reads the command line, runs the command it asks for, and turns
// the outcome into an exit code.
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "programs/archive_commands.h"
#include "programs/attempts_commands.h"
#include "programs/command.h"
#include "programs/documents_commands.h"
#include "programs/exit_code.h"
#include "programs/output.h"
#include "programs/serve_commands.h"
#include "programs/tables_commands.h"

namespace tidemark::programs {

namespace {

ExitCode Run(const Action& action) {
  Result<ExitCode> outcome = action();
  if (!outcome) {
    PrintMessage(fmt::format("tidemark: {}", outcome.error().message));
    return ExitCodeOf(outcome.error().code);
  }
  // A full disk or a closed pipe shows here at the latest: what was printed is not all there is.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    PrintMessage("tidemark: the output could not be written in full");
    return ExitCode::kEnvironment;
  }
  return *outcome;
}

// CLI11 says first that a command is missing, and not that the one given is unknown.
std::string Explain(const CLI::App* program, const CLI::Error& error) {
  std::vector<std::string> unknown = program->remaining(/*recurse=*/true);
  std::string what = unknown.empty() ? std::string(error.what())
                                     : fmt::format("'{}' is not known here", unknown.front());
  return fmt::format("tidemark: {}; see --help\n", what);
}

ExitCode Main(int argc, char** argv) {
  CLI::App program("Tidemark keeps what must last and forgets what must not, and can prove both.",
                   "tidemark");
  program.set_version_flag("--version", "tidemark " TIDEMARK_VERSION);
  program.require_subcommand(1);
  program.failure_message(Explain);
  program.footer(GroupFooter("tidemark"));
  Action action;
  AddServeCommands(program, &action);
  AddArchiveCommands(program, &action);
  AddAttemptsCommands(program, &action);
  AddDocumentsCommands(program, &action);
  AddTablesCommands(program, &action);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version come this way too, with the exit code 0.
    return program.exit(error) == 0 ? ExitCode::kOk : ExitCode::kInvalid;
  }
  return Run(action);
}

}  // namespace

}  // namespace tidemark::programs

int main(int argc, char** argv) { return static_cast<int>(tidemark::programs::Main(argc, argv)); }
