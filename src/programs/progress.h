// Progress shows on standard error how far long work has come: on a terminal in one line that is
// drawn anew each second, elsewhere in a line a second.
//
//   std::atomic<uint64_t> items = 0;
//   Progress progress(options.progress, [&] { return fmt::format("{} items read", items); });
//
// The text is made on a thread of its own, from construction to destruction; work that
// takes less than a second shows nothing.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tidemark::programs {

class Progress {
 public:
  // Shows nothing unless it is asked for or standard error is a terminal.
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
