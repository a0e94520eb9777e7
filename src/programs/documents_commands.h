// `tidemark documents …`: changes and announcements, stored, shown, deleted and found,
// and their cache looked after.
#pragma once

#include "programs/command.h"

namespace tidemark::programs {

// Both must live until parsing is done, the action until it has run.
void AddDocumentsCommands(CLI::App& program, Action* action);

}  // namespace tidemark::programs
