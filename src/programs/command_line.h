// The command line of the program `tidemark`: reads it, runs the command, and turns the outcome
// into an exit code.
#pragma once

#include "programs/exit_code.h"

namespace tidemark::programs {

// The whole of main. Files and folders that the process makes from now on are for its user alone.
ExitCode RunCommandLine(int argc, char** argv);

}  // namespace tidemark::programs
