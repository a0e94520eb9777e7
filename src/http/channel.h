// A Channel is a Connection with its socket, plain or TLS. It reads, writes and closes as the
// Connection asks, and enforces the timeouts.
//
// A channel is used only by the thread of its loop. It stays alive while an operation is running.
// When it is closed, it tells its owner once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "http/connection.h"
#include "http/message.h"
#include "http/tls_context.h"

namespace boost::asio {
class io_context;
}

namespace tidemark::http {

// The loop, as its channels see it.
class ChannelOwner {
 public:
  virtual ~ChannelOwner() = default;

  virtual boost::asio::io_context& io() = 0;
  virtual ConnectionContext& connections() = 0;
  // The channel of this id is closed.
  virtual void Forget(uint64_t id, const std::string& admission_key) = 0;
};

struct ChannelNames {
  uint64_t id = 0;
  std::string peer;           // The client's address.
  std::string admission_key;  // The key under which admission counts it.
};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  virtual ~Channel() = default;

  // May close it at once.
  virtual void Start() = 0;
  virtual void Answer(uint64_t request, Response response) = 0;
  virtual void AddPiece(uint64_t request, Piece piece) = 0;
  // Closes when the request at the handler is answered, or at once when there is none.
  virtual void Drain() = 0;
  virtual void Close() = 0;
};

// Takes over a connected socket. `tls` is null for plain HTTP.
std::shared_ptr<Channel> OpenChannel(ChannelOwner* owner, int socket, ChannelNames names,
                                     const TlsContext* tls);

}  // namespace tidemark::http
