// `tidemark doctor`: looks at everything that must be right before events can flow, and says of
// each what it found and what to do.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct DoctorOptions {
  std::optional<std::string> settings;  // --settings
  std::optional<std::string> data;      // --data
};

// One line a finding on standard output: ok, warning or problem. Exit code 1 when there is a
// problem.
Result<ExitCode> Examine(const DoctorOptions& options);

}  // namespace tidemark::programs
