// The actions of `tidemark attempts`, for the help desk: on a data folder, or at a server.
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
  std::string subject = {};  // An id, or an e-mail address, which is hashed at once.
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

struct LockedCommandOptions {
  SourceOptions source;
  OutputOptions output;
  std::string since = {};
  std::string until = {};
  std::string journey = {};
  std::string classifier = {};
  std::string reason = {};
  bool ceiling = false;
};

struct PolicyCommandOptions {
  FolderOptions folder;
  OutputOptions output;
};

Result<ExitCode> ShowAttempts(const AttemptsCommandOptions& options);
// Prints the lock that holds.
Result<ExitCode> LockSubject(const LockCommandOptions& options);
// Prints the locks that it lifts; kNotMet when there is none.
Result<ExitCode> UnlockSubject(const LockCommandOptions& options);
// Prints all subjects that are locked.
Result<ExitCode> ListLocked(const LockedCommandOptions& options);
// Prints the subjects and locks that it lifts; kNotMet when there are none.
Result<ExitCode> UnlockAll(const LockedCommandOptions& options);
// Prints the states, locks and counts of the subject after the change.
Result<ExitCode> ChangeState(const StateCommandOptions& options);
// kNotMet when the odds of a rule are above attempts.max-odds or attempts.max-yearly-odds.
Result<ExitCode> ShowOdds(const PolicyCommandOptions& options);
Result<ExitCode> PrintPolicy(const PolicyCommandOptions& options);

}  // namespace tidemark::programs
