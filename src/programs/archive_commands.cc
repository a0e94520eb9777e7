#include "programs/archive_commands.h"

#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "programs/archive_import.h"

namespace tidemark::programs {

namespace {

void AddFolder(CLI::App& command, FolderOptions& options) {
  command.add_option("--data", options.data,
                     "The folder that holds the tables (TIDEMARK_DATA; default tidemark-data)");
  command.add_option("--settings", options.settings,
                     "A settings file (TIDEMARK_SETTINGS; default tidemark.toml, if there)");
}

void AddProgress(CLI::App& command, FolderOptions& options) {
  command.add_flag("--progress", options.progress,
                   "Say every second how far it is, also when standard error is no terminal");
}

void AddOutput(CLI::App& command, OutputOptions& options) {
  CLI::Option* json = command.add_flag("--json", options.json, "Print JSON, one value a line");
  command.add_flag("--table", options.table, "Print a table, also when nobody looks at it")
      ->excludes(json);
}

void AddImport(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ImportCommandOptions>(
      parent,
      {"import", "Take in an export of Slack; what is there already stays as it is",
       "tidemark archive import export.zip --progress"},
      action, &ImportArchive);
  command->add_option("export", options->path, "The zip file, or the folder it was unpacked into")
      ->required();
  command
      ->add_option("--team", options->teams,
                   "The id of its team, when the export does not say; NAME=ID for the folder "
                   "teams/NAME of Enterprise Grid; may be repeated")
      ->allow_extra_args(false)
      ->type_size(1);
  command->add_flag("--with-private", options->with_private,
                    "Private channels and direct messages too, if the export has them");
  command->add_flag("--dry-run", options->dry_run, "Say what would be done, and write nothing");
  AddProgress(*command, options->folder);
  AddOutput(*command, options->output);
  AddFolder(*command, options->folder);
}

}  // namespace

void AddArchiveCommands(CLI::App& program, Action* action) {
  CLI::App* group = AddGroup(program, "archive", "Read, fill, check and repair the archive");
  AddImport(*group, action);
}

}  // namespace tidemark::programs
