// `tidemark tables streams tail`: prints the records of a table's change stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct TailOptions {
  SourceOptions source;
  std::string table;
  bool from_latest = false;       // Otherwise from the oldest stored record.
  bool follow = false;            // Waits for more at the end; returns only with an Error.
  std::optional<uint64_t> limit;  // The number of records to print.
};

// Prints a JSON line for each change, oldest first. With `follow` it opens the folder once a second
// and closes it again, so that other processes can use it. It waits while another process has it
// open.
Result<ExitCode> TailStream(const TailOptions& options);

}  // namespace tidemark::programs
