#include "base/later.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>

#include "base/check.h"

namespace tidemark::later_detail {

void StateBase::Follow(std::shared_ptr<StateBase> upstream) {
  {
    const std::lock_guard lock(mutex_);
    if (!cancelled_) {
      upstream_ = std::move(upstream);
      return;
    }
  }
  upstream->Cancel();
}

void StateBase::Cancel() {
  std::shared_ptr<StateBase> upstream;
  {
    const std::lock_guard lock(mutex_);
    if (answered_ || cancelled_) return;
    cancelled_ = true;
    // Called under the lock. Otherwise the producer could answer and be destroyed before this call.
    if (on_cancel_) on_cancel_();
    upstream = upstream_;
  }
  // Without our lock. A Cancel goes upstream and an answer goes downstream, so a thread that held
  // one lock while it waits for the next one could deadlock with a thread of the other direction.
  if (upstream != nullptr) upstream->Cancel();
}

void StateBase::OnCancel(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  if (cancelled_) return wake();
  on_cancel_ = std::move(wake);
}

bool StateBase::answered() const {
  const std::lock_guard lock(mutex_);
  return answered_;
}

bool StateBase::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

std::shared_ptr<StateBase> StateBase::MarkAnswered() {
  CHECK(!answered_);
  answered_ = true;
  // The producer may be destroyed after its answer, so it must not be called any more.
  on_cancel_ = nullptr;
  return std::move(upstream_);
}

void StateBase::MarkAttached() {
  CHECK(!attached_);
  attached_ = true;
}

void Signal::Set() {
  const std::lock_guard lock(mutex_);
  is_set_ = true;
  changed_.notify_one();
}

bool Signal::Wait(const std::optional<Deadline>& deadline) {
  std::unique_lock lock(mutex_);
  const auto is_set = [&] { return is_set_; };
  if (!deadline) changed_.wait(lock, is_set);
  while (!is_set_ && !deadline->HasPassed()) {
    // The clock of the deadline decides. This wait only sets the time of the next check.
    changed_.wait_for(
        lock, std::min<std::chrono::nanoseconds>(deadline->Remaining(), std::chrono::hours(1)),
        is_set);
  }
  return is_set_;
}

Error CaughtError() {
  const std::string began = "an exception was thrown: ";
  try {
    throw;
  } catch (const std::exception& exception) {
    return {ErrorCode::kInternal, began + exception.what()};
  } catch (...) {
    return {ErrorCode::kInternal, began + "not a std::exception"};
  }
}

}  // namespace tidemark::later_detail
