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
    // One wake-up is enough: Take empties the whole box.
    if (letters_.size() > 1) return;
  }
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

std::vector<Letter> Mailbox::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(letters_, {});
}

void Mailbox::Close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
  letters_.clear();
}

bool Mailbox::IsForCurrent(const Letter& letter) const {
  // The thread is compared first: only the loop's thread may read current_.
  return std::this_thread::get_id() == thread_ && current_ != nullptr &&
         current_->id() == letter.connection && std::holds_alternative<Response>(letter.content);
}

}  // namespace tidemark::http
