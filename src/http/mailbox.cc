#include "http/mailbox.h"

#include <utility>

#include "base/turn.h"
#include "http/connection.h"

namespace tidemark::http {

void Mailbox::Deliver(Letter letter) {
  // The handler answers on the thread of the loop, before it returns. So the answer needs no lock
  // and no round through the loop.
  if (IsForCurrent(letter)) {
    return current_->Answer(letter.request, std::get<Response>(std::move(letter.content)));
  }
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    letters_.push_back(std::move(letter));
    if (std::exchange(is_woken_, true)) return;
  }
  WakeAtEnd();
}

bool Mailbox::Add(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (!open_) return false;
    work_.push_back(std::move(work));
    if (std::exchange(is_woken_, true)) return true;
  }
  WakeAtEnd();
  return true;
}

void Mailbox::WakeAtEnd() {
  Turn::AtEnd(this, [mailbox = shared_from_this()] { mailbox->Wake(); });
}

void Mailbox::Wake() {
  // Under the lock, because the loop may be destroyed after Close, and Close waits for the lock.
  const std::lock_guard lock(mutex_);
  if (open_) wake_();
}

void Mailbox::Open() {
  thread_ = std::this_thread::get_id();
  const std::lock_guard lock(mutex_);
  open_ = true;
}

void Mailbox::DoWork() {
  std::vector<std::function<void()>> work;
  {
    const std::lock_guard lock(mutex_);
    work = std::exchange(work_, {});
  }
  for (const auto& one : work) one();
}

std::vector<Letter> Mailbox::Take() {
  const std::lock_guard lock(mutex_);
  // Work that was added after DoWork needs another wake-up, which is_woken_ would prevent.
  is_woken_ = !work_.empty();
  if (is_woken_) wake_();
  return std::exchange(letters_, {});
}

void Mailbox::Close() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    letters_.clear();
  }
  // Somebody may wait for what this work answers.
  DoWork();
}

bool Mailbox::IsForCurrent(const Letter& letter) const {
  // The thread is compared first: only the loop's thread may read current_.
  return std::this_thread::get_id() == thread_ && current_ != nullptr &&
         current_->id() == letter.connection && std::holds_alternative<Response>(letter.content);
}

}  // namespace tidemark::http
