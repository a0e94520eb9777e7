#include "programs/backup/commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "programs/backup/actions.h"

namespace tidemark::programs {

void AddBackupCommands(CLI::App& program, Action* action) {
  auto [backup, backup_options] = AddCommand<BackupOptions>(
      program,
      {"backup", "Copy all tables and objects into a new folder, and verify the copy",
       "tidemark backup /backups/monday --data data\n"
       "  tidemark backup monday --server http://127.0.0.1:8080"},
      action, &BackUp);
  backup
      ->add_option("folder", backup_options->backup,
                   "The folder to write, which must be missing or empty; with --server, a name in "
                   "the server's folder of backups (its setting backup.folder)")
      ->required();
  AddSource(*backup, backup_options->source);
  AddProgress(*backup, backup_options->source.folder);

  auto [restore, restore_options] = AddCommand<RestoreOptions>(
      program,
      {"restore", "Copy a backup into a new data folder, and verify the copy",
       "tidemark restore /backups/monday --data restored"},
      action, &RestoreBackup);
  restore->add_option("folder", restore_options->backup, "The folder of the backup")->required();
  AddFolder(*restore, restore_options->folder);
  AddProgress(*restore, restore_options->folder);
}

}  // namespace tidemark::programs
