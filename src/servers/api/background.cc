#include "servers/api/background.h"

#include <utility>

namespace tidemark::api {

Background::Background(std::chrono::milliseconds pause, std::function<void()> round)
    : pause_(pause), round_(std::move(round)), thread_([this] { Run(); }) {}

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
    round_();
    lock.lock();
  }
}

}  // namespace tidemark::api
