#include "programs/progress.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace tidemark::programs {

Progress::Progress(bool asked_for, std::function<std::string()> text)
    : is_terminal_(isatty(STDERR_FILENO) != 0), text_(std::move(text)) {
  if (asked_for || is_terminal_) thread_ = std::thread([this] { Run(); });
}

Progress::~Progress() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Progress::Run() {
  std::unique_lock lock(mutex_);
  bool shown = false;
  while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; })) {
    Show(text_());
    shown = true;
  }
  // Clears the line, so that the report can take its place.
  if (shown && is_terminal_) Show("");
}

void Progress::Show(const std::string& text) const {
  // Go to the beginning of the line, print the text, and clear the rest of the line.
  if (is_terminal_) {
    fmt::print(stderr, "\r{}\x1b[K", text);
    std::fflush(stderr);
  } else {
    fmt::print(stderr, "{}\n", text);
  }
}

}  // namespace tidemark::programs
