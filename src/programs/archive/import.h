// `tidemark archive import`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"
#include "programs/listing.h"

namespace tidemark::programs {

struct ImportCommandOptions {
  SourceOptions source;
  std::string path;
  std::vector<std::string> teams;
  bool with_private = false;
  bool dry_run = false;
  OutputOptions output;
};

// kNotMet when something of the export could not be used, or when the import was interrupted. The
// rest is imported.
Result<ExitCode> ImportArchive(const ImportCommandOptions& options);

}  // namespace tidemark::programs
