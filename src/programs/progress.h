// Progress prints the progress of long work to standard error, once a second: on a terminal it
// rewrites one line, otherwise it prints a new line.
//
//   std::atomic<uint64_t> items = 0;
//   Progress progress(options.progress, [&] { return fmt::format("{} items read", items); });
//
// A thread of its own calls the function, from construction to destruction. Nothing is printed in
// the first second.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tidemark::programs {

class Progress {
 public:
  // Prints nothing unless `asked_for` is set or standard error is a terminal.
  Progress(bool asked_for, std::function<std::string()> text);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void Run();
  void Show(const std::string& text) const;

  const bool is_terminal_;
  std::function<std::string()> text_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace tidemark::programs
