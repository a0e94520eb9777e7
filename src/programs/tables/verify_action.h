// `tidemark tables verify`: checks every row of a data folder.
#pragma once

#include "base/result.h"
#include "programs/data_folder.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct VerifyOptions {
  FolderOptions folder;
};
// Prints a JSON line. If there is a problem, returns an Error with the code kCorrupt.
Result<ExitCode> VerifyFolder(const VerifyOptions& options);

}  // namespace tidemark::programs
