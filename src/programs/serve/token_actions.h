// `tidemark token`: creates, lists and revokes API tokens.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct TokenOptions {
  std::optional<std::string> settings;  // --settings
  std::optional<std::string> file;      // --tokens
  std::string name;
  bool metrics_only = false;  // --metrics-only
};

// Prints the token. Only its hash is stored, so it cannot be printed again.
Result<ExitCode> CreateApiToken(const TokenOptions& options);
Result<ExitCode> ListApiTokens(const TokenOptions& options);
Result<ExitCode> RevokeApiToken(const TokenOptions& options);

}  // namespace tidemark::programs
