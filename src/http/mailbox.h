// Brings replies and pieces of bodies from any thread to the loop of their connection. A Reply
// holds the mailbox and two numbers, never the connection. So it may outlive connection, loop and
// server; then it is dropped. The mailbox is also the home of the loop's thread: other threads give
// back to it what was begun there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/home.h"
#include "http/message.h"

namespace tidemark::http {

class Connection;

// The next piece of a body that a source reads.
using Piece = Result<std::string>;

struct Letter {
  uint64_t connection = 0;
  uint64_t request = 0;  // A second reply to the same request is dropped.
  std::variant<Response, Piece> content;
};

class Mailbox final : public Home, public std::enable_shared_from_this<Mailbox> {
 public:
  // `wake` makes the loop call DoWork and Take soon. It is called under a lock, from any thread.
  explicit Mailbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // From any thread. Letters of one turn (base/turn.h) wake the loop once, when the turn ends.
  void Deliver(Letter letter);
  bool Add(std::function<void()> work) override;

  // The functions below are for the loop's thread. It calls Open first.
  void Open();
  // Does the work that was added. Letters that it delivers are there for the next Take.
  void DoWork();
  std::vector<Letter> Take();
  // Does the work that is left. From now on letters are dropped, and the loop is not woken.
  void Close();
  // The connection whose handler is running. A reply to it is delivered directly.
  void SetCurrent(Connection* current) { current_ = current; }

 private:
  bool IsForCurrent(const Letter& letter) const;
  void Wake();
  void WakeAtEnd();

  std::thread::id thread_;         // Set before the first request.
  Connection* current_ = nullptr;  // Only the loop's thread uses it.
  std::mutex mutex_;
  bool open_ = false;
  bool is_woken_ = false;  // The loop has been woken, or will be, and has not emptied the box yet.
  std::vector<Letter> letters_;
  std::vector<std::function<void()>> work_;
  const std::function<void()> wake_;
};

}  // namespace tidemark::http
