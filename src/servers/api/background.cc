#include "servers/api/background.h"

#include <exception>
#include <utility>

namespace tidemark::api {

Background::Background(std::chrono::milliseconds pause, const Logger& logger,
                       std::function<void()> round)
    : pause_(pause), logger_(logger), round_(std::move(round)), thread_([this] { Run(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wakes_.notify_all();
  thread_.join();
}

void Background::Run() {
  std::unique_lock lock(mutex_);
  while (!wakes_.wait_for(lock, pause_, [this] { return ends_; })) {
    lock.unlock();
    CallRound();
    lock.lock();
  }
}

// An exception that leaves a thread ends the process.
void Background::CallRound() const {
  try {
    round_();
  } catch (const std::exception& exception) {
    logger_.Log(LogLevel::kError, "background work threw and will be tried again",
                {{"error", exception.what()}});
  } catch (...) {
    logger_.Log(LogLevel::kError, "background work threw and will be tried again");
  }
}

}  // namespace tidemark::api
