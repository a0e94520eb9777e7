// One connection to our own server, which sends a request and waits for its answer. It is as simple
// as a client of Redis, so that the server is measured and not the client. One thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/connections.h"

namespace tidemark::bench {

inline std::string PostRequest(std::string_view path, std::string_view token, std::string_view body,
                               std::string_view headers = "") {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
      "Content-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{}",
      path, token, headers, body.size(), body);
}

inline std::string GetRequest(std::string_view path, std::string_view token) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n", path,
                     token);
}

class KeepAliveClient {
 public:
  // `address` is "127.0.0.1:PORT".
  KeepAliveClient(const std::string& address, std::string token)
      : socket_(ConnectTo(PortOf(address))), token_(std::move(token)) {}
  KeepAliveClient(KeepAliveClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), token_(std::move(other.token_)) {}
  ~KeepAliveClient() {
    if (socket_ >= 0) ::close(socket_);
  }

  // The whole answer, head and body. `headers` are additional headers, each with its line end.
  const std::string& Post(std::string_view path, std::string_view body,
                          std::string_view headers = "") {
    return Ask(PostRequest(path, token_, body, headers));
  }
  const std::string& Get(std::string_view path) { return Ask(GetRequest(path, token_)); }
  const std::string& Ask(std::string request) {
    request_ = std::move(request);
    CHECK(::send(socket_, request_.data(), request_.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request_.size()));
    answer_.clear();
    while (!IsWholeHttp(answer_)) {
      char bytes[64 << 10];
      const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
      CHECK(count > 0);
      answer_.append(bytes, static_cast<size_t>(count));
    }
    return answer_;
  }

 private:
  int socket_;
  std::string token_;
  std::string request_;
  std::string answer_;
};

}  // namespace tidemark::bench
