// Which addresses are public: those that a name on the internet may properly lead to. Whoever asks
// on behalf of somebody else must not be led to the machines around him.
#pragma once

#include <sys/socket.h>

namespace tidemark::http {

// False for private, shared, loopback, link-local (also where clouds keep their metadata),
// unique-local, multicast, documentation and reserved addresses, for IPv4 addresses mapped into
// IPv6, for those translated by NAT64 or 6to4 when the one inside is not public, and for other
// families.
bool IsPublicAddress(const sockaddr& address);

}  // namespace tidemark::http
