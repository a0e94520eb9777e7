// `tidemark serve`: runs everything in one process, until SIGINT or SIGTERM.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct ServeOptions {
  std::optional<std::string> settings;       // --settings
  std::map<std::string, std::string> flags;  // Settings that were given as flags, by name.
};

// Serves until SIGINT or SIGTERM, and then finishes the requests in progress. SIGHUP reloads the
// certificate. The first start writes a settings file and prints what to do next.
Result<ExitCode> Serve(const ServeOptions& options);

}  // namespace tidemark::programs
