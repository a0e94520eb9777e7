// The command line of `tidemark documents …`: the subcommands and their options.
#pragma once

#include "programs/command.h"

namespace tidemark::programs {

// Both must live until parsing is done, the action until it has run.
void AddDocumentsCommands(CLI::App& program, Action* action);

}  // namespace tidemark::programs
