// Client speaks to one Redis server: commands out, replies as values.
//
//   Client client({.address = "redis://localhost:6379"});
//   Reply reply = TRY(client.Run({"GET", "key"}));
//
// A connection is made when one is needed, kept for the next command, and dropped after any
// failure. kUnavailable: the command was not done, because it was not sent (nobody listens, the
// password is wrong), or because the server answered with an error, which the message has: it is
// loading, read-only, out of memory, busy. kUnknown: it was sent, and no reply came within the
// time. kInvalid: the address is none. It repeats nothing unless it is told that it may.
//
// May be called from any thread; a command blocks for at most the two timeouts. The password is in
// no message. It never speaks TLS: Debian 12's hiredis cannot; where the way is not your own, a
// tunnel ends at a unix socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/secret.h"

namespace tidemark::redis {

struct ClientOptions {
  // "redis://HOST:PORT", with "/DATABASE" behind it when it is not 0, or "unix:PATH".
  std::string address = "redis://127.0.0.1:6379";
  std::string user = {};  // Empty: the default one.
  Secret password = {};   // Empty: none is sent.
  std::chrono::milliseconds connect_timeout = std::chrono::milliseconds(500);
  std::chrono::milliseconds reply_timeout = std::chrono::milliseconds(500);
};

// Nothing, a number, a text, or a list of replies.
struct Reply {
  std::variant<std::monostate, int64_t, std::string, std::vector<Reply>> value;

  bool IsNil() const { return std::holds_alternative<std::monostate>(value); }
  // What is not of the kind is 0, empty, or none.
  int64_t AsInt() const;
  const std::string& AsText() const;
  const std::vector<Reply>& AsList() const;
};

// Whether a command may be sent twice, as one that changes nothing may: once more on a new
// connection when the kept one turns out to be gone. What times out is not repeated.
enum class Repeat { kNo, kYes };

// kInvalid when it is no address of the two forms.
Status CheckAddress(const std::string& address);

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();

  Result<Reply> Run(const std::vector<std::string>& words, Repeat repeat = Repeat::kNo);

 private:
  class Connection;

  Result<std::unique_ptr<Connection>> Take();
  void GiveBack(std::unique_ptr<Connection> connection);

  const ClientOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace tidemark::redis
