#include "tests/programs/background_program.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/check.h"

namespace tidemark::testing {

namespace {

// Only a program that hangs takes so long, also on a busy machine.
constexpr int kPatienceMs = 300'000;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The program gets the sanitizer options of the test, and a broken variant (tools/broken.py) is
// loaded into the program too.
std::vector<std::string> WithOptionsOfTheTest(std::vector<std::string> environment) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name.ends_with("SAN_OPTIONS") || name == "LD_PRELOAD") environment.emplace_back(text);
  }
  return environment;
}

struct Files {
  const std::string& folder;
  const std::string& out;
  const std::string& err;
};

pid_t Spawn(const BackgroundRun& run, const Files& files) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, files.out.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, files.err.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, files.folder.c_str());
  std::vector<std::string> environment = WithOptionsOfTheTest(run.environment);
  std::string program = TIDEMARK_PROGRAM;
  std::vector<std::string> arguments = {program};
  if (run.most_descriptors > 0) {
    // A shell sets the limit of the program alone: without privileges the test could not raise its
    // own again. A broken variant is preloaded into the program, and not into the shell.
    const auto preload = std::ranges::find_if(
        environment, [](const std::string& entry) { return entry.starts_with("LD_PRELOAD="); });
    const std::string variable = preload == environment.end() ? "" : *preload;
    if (preload != environment.end()) environment.erase(preload);
    program = "/bin/sh";
    arguments = {
        "sh", "-c",
        fmt::format("ulimit -n {} && exec env {} \"$0\" \"$@\"", run.most_descriptors, variable),
        TIDEMARK_PROGRAM};
  }
  arguments.insert(arguments.end(), run.arguments.begin(), run.arguments.end());
  if (!run.line.empty()) {
    program = "/bin/sh";
    // By exec the program takes the place of the shell, and gets the test's signals.
    arguments = {"sh", "-c", "exec env " + run.line};
  }
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, program.c_str(), &actions, nullptr,
                                 Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  CHECK(failed == 0);
  return pid;
}

}  // namespace

BackgroundProgram::BackgroundProgram(const BackgroundRun& run) {
  static int number = 0;
  const std::string name = fmt::format("{}/program-{}", run.folder, ++number);
  out_path_ = name + ".out";
  err_path_ = name + ".err";
  close(open(err_path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  changes_ = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  CHECK(inotify_add_watch(changes_, err_path_.c_str(), IN_MODIFY) >= 0);
  pid_ = Spawn(run, {.folder = run.folder, .out = out_path_, .err = err_path_});
  exits_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  CHECK(exits_ >= 0);
}

BackgroundProgram::~BackgroundProgram() {
  if (!exit_code_) {
    Send(SIGKILL);
    AwaitExit();
  }
  close(exits_);
  close(changes_);
}

void BackgroundProgram::Send(int signal) const {
  CHECK(!exit_code_);
  CHECK(kill(pid_, signal) == 0);
}

bool BackgroundProgram::HasExited() const {
  pollfd exits{.fd = exits_, .events = POLLIN, .revents = 0};
  return exit_code_ || poll(&exits, 1, 0) > 0;
}

bool BackgroundProgram::AwaitChange() const {
  pollfd either[] = {{.fd = exits_, .events = POLLIN, .revents = 0},
                     {.fd = changes_, .events = POLLIN, .revents = 0}};
  // No output for so long means that the program hangs. Then the test must fail, not hang too.
  if (poll(either, 2, kPatienceMs) <= 0) {
    ADD_FAILURE() << "the program printed nothing for five minutes:\n" << err();
    return false;
  }
  char events[4096];
  while (read(changes_, events, sizeof events) > 0) {
  }
  return true;
}

std::optional<std::string> BackgroundProgram::AwaitError(const std::string& text, int times) {
  while (true) {
    // Checked before reading, so that the last output of the program is not missed.
    const bool exited = HasExited();
    const std::string printed = err();
    size_t place = printed.find(text);
    for (int i = 1; i < times && place != std::string::npos; ++i) {
      place = printed.find(text, place + 1);
    }
    if (place != std::string::npos) {
      const size_t begin = place + text.size();
      const size_t end = printed.find_first_of(" \n", begin);
      // The line may not be complete yet.
      if (end != std::string::npos) return printed.substr(begin, end - begin);
    }
    if (exited) return std::nullopt;
    if (!AwaitChange()) return std::nullopt;
  }
}

int BackgroundProgram::AwaitExit() {
  if (exit_code_) return *exit_code_;
  pollfd exits{.fd = exits_, .events = POLLIN, .revents = 0};
  if (poll(&exits, 1, kPatienceMs) <= 0) {
    ADD_FAILURE() << "the program did not end within five minutes:\n" << err();
    kill(pid_, SIGKILL);
  }
  int status = 0;
  CHECK(waitpid(pid_, &status, 0) == pid_);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return *exit_code_;
}

std::string BackgroundProgram::out() const { return ReadFile(out_path_); }
std::string BackgroundProgram::err() const { return ReadFile(err_path_); }

Outcome RunToEnd(const BackgroundRun& run) {
  BackgroundProgram program(run);
  const int exit_code = program.AwaitExit();
  return {.exit_code = exit_code, .out = program.out(), .err = program.err()};
}

}  // namespace tidemark::testing
