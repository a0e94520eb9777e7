#include "programs/command_line.h"

#include <cstdio>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "programs/archive/commands.h"
#include "programs/attempts/commands.h"
#include "programs/backup/commands.h"
#include "programs/command.h"
#include "programs/documents/commands.h"
#include "programs/exit_code.h"
#include "programs/key/commands.h"
#include "programs/output.h"
#include "programs/serve/commands.h"
#include "programs/tables/commands.h"

namespace tidemark::programs {

namespace {

ExitCode Run(const Action& action) {
  Result<ExitCode> outcome = action();
  if (!outcome) {
    PrintMessage(fmt::format("tidemark: {}", outcome.error().message));
    return ExitCodeOf(outcome.error().code);
  }
  // Standard output is buffered, so a full disk or a closed pipe may show only now.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    PrintMessage("tidemark: could not write all of the output to standard output");
    return ExitCode::kEnvironment;
  }
  return *outcome;
}

// CLI11 would report a missing command before an unknown one, which is less helpful.
std::string ExplainUsage(const CLI::App* program, const CLI::Error& error) {
  std::vector<std::string> unknown = program->remaining(/*recurse=*/true);
  std::string what = unknown.empty() ? std::string(error.what())
                                     : fmt::format("unknown argument '{}'", unknown.front());
  return fmt::format("tidemark: {}; see --help\n", what);
}

}  // namespace

ExitCode RunCommandLine(int argc, char** argv) {
  // Every file and folder that the program makes is for its user alone.
  umask(S_IRWXG | S_IRWXO);
  CLI::App program("Tidemark keeps what must last, and forgets what must expire.", "tidemark");
  program.set_version_flag("--version", "tidemark " TIDEMARK_VERSION);
  program.require_subcommand(1);
  program.failure_message(ExplainUsage);
  program.footer(GroupFooter("tidemark"));
  Action action;
  AddServeCommands(program, &action);
  AddArchiveCommands(program, &action);
  AddAttemptsCommands(program, &action);
  AddDocumentsCommands(program, &action);
  AddTablesCommands(program, &action);
  AddKeyCommands(program, &action);
  AddBackupCommands(program, &action);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version throw too, with the exit code 0.
    return program.exit(error) == 0 ? ExitCode::kOk : ExitCode::kInvalid;
  }
  return Run(action);
}

}  // namespace tidemark::programs
