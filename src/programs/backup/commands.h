// `tidemark backup` and `tidemark restore` on the command line.
#pragma once

#include "programs/command.h"

namespace tidemark::programs {

// Both must live until parsing is done, the action until it has run.
void AddBackupCommands(CLI::App& program, Action* action);

}  // namespace tidemark::programs
