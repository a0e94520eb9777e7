// `tidemark tables …` on the command line: declares the commands, their options and their help.
#pragma once

#include "programs/command.h"

namespace tidemark::programs {

// Both must live until parsing is done, the action until it has run.
void AddTablesCommands(CLI::App& program, Action* action);

}  // namespace tidemark::programs
