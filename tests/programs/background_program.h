// A BackgroundProgram is the built program `tidemark`, running beside the test.
//
//   BackgroundProgram server({.arguments = {"serve"}, .folder = folder.path()});
//   ASSERT_TRUE(server.AwaitError("serving address="));
//   server.Send(SIGTERM);
//   EXPECT_EQ(server.AwaitExit(), 0);
//
// Its environment is only what is given, plus the sanitizer options of the test. Its output goes to
// files in its folder. A wait ends as soon as its condition holds. After five minutes the test
// fails. The destructor kills a program that is still running. One thread at a time.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/programs/run_program.h"

namespace tidemark::testing {

struct BackgroundRun {
  std::vector<std::string> arguments;
  std::string folder;                         // Where it runs.
  std::vector<std::string> environment = {};  // Such as "TIDEMARK_DATA=data".
  int most_descriptors = 0;                   // 0: as many as the test may have.
  // Instead of the arguments: a line for a shell, which begins with variables or the program.
  std::string line = "";
};

class BackgroundProgram {
 public:
  explicit BackgroundProgram(const BackgroundRun& run);
  ~BackgroundProgram();
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  // Waits until the text has appeared `times` times on standard error. Returns what follows it, up
  // to the next space or line end; nullopt when the program ends first.
  std::optional<std::string> AwaitError(const std::string& text, int times = 1);

  void Send(int signal) const;
  // The exit code, or minus the signal that ended it.
  int AwaitExit();

  pid_t pid() const { return pid_; }
  std::string out() const;
  std::string err() const;

 private:
  bool HasExited() const;
  // Returns when something was printed to standard error, or the program has ended. False, and the
  // test fails, when neither happens.
  bool AwaitChange() const;

  std::string out_path_;
  std::string err_path_;
  pid_t pid_ = -1;
  int exits_ = -1;    // A descriptor that is readable once the program has ended.
  int changes_ = -1;  // A descriptor that is readable after writes to standard error.
  std::optional<int> exit_code_;
};

// Runs it to its end.
Outcome RunToEnd(const BackgroundRun& run);

}  // namespace tidemark::testing
