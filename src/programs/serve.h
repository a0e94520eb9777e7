// `tidemark serve`: everything in one process, until it is told to stop.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct ServeOptions {
  std::optional<std::string> settings;       // --settings
  std::map<std::string, std::string> flags;  // The settings given as flags, by their names.
};

// Serves until SIGINT or SIGTERM, and then answers what is under way; SIGHUP reads the certificate
// again. On the first start writes a settings file and says what to do next.
Result<ExitCode> Serve(const ServeOptions& options);

}  // namespace tidemark::programs
