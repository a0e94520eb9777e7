// `tidemark archive import`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "programs/data_folder.h"
#include "programs/exit_code.h"
#include "programs/listing.h"

namespace tidemark::programs {

struct ImportCommandOptions {
  FolderOptions folder;
  std::string path;
  std::vector<std::string> teams;
  bool with_private = false;
  bool dry_run = false;
  OutputOptions output;
};

// kNotMet when a file of the export could not be read: all others are in.
Result<ExitCode> ImportArchive(const ImportCommandOptions& options);

}  // namespace tidemark::programs
