// The program `tidemark`. Everything that it does is in a library, so that tests can replace it.
#include "programs/command_line.h"

int main(int argc, char** argv) {
  return static_cast<int>(tidemark::programs::RunCommandLine(argc, argv));
}
