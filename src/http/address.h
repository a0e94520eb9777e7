// Distinguishes public addresses from private ones. A server that fetches a URL from a request
// connects only to public addresses, so that the URL cannot lead it to machines of its own network.
#pragma once

#include <sys/socket.h>

namespace tidemark::http {

// False for private, shared, loopback, link-local (including the metadata service of clouds),
// unique-local, multicast, documentation and reserved addresses; for IPv4 addresses mapped into
// IPv6; for NAT64 and 6to4 addresses when the IPv4 address inside is not public; and for other
// address families.
bool IsPublicAddress(const sockaddr& address);

}  // namespace tidemark::http
