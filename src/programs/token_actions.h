// `tidemark token`: makes, lists and revokes the tokens of the API.
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
};

// Prints the token, once; only its hash is kept.
Result<ExitCode> CreateApiToken(const TokenOptions& options);
Result<ExitCode> ListApiTokens(const TokenOptions& options);
Result<ExitCode> RevokeApiToken(const TokenOptions& options);

}  // namespace tidemark::programs
