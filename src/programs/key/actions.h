// `tidemark key`: creates, lists and revokes access keys of the DynamoDB port.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct KeyOptions {
  SourceOptions source;
  std::string name;
  std::vector<std::string> tables;  // --table; empty: all.
  std::vector<std::string> writes;  // --write
  bool read_only = false;           // --read-only
};

// Prints the key as the variables that AWS's programs read. Its secret is stored encrypted and
// cannot be printed again.
Result<ExitCode> CreateAccessKey(const KeyOptions& options);
Result<ExitCode> ListAccessKeys(const KeyOptions& options);
Result<ExitCode> RevokeAccessKey(const KeyOptions& options);

}  // namespace tidemark::programs
