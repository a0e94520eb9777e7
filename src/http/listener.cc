#include "http/listener.h"

#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tidemark::http {

namespace {

// The kernel lowers it to net.core.somaxconn.
constexpr int kBacklog = 4'096;

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t length = 0;
};

SocketAddress ToSocketAddress(const ListenAddress& address) {
  SocketAddress result;
  if (address.is_v6) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    inet_pton(AF_INET6, address.host.c_str(), &v6->sin6_addr);
    result.length = sizeof *v6;
  } else {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&result.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    inet_pton(AF_INET, address.host.c_str(), &v4->sin_addr);
    result.length = sizeof *v4;
  }
  return result;
}

Error ErrorOf(int number, const ListenAddress& address) {
  const std::string text = address.ToText();
  switch (number) {
    case EADDRINUSE:
      return {ErrorCode::kInUse,
              fmt::format("{} is taken: stop what listens there or choose another port", text)};
    case EACCES:
    case EPERM:
      return {ErrorCode::kDenied,
              fmt::format("the program may not listen on {}: choose a port above 1023", text)};
    default:
      return Invalid(
          fmt::format("the program cannot listen on {}: {}", text, std::strerror(number)));
  }
}

bool SetOption(int socket, int name) {
  const int on = 1;
  return setsockopt(socket, SOL_SOCKET, name, &on, sizeof on) == 0;
}

// The first socket is bound without SO_REUSEPORT. With it, the socket would share the port with
// another program of the same user, without an error. The later sockets are bound with it.
bool Bind(int socket, const SocketAddress& address, bool is_first) {
  if (!SetOption(socket, SO_REUSEADDR)) return false;
  if (!is_first && !SetOption(socket, SO_REUSEPORT)) return false;
  const auto* name = reinterpret_cast<const sockaddr*>(&address.storage);
  if (bind(socket, name, address.length) != 0) return false;
  if (is_first && !SetOption(socket, SO_REUSEPORT)) return false;
  return listen(socket, kBacklog) == 0;
}

uint16_t PortOf(int socket) {
  SocketAddress bound;
  bound.length = sizeof bound.storage;
  getsockname(socket, reinterpret_cast<sockaddr*>(&bound.storage), &bound.length);
  const bool is_v6 = bound.storage.ss_family == AF_INET6;
  return ntohs(is_v6 ? reinterpret_cast<const sockaddr_in6*>(&bound.storage)->sin6_port
                     : reinterpret_cast<const sockaddr_in*>(&bound.storage)->sin_port);
}

Result<int> OpenListener(const ListenAddress& address, bool is_first) {
  const int family = address.is_v6 ? AF_INET6 : AF_INET;
  const int opened = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (opened < 0) return ErrorOf(errno, address);
  if (Bind(opened, ToSocketAddress(address), is_first)) return opened;
  const int number = errno;
  close(opened);
  return ErrorOf(number, address);
}

}  // namespace

Result<ListenAddress> ListenAddress::Parse(std::string_view text) {
  const auto bad = [&] {
    return Invalid(fmt::format(
        "\"{}\" is not an address to listen on: write it as 127.0.0.1:8080 or [::1]:8080", text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  ListenAddress address;
  address.is_v6 = host.starts_with('[') && host.ends_with(']');
  if (address.is_v6) host = host.substr(1, host.size() - 2);
  address.host = host;
  in6_addr parsed;
  if (inet_pton(address.is_v6 ? AF_INET6 : AF_INET, address.host.c_str(), &parsed) != 1) {
    return bad();
  }
  const auto [end, error] = std::from_chars(port.begin(), port.end(), address.port);
  if (error != std::errc() || end != port.end()) return bad();
  return address;
}

bool ListenAddress::IsLoopback() const { return is_v6 ? host == "::1" : host.starts_with("127."); }

std::string ListenAddress::ToText() const {
  return is_v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<Listeners> Listen(const ListenAddress& address, size_t count) {
  Listeners listeners{.sockets = {}, .address = address};
  for (size_t i = 0; i < count; ++i) {
    auto opened = OpenListener(listeners.address, i == 0);
    if (!opened) {
      for (const int socket : listeners.sockets) close(socket);
      return opened.error();
    }
    listeners.sockets.push_back(*opened);
    // For port 0 the kernel chooses a port. The other sockets must use the same one.
    listeners.address.port = PortOf(*opened);
  }
  return listeners;
}

Peer PeerOf(const sockaddr_storage& name) {
  char text[INET6_ADDRSTRLEN] = "";
  if (name.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&name)->sin_addr, text, sizeof text);
    return {.address = text, .admission_key = text};
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(&name)->sin6_addr;
  // An IPv4 client on an IPv6 socket.
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    inet_ntop(AF_INET, &v6.s6_addr[12], text, sizeof text);
    return {.address = text, .admission_key = text};
  }
  inet_ntop(AF_INET6, &v6, text, sizeof text);
  // One client of IPv6 usually has 2^64 addresses, a network of 64 bits. So its limits are those of
  // the network.
  return {.address = text, .admission_key = std::string(&v6.s6_addr[0], &v6.s6_addr[8])};
}

}  // namespace tidemark::http
