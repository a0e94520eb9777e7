// `tidemark archive verify` and `rebuild-index`. They work on a data folder that no server has
// open.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "programs/data_folder.h"
#include "programs/exit_code.h"
#include "programs/listing.h"

namespace tidemark::programs {

struct UpkeepOptions {
  FolderOptions folder;
  OutputOptions output;
  std::optional<std::string> team = std::nullopt;  // For rebuild-index; nullopt: all teams.
};

// kNotMet when there are problems.
Result<ExitCode> VerifyArchiveRows(const UpkeepOptions& options);
Result<ExitCode> RebuildIndex(const UpkeepOptions& options);

}  // namespace tidemark::programs
