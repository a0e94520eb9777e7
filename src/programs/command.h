// How a command of `tidemark` is declared: its name, help and example, and what runs it.
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

// What the command line asked for; set by parsing it.
using Action = std::function<Result<ExitCode>()>;

struct CommandText {
  std::string name;
  std::string help;
  std::string example;
};

// Declares a command; when the command line asks for it, `action` becomes `run`.
CLI::App* DeclareCommand(CLI::App& parent, const CommandText& text, Action* action, Action run);

// Likewise, for what runs with options that parsing fills in.
template <typename Options>
std::pair<CLI::App*, std::shared_ptr<Options>> AddCommand(CLI::App& parent, const CommandText& text,
                                                          Action* action,
                                                          Result<ExitCode> (*run)(const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      DeclareCommand(parent, text, action, [options, run] { return run(*options); });
  return {command, options};
}

// What the help of a command that holds others ends with; `words` are how it is called.
std::string GroupFooter(const std::string& words);
// A command that only holds others.
CLI::App* AddGroup(CLI::App& parent, const std::string& name, const std::string& help);

// The flags of commands on a data folder: --data and --settings.
void AddFolder(CLI::App& command, FolderOptions& options);
// Likewise --progress, of those that may take long.
void AddProgress(CLI::App& command, FolderOptions& options);
// --server and --token-file too, of those that ask a server instead when they are told.
void AddSource(CLI::App& command, SourceOptions& options);
// The flags that choose between a table and JSON.
void AddOutput(CLI::App& command, OutputOptions& options);

}  // namespace tidemark::programs
