// `tidemark archive` on the command line.
#pragma once

#include "programs/command.h"

namespace tidemark::programs {

// Both must live until parsing is done, and the action until it has run.
void AddArchiveCommands(CLI::App& program, Action* action);

}  // namespace tidemark::programs
