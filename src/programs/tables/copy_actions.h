// The commands of `tidemark tables` that work on a whole data folder: verify, backup, restore.
//
// Each function runs one command and prints a JSON line. If verification finds a problem, it
// returns an Error with the code kCorrupt.
#pragma once

#include <string>

#include "base/result.h"
#include "programs/data_folder.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct VerifyOptions {
  FolderOptions folder;
};
Result<ExitCode> VerifyFolder(const VerifyOptions& options);

struct CopyOptions {
  FolderOptions folder;
  std::string backup;  // The folder of the backup.
};
// The backup must be missing or empty.
Result<ExitCode> BackUpFolder(const CopyOptions& options);
// The data folder must be missing or empty. It appears complete and verified, or not at all.
Result<ExitCode> RestoreFolder(const CopyOptions& options);

}  // namespace tidemark::programs
