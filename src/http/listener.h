// Listening sockets: several on one address, among which the kernel spreads new connections
// (SO_REUSEPORT). Another program cannot share the port without an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

#include "base/result.h"

namespace tidemark::http {

// An address and a port, as text: "127.0.0.1:8080" or "[::1]:8080".
struct ListenAddress {
  std::string host;  // Without brackets.
  uint16_t port = 0;
  bool is_v6 = false;

  // kInvalid when the text is not a numeric address with a port.
  static Result<ListenAddress> Parse(std::string_view text);
  std::string ToText() const;
  // Whether only this machine can reach it.
  bool IsLoopback() const;
};

struct Listeners {
  std::vector<int> sockets;  // The caller must close them.
  ListenAddress address;     // With the actual port.
};

// kInUse when another process listens there already, kDenied when the port may not be used,
// kInvalid when this machine does not have the address.
Result<Listeners> Listen(const ListenAddress& address, size_t count);

// The client of a connection.
struct Peer {
  std::string address;        // As text, without the port.
  std::string admission_key;  // The key under which admission counts its connections.
};

// IPv4 inside of IPv6 is shown, and counts, as IPv4. An IPv6 client usually has a whole /64
// network, so all addresses of a /64 count as one client.
Peer PeerOf(const sockaddr_storage& name);

}  // namespace tidemark::http
