#include "programs/progress.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace tidemark::programs {

Progress::Progress(bool asked_for, std::function<std::string()> text) : text_(std::move(text)) {
  if (asked_for || isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { Run(); });
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
  while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_; })) {
    fmt::print(stderr, "{}\n", text_());
  }
}

}  // namespace tidemark::programs
