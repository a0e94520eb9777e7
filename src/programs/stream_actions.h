// `tidemark tables streams tail`: prints the changes of a table, as they are in its streams.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/data_folder.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct TailOptions {
  FolderOptions folder;
  std::string table;
  bool from_latest = false;       // Else from the oldest record that is kept.
  bool follow = false;            // Waits for more at the end, and never returns without an Error.
  std::optional<uint64_t> limit;  // Of records printed.
};

// Prints a JSON line for each change, oldest first. Following, it opens the folder only to
// look, once a second, and waits while another process has it open.
Result<ExitCode> TailStream(const TailOptions& options);

}  // namespace tidemark::programs
