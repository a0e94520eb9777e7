// `tidemark serve`, `token`, `doctor`, `manifest` and `demo` on the command line.
#pragma once

#include "programs/command.h"

namespace tidemark::programs {

// Both must live until parsing is done, the action until it has run.
void AddServeCommands(CLI::App& program, Action* action);

}  // namespace tidemark::programs
