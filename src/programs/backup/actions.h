// `tidemark backup` and `tidemark restore`: copies of all tables and objects.
//
// Each function runs one command and prints a JSON line. If verification finds a problem, it
// returns an Error with the code kCorrupt.
#pragma once

#include <string>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct BackupOptions {
  SourceOptions source;
  // The folder to write. At a server: a name in the server's folder of backups.
  std::string backup;
};
// The folder must be missing or empty.
Result<ExitCode> BackUp(const BackupOptions& options);

struct RestoreOptions {
  FolderOptions folder;
  std::string backup;
};
// The data folder must be missing or empty. It appears complete and verified, or not at all.
Result<ExitCode> RestoreBackup(const RestoreOptions& options);

}  // namespace tidemark::programs
