// Declares the commands `tidemark key …`.
#pragma once

#include "programs/command.h"

namespace tidemark::programs {

void AddKeyCommands(CLI::App& program, Action* action);

}  // namespace tidemark::programs
