// `tidemark tables call`: any operation of DynamoDB, with its own JSON. For transactions, batches
// and everything else that has no command.
#pragma once

#include <string>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct CallOptions {
  SourceOptions source;
  std::string operation;  // Such as "TransactWriteItems".
  std::string request;    // The JSON; "-": from standard input.
};
// Prints the JSON of the reply. When a condition does not hold or a transaction is cancelled, it
// prints the JSON of the exception and returns ExitCode::kNotMet.
Result<ExitCode> CallOperation(const CallOptions& options);

}  // namespace tidemark::programs
