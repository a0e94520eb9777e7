// `tidemark doctor`: checks everything that must be right before the server can accept events, and
// prints what it found and what to do.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct DoctorOptions {
  std::optional<std::string> settings;  // --settings
  std::optional<std::string> data;      // --data
  std::optional<std::string> server;    // --server, if it is not at the address of the settings
};

// Prints one line for each finding to standard output: ok, warning or problem. The exit code is 1
// if there is a problem.
Result<ExitCode> Examine(const DoctorOptions& options);

}  // namespace tidemark::programs
