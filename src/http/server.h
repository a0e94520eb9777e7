// A Server takes HTTP/1.1 requests on one address and hands each to a Handler.
//
//   auto server = TRY(Server::Start({.listen = "127.0.0.1:8080"}, handler, context));
//   ...
//   server->Stop(std::chrono::seconds(10));
//
// It runs one loop a core, each with its own listening socket (SO_REUSEPORT), so a connection lives
// on one thread. Handle is called on a loop and must not block it: it replies at once, or keeps the
// Reply and calls it later from any thread, exactly once. A connection has one request at the
// handler at a time; what was pipelined behind it waits, up to a limit, in the connection's
// buffer, and answers go out in order.
//
// A body that comes from a source is read on threads of the server's own, a few pieces ahead of
// what is sent: neither a slow disk nor a slow client keeps a loop, or the handler's workers.
//
// What cannot be framed without doubt is refused with a 4xx, and the connection is closed: a
// Transfer-Encoding other than exactly "chunked" (or any in HTTP/1.0), two framings, a repeated
// or bad Host, an absolute-form target, control bytes in a value, an unknown method, anything
// over a limit. Bytes behind such a request are never read as another.
//
// Start, Stop and ReloadCertificate may be called from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "http/limits.h"
#include "http/message.h"

namespace tidemark::http {

using Reply = std::function<void(Response)>;

class Handler {
 public:
  virtual ~Handler() = default;
  virtual void Handle(Request request, Reply reply) = 0;
};

struct TlsFiles {
  std::string certificate;  // PEM, with the chain behind it.
  std::string key;          // PEM.
};

struct ServerOptions {
  std::string listen;                // "127.0.0.1:8080", "[::1]:0"; port 0 picks a free one.
  size_t loops = 0;                  // 0: one a core.
  std::optional<TlsFiles> tls = {};  // Without it, plain HTTP.
  ServerLimits limits = {};
};

// What the server uses and does not own. All outlive it; logger and metrics may be null.
struct ServerContext {
  const Clock* clock = nullptr;
  Random* random = nullptr;
  const Logger* logger = nullptr;  // One access line a request, without query, headers and body.
  // What the access line shows of a path; unset: all of it.
  std::function<std::string(std::string_view)> path_for_log = {};
  Metrics* metrics = nullptr;
};

class Server {
 public:
  // kInvalid when the address or the certificate is no good, kInUse when the port is taken,
  // kDenied when it may not be used. The handler outlives the server.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options, Handler* handler,
                                               const ServerContext& context);
  // As Stop with no patience.
  ~Server();

  // "127.0.0.1:40123": where it listens in fact.
  const std::string& address() const;
  uint16_t port() const;

  // Takes no more connections, lets requests under way be answered for at most this long, closes
  // idle connections at once, and ends the loops.
  void Stop(std::chrono::milliseconds patience);

  // Reads the certificate and key again; new connections use them. On an error the old ones stay.
  Status ReloadCertificate();

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::http
