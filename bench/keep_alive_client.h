// One connection to our own server that sends a request and waits for its answer, as plainly as
// a client of Redis does: what is measured is the server. One thread at a time.
#pragma once

#include <arpa/inet.h>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace tidemark::bench {

class KeepAliveClient {
 public:
  // `address` is "127.0.0.1:PORT".
  KeepAliveClient(const std::string& address, std::string token)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)), token_(std::move(token)) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int port = std::atoi(address.substr(address.rfind(':') + 1).c_str());
    peer.sin_port = htons(static_cast<uint16_t>(port));
    CHECK(::connect(socket_, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) == 0);
    const int on = 1;
    CHECK(::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
  }
  KeepAliveClient(KeepAliveClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), token_(std::move(other.token_)) {}
  ~KeepAliveClient() {
    if (socket_ >= 0) ::close(socket_);
  }

  // The whole answer, head and body. `headers` are further ones, each with its line's end.
  const std::string& Post(std::string_view path, std::string_view body,
                          std::string_view headers = "") {
    request_ = fmt::format(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
        "Content-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{}",
        path, token_, headers, body.size(), body);
    CHECK(::send(socket_, request_.data(), request_.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request_.size()));
    answer_.clear();
    while (!IsWhole()) {
      char bytes[4096];
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      CHECK(count > 0);
      answer_.append(bytes, static_cast<size_t>(count));
    }
    return answer_;
  }

 private:
  bool IsWhole() const {
    constexpr std::string_view kLength = "Content-Length: ";
    const size_t head = answer_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const size_t length = answer_.find(kLength);
    CHECK(length < head);
    return answer_.size() ==
           head + 4 + std::strtoul(&answer_[length + kLength.size()], nullptr, 10);
  }

  int socket_;
  std::string token_;
  std::string request_;
  std::string answer_;
};

}  // namespace tidemark::bench
