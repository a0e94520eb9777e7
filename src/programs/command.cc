#include "programs/command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace tidemark::programs {

// The command only notes what to do. It runs after the whole line was parsed, so that a mistake in
// a later argument is reported before anything is opened or written.
CLI::App* DeclareCommand(CLI::App& parent, const CommandText& text, Action* action, Action run) {
  CLI::App* command = parent.add_subcommand(text.name, text.help);
  command->footer("Example:\n  " + text.example);
  command->callback([action, run = std::move(run)] { *action = run; });
  return command;
}

std::string GroupFooter(const std::string& words) {
  return "Exit codes:\n"
         "  0  success\n"
         "  1  a condition does not hold, an item does not exist, or a check found a problem\n"
         "  2  the command line is wrong\n"
         "  3  a folder, file or server is in use, damaged or not available\n\n"
         "Run '" +
         words + " COMMAND --help' for the help of a command.";
}

CLI::App* AddGroup(CLI::App& parent, const std::string& name, const std::string& help) {
  CLI::App* group = parent.add_subcommand(name, help);
  group->require_subcommand(1);
  std::string words = name;
  // The words that a person types before the command: "tidemark tables streams".
  for (const CLI::App* above = &parent; above != nullptr; above = above->get_parent()) {
    words = above->get_name() + " " + words;
  }
  group->footer(GroupFooter(words));
  return group;
}

void AddFolder(CLI::App& command, FolderOptions& options) {
  command.add_option("--data", options.data,
                     "The data folder (or TIDEMARK_DATA; default tidemark-data)");
  command.add_option(
      "--settings", options.settings,
      "The settings file (or TIDEMARK_SETTINGS; default tidemark.toml, if it exists)");
}

// A token without a server is a mistake: the command would read the data folder, and the person
// believes that they asked the server.
void AddSource(CLI::App& command, SourceOptions& options) {
  CLI::Option* server = command.add_option(
      "--server", options.server,
      "Ask this server, such as http://127.0.0.1:8080, instead of the data folder");
  command
      .add_option("--token-file", options.token_file,
                  "A file with the API token for the server (or TIDEMARK_API_TOKEN)")
      ->needs(server);
  AddFolder(command, options.folder);
}

void AddOutput(CLI::App& command, OutputOptions& options) {
  CLI::Option* json =
      command.add_flag("--json", options.json, "Print JSON, one value on each line");
  command
      .add_flag("--table", options.table,
                "Print a table, even if standard output is not a terminal")
      ->excludes(json);
}

void AddProgress(CLI::App& command, FolderOptions& options) {
  command.add_flag("--progress", options.progress,
                   "Print the progress every second, even if standard error is not a terminal");
}

}  // namespace tidemark::programs
