// Brings replies, and the pieces of their bodies, to the loop of their connection, from whatever
// thread they come. A Reply holds the mailbox and numbers, never the connection: it may outlive
// connection, loop and server, and is then dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "http/message.h"

namespace tidemark::http {

class Connection;

// The next piece of a body that a source reads.
using Piece = Result<std::string>;

struct Letter {
  uint64_t connection = 0;
  uint64_t request = 0;  // Of the connection; a second reply to it is dropped.
  std::variant<Response, Piece> content;
};

class Mailbox {
 public:
  // `wake` makes the loop call Take soon. It is called under a lock, from any thread.
  explicit Mailbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // From any thread.
  void Deliver(Letter letter);

  // The rest is for the loop's thread, which says first that it is the one.
  void Open();
  std::vector<Letter> Take();
  // From now on letters are dropped, and the loop is not woken.
  void Close();
  // The connection whose handler is running: its reply needs no detour.
  void SetCurrent(Connection* current) { current_ = current; }

 private:
  bool IsForCurrent(const Letter& letter) const;

  std::thread::id thread_;         // Set before there is a request.
  Connection* current_ = nullptr;  // Of the loop's thread alone.
  std::mutex mutex_;
  bool open_ = false;
  std::vector<Letter> letters_;
  const std::function<void()> wake_;
};

}  // namespace tidemark::http
