// `tidemark tables …` on the command line: declares the commands, their options and their help.
#pragma once

#include <functional>

#include "base/result.h"
#include "programs/exit_code.h"

namespace CLI {
class App;
}

namespace tidemark::programs {

// What the command line asked for; set by parsing it.
using Action = std::function<Result<ExitCode>()>;

// Both must live until parsing is done, the action until it has run.
void AddTablesCommands(CLI::App& program, Action* action);

}  // namespace tidemark::programs
