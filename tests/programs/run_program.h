// Runs the built program `tidemark` as a shell does, and returns its output.
//
//   Outcome outcome = RunProgram({.arguments = {"tables", "list"}, .folder = folder.path()});
//
// Only one run at a time in a folder.
#pragma once

#include <string>
#include <vector>

namespace tidemark::testing {

struct Run {
  std::vector<std::string> arguments;
  std::string folder;            // Where it runs.
  std::string input = "";        // Its standard input.
  std::string environment = "";  // Such as "TIDEMARK_DATA=data".
};

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

Outcome RunProgram(const Run& run);

// The whole of a file; empty when there is none.
std::string ReadFile(const std::string& path);

}  // namespace tidemark::testing
