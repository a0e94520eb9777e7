// A Server takes HTTP/1.1 requests on one address and hands each to a Handler.
//
//   auto server = TRY(Server::Start({.listen = "127.0.0.1:8080"}, handler, runtime));
//   ...
//   server->Stop(std::chrono::seconds(10));
//
// It runs one loop for each core, each with its own listening socket (SO_REUSEPORT), so a
// connection lives on one thread. Handle is called on a loop and must not block it: it replies at
// once, or keeps the Reply and calls it later from any thread, exactly once. The handler gets one
// request of a connection at a time. Requests that the client pipelined wait in the connection's
// buffer, up to a limit, and the answers go out in order.
//
// A body that comes from a source is read on threads of the server's own, a few pieces ahead of
// what is sent. So neither a slow disk nor a slow client blocks a loop or the handler's workers.
//
// A request whose end is ambiguous is refused with a 4xx, and the connection is closed: a
// Transfer-Encoding other than exactly "chunked" (or any in HTTP/1.0), two framings, a repeated
// or bad Host, an absolute-form target, control bytes in a value, an unknown method, anything
// over a limit. Bytes after such a request are never read as another request.
//
// Start, Stop and ReloadCertificate may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/runtime.h"
#include "http/limits.h"
#include "http/message.h"

namespace tidemark::http {

using Reply = std::function<void(Response)>;

class Handler {
 public:
  virtual ~Handler() = default;
  virtual void Handle(Request request, Reply reply) = 0;
  // Called when the head of a request has come and its body has not come yet. With a response the
  // request is refused: its body is not read, and the connection ends. It must not block.
  virtual std::optional<Response> RefuseByHead(const Request& /*head*/) { return std::nullopt; }
};

struct TlsFiles {
  std::string certificate;  // PEM, with the chain behind it.
  std::string key;          // PEM.
};

struct ServerOptions {
  std::string listen;                // "127.0.0.1:8080", "[::1]:0"; port 0 picks a free one.
  size_t loops = 0;                  // 0: one for each core.
  std::optional<TlsFiles> tls = {};  // nullopt: plain HTTP.
  ServerLimits limits = {};
  // The log has one line a request, without query, headers and body. This is what the line shows of
  // a path; unset: all of it.
  std::function<std::string(std::string_view)> path_for_log = {};
  // The labels of its metrics. Two servers of one process need different ones.
  std::map<std::string, std::string> metric_labels = {};
};

class Server {
 public:
  // kInvalid when the address or the certificate is not valid, kInUse when the port is in use,
  // kDenied when it may not be used. The handler outlives the server.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler* handler,
                                               const Runtime& runtime);
  // Calls Stop with no patience.
  ~Server();

  // The address and port it listens on, such as "127.0.0.1:40123".
  const std::string& address() const;
  uint16_t port() const;

  // Accepts no more connections. Waits at most this long for requests that are at the handler.
  // Closes all other connections at once, also in the middle of a request, and then ends the loops.
  void Stop(std::chrono::milliseconds patience);

  // Reads the certificate and key again; new connections use them. On an error the old ones stay.
  Status ReloadCertificate();

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::http
