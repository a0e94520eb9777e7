// Client sends commands to one Redis server and returns the replies as values.
//
//   Client client({.address = "redis://localhost:6379"});
//   Reply reply = TRY(client.Run({"GET", "key"}));
//
// A connection is opened when it is needed, kept for the next command, and closed after any
// failure. The errors are:
//   kUnavailable  The command was not executed: it was not sent (no connection, wrong password), or
//                 the server answered with an error (loading, read-only, out of memory, busy).
//   kUnknown      The command was sent, and no reply came in time.
//   kInvalid      The address is not valid.
// A command is repeated only if the caller allows it.
//
// Any thread may call it. A command blocks for at most the two timeouts. No error message contains
// the password. With rediss:// the connection is encrypted, and the certificate of the server must
// be for its host. hiredis in Debian 12 has no TLS, so here it only connects, and makes and parses
// messages.
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
  // "redis://HOST:PORT", "redis://HOST:PORT/DATABASE", the same with rediss:// for TLS, or
  // "unix:PATH".
  std::string address = "redis://127.0.0.1:6379";
  std::string user = {};  // Empty: the default user.
  Secret password = {};   // Empty: none is sent.
  // A file with the authorities that may certify the server; empty: those of the system.
  std::string authorities = {};
  std::chrono::milliseconds connect_timeout = std::chrono::milliseconds(500);
  std::chrono::milliseconds reply_timeout = std::chrono::milliseconds(500);
};

// A reply is nothing, a number, a text, or a list of replies.
struct Reply {
  std::variant<std::monostate, int64_t, std::string, std::vector<Reply>> value;

  // If the reply is of another kind, these return 0, an empty text, or no replies.
  int64_t AsInt() const;
  const std::string& AsText() const;
  const std::vector<Reply>& AsList() const;
};

// Whether a command may be sent twice. Commands that change nothing may. It is sent again on a new
// connection if the kept one turns out to be closed. A command that times out is not repeated.
enum class Repeat { kNo, kYes };

// Fails with kInvalid if the address has none of these forms.
Status CheckAddress(const std::string& address);
// Whether a connection stays on this machine: a unix socket, or a loopback address.
bool IsOnThisMachine(const std::string& address);
bool IsEncrypted(const std::string& address);

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
