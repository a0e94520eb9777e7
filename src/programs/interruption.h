// Interruption notices Ctrl-C (SIGINT) and SIGTERM, so that long work can stop after the current
// piece and print how to continue. A second signal ends the program at once.
//
//   Interruption interruption;
//   while (!interruption.IsAsked()) DoPiece();
//
// There may be only one in a process at a time.
#pragma once

#include <atomic>
#include <csignal>

namespace tidemark::programs {

class Interruption {
 public:
  Interruption() {
    struct sigaction action = {};
    action.sa_handler = [](int) { asked_ = true; };
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  }
  ~Interruption() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool IsAsked() const { return asked_; }
  // For work that checks a flag. The flag lives as long as the process.
  const std::atomic<bool>* flag() const { return &asked_; }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal may set it");
  static inline std::atomic<bool> asked_ = false;
};

}  // namespace tidemark::programs
