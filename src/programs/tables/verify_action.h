// `tidemark tables verify`: checks every row of a data folder, or of a server's.
#pragma once

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct VerifyOptions {
  SourceOptions source;
};
// Prints a JSON line. If there is a problem, returns an Error with the code kCorrupt.
Result<ExitCode> VerifyTables(const VerifyOptions& options);

}  // namespace tidemark::programs
