// Declares the commands of `tidemark`: name, help, example, and the function that runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/data_folder.h"
#include "programs/exit_code.h"
#include "programs/listing.h"

namespace CLI {
class App;
}

namespace tidemark::programs {

// The function to run. Parsing the command line sets it.
using Action = std::function<Result<ExitCode>()>;

struct CommandText {
  std::string name;
  std::string help;
  std::string example;
};

// Declares a command. If the command line names it, parsing sets `*action` to `run`.
CLI::App* DeclareCommand(CLI::App& parent, const CommandText& text, Action* action, Action run);

// The same for a function with options, which parsing fills in.
template <typename Options>
std::pair<CLI::App*, std::shared_ptr<Options>> AddCommand(CLI::App& parent, const CommandText& text,
                                                          Action* action,
                                                          Result<ExitCode> (*run)(const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      DeclareCommand(parent, text, action, [options, run] { return run(*options); });
  return {command, options};
}

// The end of the help of a group: exit codes, and how to get the help of a command. `words` is the
// group as the user types it, such as "tidemark tables".
std::string GroupFooter(const std::string& words);
// Declares a command that only contains other commands.
CLI::App* AddGroup(CLI::App& parent, const std::string& name, const std::string& help);

// Adds the flags of commands that use a data folder: --data and --settings.
void AddFolder(CLI::App& command, FolderOptions& options);
// Adds --progress, for commands that may take long.
void AddProgress(CLI::App& command, FolderOptions& options);
// Adds --server and --token-file as well, for commands that can ask a server instead.
void AddSource(CLI::App& command, SourceOptions& options);
// Adds --json and --table.
void AddOutput(CLI::App& command, OutputOptions& options);

}  // namespace tidemark::programs
