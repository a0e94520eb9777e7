// Many connections to one server on one thread, each with one request in flight. This load
// generator needs little processor time. With one thread for each connection, switching between
// them would take more time than the answers of the server.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "base/check.h"
#include "bench/harness.h"

namespace tidemark::bench {

// A TCP connection to a port of this machine.
inline int ConnectTo(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  peer.sin_port = htons(static_cast<uint16_t>(port));
  CHECK(::connect(socket, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) == 0);
  const int on = 1;
  CHECK(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
  return socket;
}

// The port in "127.0.0.1:PORT".
inline int PortOf(const std::string& address) {
  return std::atoi(address.substr(address.rfind(':') + 1).c_str());
}

// Whether this is a complete HTTP answer.
inline bool IsWholeHttp(const std::string& answer) {
  constexpr std::string_view kLength = "Content-Length: ";
  const size_t head = answer.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  const size_t length = answer.find(kLength);
  CHECK(length < head);
  return answer.size() == head + 4 + std::strtoul(&answer[length + kLength.size()], nullptr, 10);
}

// The same for a number, a status, an error or a text of Redis.
inline bool IsWholeRedis(const std::string& answer) {
  if (!answer.ends_with("\r\n")) return false;
  if (!answer.starts_with("$") || answer.starts_with("$-1")) return true;
  const size_t head = answer.find("\r\n");
  return answer.size() == head + 2 + std::strtoul(&answer[1], nullptr, 10) + 2;
}

class Connections {
 public:
  Connections(int port, int count, bool (*is_whole)(const std::string&))
      : epoll_(::epoll_create1(0)),
        is_whole_(is_whole),
        answers_(static_cast<size_t>(count)),
        sent_at_(static_cast<size_t>(count)) {
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(ConnectTo(port));
      epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<uint32_t>(i)}};
      CHECK(::epoll_ctl(epoll_, EPOLL_CTL_ADD, sockets_.back(), &event) == 0);
    }
  }
  ~Connections() {
    for (const int socket : sockets_) ::close(socket);
    ::close(epoll_);
  }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  size_t count() const { return sockets_.size(); }

  // The next request of a connection, after the answer to its last (empty at the first).
  using Next = std::function<std::string(size_t connection, const std::string& answer)>;

  // In the last call of Rate: the time within which 99 % of the requests were answered.
  double p99_ms() const { return p99_ms_; }

  // Answers a second over at least `seconds`.
  double Rate(double seconds, const Next& next) {
    const double start = Seconds();
    std::vector<float> waited_ms;
    uint64_t answered = 0;
    for (size_t i = 0; i < sockets_.size(); ++i) Send(i, next(i, ""));
    size_t under_way = sockets_.size();
    while (under_way > 0) {
      epoll_event events[64];
      const int count = ::epoll_wait(epoll_, events, 64, -1);
      const bool goes_on = Seconds() - start < seconds;
      for (int i = 0; i < count; ++i) {
        const size_t connection = events[i].data.u32;
        if (!Receive(connection)) continue;
        ++answered;
        waited_ms.push_back(static_cast<float>((Seconds() - sent_at_[connection]) * 1e3));
        std::string request = next(connection, answers_[connection]);
        answers_[connection].clear();
        if (goes_on) {
          Send(connection, request);
        } else {
          --under_way;
        }
      }
    }
    const double rate = static_cast<double>(answered) / (Seconds() - start);
    const auto last = waited_ms.begin() + static_cast<ptrdiff_t>(waited_ms.size() * 99 / 100);
    std::nth_element(waited_ms.begin(), last, waited_ms.end());
    p99_ms_ = *last;
    return rate;
  }

 private:
  void Send(size_t connection, const std::string& request) {
    sent_at_[connection] = Seconds();
    CHECK(::send(sockets_[connection], request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  }
  // True when the answer is whole.
  bool Receive(size_t connection) {
    char bytes[4096];
    const ssize_t count = ::recv(sockets_[connection], bytes, sizeof bytes, 0);
    CHECK(count > 0);
    answers_[connection].append(bytes, static_cast<size_t>(count));
    return is_whole_(answers_[connection]);
  }

  const int epoll_;
  bool (*const is_whole_)(const std::string&);
  std::vector<int> sockets_;
  std::vector<std::string> answers_;
  std::vector<double> sent_at_;
  double p99_ms_ = 0;
};

}  // namespace tidemark::bench
