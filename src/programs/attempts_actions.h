// What `tidemark attempts` does, for the person at the help desk: in the folder, or at a server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"
#include "programs/listing.h"

namespace tidemark::programs {

struct AttemptsCommandOptions {
  SourceOptions source;
  OutputOptions output;
  std::string subject = {};  // An id, or an e-mail address, which goes no further than its hash.
};

struct LockCommandOptions {
  AttemptsCommandOptions common;
  std::string journey = {};
  std::string classifier = {};
  std::string method = {};
  std::string kind = "STANDARD";
  std::optional<int64_t> seconds = std::nullopt;
  std::string reason = {};
};

struct StateCommandOptions {
  AttemptsCommandOptions common;
  std::string state = {};
  std::string reason = {};
  bool clear = false;
};

struct PolicyCommandOptions {
  FolderOptions folder;
  OutputOptions output;
};

Result<ExitCode> ShowAttempts(const AttemptsCommandOptions& options);
// Prints the lock that holds.
Result<ExitCode> LockSubject(const LockCommandOptions& options);
// Prints what is lifted; kNotMet when there was nothing.
Result<ExitCode> UnlockSubject(const LockCommandOptions& options);
// Prints what then stands against the subject.
Result<ExitCode> ChangeState(const StateCommandOptions& options);
// kNotMet when a rule is above attempts.max-yearly-odds.
Result<ExitCode> ShowOdds(const PolicyCommandOptions& options);
Result<ExitCode> PrintPolicy(const PolicyCommandOptions& options);

}  // namespace tidemark::programs
