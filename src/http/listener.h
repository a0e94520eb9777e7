// Listening sockets: several on one address, among which the kernel spreads new connections
// (SO_REUSEPORT), and which nobody else can join unseen.
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

  // kInvalid when it is no numeric address with a port.
  static Result<ListenAddress> Parse(std::string_view text);
  std::string ToText() const;
};

struct Listeners {
  std::vector<int> sockets;  // The caller's to close.
  ListenAddress address;     // With the port in fact.
};

// kInUse when somebody listens there already, kDenied when it may not be used, kInvalid when the
// address is none of this machine's.
Result<Listeners> Listen(const ListenAddress& address, size_t count);

// Who is at the other end of a connection.
struct Peer {
  std::string address;        // As text, without the port.
  std::string admission_key;  // What its connections are counted under.
};

// IPv4 inside of IPv6 is shown, and counts, as IPv4. A client of IPv6 has a network of 64 bits to
// itself: all its addresses count as one.
Peer PeerOf(const sockaddr_storage& name);

}  // namespace tidemark::http
