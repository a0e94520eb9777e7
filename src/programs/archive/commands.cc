#include "programs/archive/commands.h"

#include <string>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "programs/archive/actions.h"
#include "programs/archive/import.h"
#include "programs/archive/upkeep.h"
#include "programs/command.h"

namespace tidemark::programs {

namespace {

void AddRead(CLI::App& command, ArchiveReadOptions& options) {
  AddOutput(command, options.output);
  command.add_option("--team", options.source.team, "The id of the team, when there are several");
  AddSource(command, options.source);
}

CLI::Option* AddChannel(CLI::App& command, ArchiveReadOptions& options) {
  return command.add_option("channel", options.channel,
                            "The channel's id or name, or the permalink of a message");
}

CLI::Option* AddTs(CLI::App& command, ArchiveReadOptions& options) {
  return command.add_option("ts", options.ts,
                            "The message's ts, its permalink, or the p… at the end of that");
}

void AddChannels(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ArchiveReadOptions>(
      parent, {"channels", "List the channels", "tidemark archive channels"}, action,
      &ListChannels);
  AddRead(*command, *options);
}

void AddPeople(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ArchiveReadOptions>(
      parent, {"people", "List the people, with their names", "tidemark archive people"}, action,
      &ListPeople);
  AddRead(*command, *options);
}

void AddEmoji(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ArchiveReadOptions>(
      parent, {"emoji", "List the custom emoji that events have named", "tidemark archive emoji"},
      action, &ListEmoji);
  AddRead(*command, *options);
}

void AddMessages(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<MessagesOptions>(
      parent,
      {"messages", "List messages of a channel, by time",
       "tidemark archive messages general --from 2024-05-01 --to 2024-05-31 --limit 0"},
      action, &ListMessages);
  AddChannel(*command, options->read)->required();
  command->add_option("--from", options->from,
                      "From this time on: a ts, epoch seconds, 2024-05-01 or 2024-05-01T10:00:00Z");
  command->add_option("--to", options->to,
                      "Up to this time, in the same formats; a day is included");
  command->add_flag("--newest-first", options->newest_first, "Start with the newest");
  command->add_option("--limit", options->limit, "How many at most; 0 means all")
      ->capture_default_str();
  AddRead(*command, options->read);
}

void AddThread(CLI::App& parent, Action* action) {
  auto [command, options] =
      AddCommand<ArchiveReadOptions>(parent,
                                     {"thread", "Show a thread, its root first",
                                      "tidemark archive thread general 1714557600.000100"},
                                     action, &ShowThread);
  AddChannel(*command, *options)->required();
  AddTs(*command, *options);
  AddRead(*command, *options);
}

void AddMessage(CLI::App& parent, Action* action) {
  auto [command, options] =
      AddCommand<ArchiveReadOptions>(parent,
                                     {"message", "Show a message with its versions and reactions",
                                      "tidemark archive message C01234567 p1714557600000100"},
                                     action, &ShowMessage);
  AddChannel(*command, *options)->required();
  AddTs(*command, *options);
  AddRead(*command, *options);
}

void AddFiles(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<FilesCommandOptions>(
      parent,
      {"files",
       "List the files of a message, and save them; without a message, list the messages whose "
       "files could not be fetched",
       "tidemark archive files general 1714557600.000100 --save downloads"},
      action, &ListFiles);
  AddChannel(*command, options->read);
  AddTs(*command, options->read);
  command->add_option("--save", options->save,
                      "A folder to write them to; it is created if it is missing");
  AddRead(*command, options->read);
}

void AddRetryFiles(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ArchiveReadOptions>(
      parent,
      {"retry-files", "Fetch files again that could not be fetched: of a message, or all",
       "tidemark archive retry-files --server http://127.0.0.1:8080 --token-file token"},
      action, &RetryFiles);
  AddChannel(*command, *options);
  AddTs(*command, *options);
  AddRead(*command, *options);
}

void AddCoverage(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ArchiveReadOptions>(
      parent,
      {"coverage", "Show what is known to be complete, and what is known to be lost",
       "tidemark archive coverage general"},
      action, &ShowCoverage);
  AddChannel(*command, *options);
  AddRead(*command, *options);
}

void AddStatus(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ArchiveReadOptions>(
      parent,
      {"status", "Show how much there is, and how far the background work is",
       "tidemark archive status --server http://127.0.0.1:8080 --token-file token"},
      action, &ShowStatus);
  AddRead(*command, *options);
}

void AddVerify(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<UpkeepOptions>(
      parent,
      {"verify", "Check every row, file and index entry; exit 1 when one is wrong",
       "tidemark archive verify --progress"},
      action, &VerifyArchiveRows);
  AddProgress(*command, options->folder);
  AddOutput(*command, options->output);
  AddFolder(*command, options->folder);
}

void AddRebuildIndex(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<UpkeepOptions>(
      parent,
      {"rebuild-index", "Rebuild the channel index from the rows of the channels",
       "tidemark archive rebuild-index"},
      action, &RebuildIndex);
  command->add_option("--team", options->team, "Only for this team");
  AddProgress(*command, options->folder);
  AddOutput(*command, options->output);
  AddFolder(*command, options->folder);
}

void AddImport(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<ImportCommandOptions>(
      parent,
      {"import", "Import an export of Slack; what is already stored stays as it is",
       "tidemark archive import export.zip --progress\n"
       "  tidemark archive import export.zip --server http://127.0.0.1:8080"},
      action, &ImportArchive);
  command
      ->add_option("export", options->path,
                   "The zip file, or the folder it was unpacked into; with --server, the zip file, "
                   "which is sent to the server")
      ->required();
  command
      ->add_option("--team", options->teams,
                   "The id of its team, when the export does not say; NAME=ID for the folder "
                   "teams/NAME of Enterprise Grid; may be repeated")
      ->allow_extra_args(false)
      ->type_size(1);
  command->add_flag("--with-private", options->with_private,
                    "Also import private channels and direct messages, if the export has them");
  command->add_flag("--dry-run", options->dry_run,
                    "Show what would be imported, and write nothing");
  AddProgress(*command, options->source.folder);
  AddOutput(*command, options->output);
  AddSource(*command, options->source);
}

}  // namespace

void AddArchiveCommands(CLI::App& program, Action* action) {
  CLI::App* group = AddGroup(program, "archive", "Read, fill, check and repair the archive");
  for (auto add : {AddChannels, AddPeople, AddEmoji, AddMessages, AddThread, AddMessage, AddFiles,
                   AddRetryFiles, AddCoverage, AddStatus, AddImport, AddVerify, AddRebuildIndex}) {
    add(*group, action);
  }
}

}  // namespace tidemark::programs
