#include "tests/programs/run_program.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

#include <fmt/format.h>

#include "base/check.h"

namespace tidemark::testing {

namespace {

// Puts the text in single quotes, in which a shell interprets only the single quote.
std::string Quote(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Outcome RunProgram(const Run& run) {
  std::ofstream(run.folder + "/stdin", std::ios::binary) << run.input;
  // A variable of the machine's environment must not influence the test.
  std::string command = fmt::format("cd {} && env -u TIDEMARK_DATA {} {}", Quote(run.folder),
                                    run.environment, Quote(TIDEMARK_PROGRAM));
  for (const std::string& argument : run.arguments) command += " " + Quote(argument);
  command += " < stdin > stdout 2> stderr";
  int status = std::system(command.c_str());
  CHECK(WIFEXITED(status));
  return {.exit_code = WEXITSTATUS(status),
          .out = ReadFile(run.folder + "/stdout"),
          .err = ReadFile(run.folder + "/stderr")};
}

}  // namespace tidemark::testing
