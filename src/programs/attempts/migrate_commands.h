// `tidemark attempts migrate` on the command line: moving attempts from an old store.
#pragma once

#include "programs/command.h"

namespace tidemark::programs {

// Into the group of `tidemark attempts`. Both must live until parsing is done, the action until it
// has run.
void AddAttemptsMigrateCommands(CLI::App& group, Action* action);

}  // namespace tidemark::programs
