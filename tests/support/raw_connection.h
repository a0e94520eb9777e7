// A TCP connection to a server on loopback. It sends exactly the given bytes, so a test can send
// what an HTTP library would never send.
//
//   RawConnection connection(server->port());
//   connection.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
//   EXPECT_EQ(connection.ReadReply().status, 200);
//   EXPECT_TRUE(connection.IsClosedByPeer());
//
// Reads wait for the server, at most ten seconds: a test that hangs fails instead.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"

namespace tidemark::testing {

// A reply as it was received. Status 0: there was no reply.
struct RawReply {
  int status = 0;
  std::string head = {};
  std::string body = {};

  // The value of the first header of this exact name.
  std::optional<std::string> Find(std::string_view name) const {
    const std::string start = "\r\n" + std::string(name) + ": ";
    const size_t at = head.find(start);
    if (at == std::string::npos) return std::nullopt;
    const size_t from = at + start.size();
    return head.substr(from, head.find("\r\n", from) - from);
  }
};

class RawConnection {
 public:
  // `from` is the client's own address; "": the system chooses it.
  explicit RawConnection(uint16_t port, const std::string& host = "127.0.0.1",
                         const std::string& from = "")
      : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const sockaddr_in source = NameOf(from.empty() ? "0.0.0.0" : from, 0);
    CHECK(bind(socket_, reinterpret_cast<const sockaddr*>(&source), sizeof source) == 0);
    const sockaddr_in name = NameOf(host, port);
    connected_ = connect(socket_, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
  }
  ~RawConnection() { Close(); }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  bool connected() const { return connected_; }
  int descriptor() const { return socket_; }

  // False when the server has closed the connection.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Closes our direction of the connection. Replies can still be read.
  void EndSending() { shutdown(socket_, SHUT_WR); }

  // Whether a read would return at once, with bytes or with the end of the connection.
  bool HasInput() const {
    pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
    return !unread_.empty() || poll(&waiting, 1, 0) > 0;
  }

  // Reads the next reply, with as many bytes as Content-Length says. `has_body` is false for HEAD.
  RawReply ReadReply(bool has_body = true) {
    while (unread_.find("\r\n\r\n") == std::string::npos) {
      if (!ReadMore()) return {};
    }
    const size_t end = unread_.find("\r\n\r\n") + 4;
    RawReply reply{.head = unread_.substr(0, end)};
    unread_.erase(0, end);
    reply.status = std::atoi(reply.head.c_str() + std::string_view("HTTP/1.1 ").size());
    const size_t length =
        has_body ? std::strtoul(reply.Find("Content-Length").value_or("0").c_str(), nullptr, 10)
                 : 0;
    while (unread_.size() < length && ReadMore()) {
    }
    reply.body = unread_.substr(0, length);
    unread_.erase(0, reply.body.size());
    return reply;
  }

  // Reads this many bytes and drops them. False when the connection ends before that.
  bool Skip(size_t bytes) {
    while (bytes > 0) {
      if (unread_.empty() && !ReadMore()) return false;
      const size_t now = std::min(bytes, unread_.size());
      unread_.erase(0, now);
      bytes -= now;
    }
    return true;
  }

  // Everything until the server ends or resets the connection.
  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    return std::exchange(unread_, {});
  }
  // Whether the server has reset the connection: then the client may not see the last reply.
  bool was_reset() const { return was_reset_; }
  // Waits until the connection ends. True when no byte came before that.
  bool IsClosedByPeer() { return ReadToEnd().empty() && !timed_out_; }

  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }

 private:
  static sockaddr_in NameOf(const std::string& host, uint16_t port) {
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    CHECK(inet_pton(AF_INET, host.c_str(), &name.sin_addr) == 1);
    name.sin_port = htons(port);
    return name;
  }

  bool ReadMore() {
    std::array<char, 16 << 10> bytes;
    const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
    timed_out_ = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    was_reset_ = count < 0 && errno == ECONNRESET;
    if (count <= 0) return false;
    unread_.append(bytes.data(), static_cast<size_t>(count));
    return true;
  }

  int socket_;
  bool connected_ = false;
  bool timed_out_ = false;
  bool was_reset_ = false;
  std::string unread_;
};

}  // namespace tidemark::testing
