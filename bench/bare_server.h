// A minimal HTTP server to compare ours with: one epoll loop for each core with its own listening
// socket, a search for the empty line and for Content-Length, and a fixed reply. It has no checks,
// no limits and no timeouts.
#pragma once

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tidemark::bench {

class BareServer {
 public:
  BareServer(std::string reply, size_t loops) : reply_(std::move(reply)) {
    for (size_t i = 0; i < loops; ++i) listeners_.push_back(Listen());
    for (const int listener : listeners_)
      threads_.emplace_back([this, listener] { Run(listener); });
  }
  ~BareServer() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    for (const int listener : listeners_) close(listener);
  }
  BareServer(const BareServer&) = delete;
  BareServer& operator=(const BareServer&) = delete;

  uint16_t port() const { return port_; }

 private:
  struct Client {
    int socket = -1;
    size_t used = 0;
    std::array<char, 8192> bytes;
  };

  // Child processes must not inherit the sockets. Otherwise wrk would keep sockets in the epoll set
  // that are closed here.
  int Listen() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(port_);
    CHECK(bind(listener, reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
    CHECK(listen(listener, 4096) == 0);
    socklen_t length = sizeof name;
    getsockname(listener, reinterpret_cast<sockaddr*>(&name), &length);
    port_ = ntohs(name.sin_port);
    return listener;
  }

  void Run(int listener) {
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    std::vector<std::unique_ptr<Client>> clients;
    Watch(epoll, listener, nullptr);
    std::array<epoll_event, 128> events;
    while (!stop_) {
      const int count = epoll_wait(epoll, events.data(), events.size(), 100);
      for (int i = 0; i < count; ++i) {
        auto* client = static_cast<Client*>(events[static_cast<size_t>(i)].data.ptr);
        if (client == nullptr) {
          AcceptAll(epoll, listener, &clients);
        } else {
          Serve(client);
        }
      }
    }
    for (const auto& client : clients) {
      if (client->socket >= 0) close(client->socket);
    }
    close(epoll);
  }

  static void Watch(int epoll, int socket, Client* client) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.ptr = client;
    epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event);
  }

  static void AcceptAll(int epoll, int listener, std::vector<std::unique_ptr<Client>>* clients) {
    for (;;) {
      const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) return;
      const int on = 1;
      setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      clients->push_back(std::make_unique<Client>());
      clients->back()->socket = socket;
      Watch(epoll, socket, clients->back().get());
    }
  }

  void Serve(Client* client) const {
    const ssize_t received = recv(client->socket, client->bytes.data() + client->used,
                                  client->bytes.size() - client->used, 0);
    if (received <= 0) {
      close(client->socket);
      client->socket = -1;
      return;
    }
    client->used += static_cast<size_t>(received);
    while (const size_t request = RequestLength({client->bytes.data(), client->used})) {
      client->used -= request;
      std::memmove(client->bytes.data(), client->bytes.data() + request, client->used);
      if (send(client->socket, reply_.data(), reply_.size(), MSG_NOSIGNAL) < 0) return;
    }
  }

  // 0 when the request is not complete.
  static size_t RequestLength(std::string_view bytes) {
    const size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos) return 0;
    size_t length = 0;
    constexpr std::string_view kLength = "Content-Length: ";
    const size_t named = bytes.substr(0, end).find(kLength);
    if (named != std::string_view::npos) {
      std::from_chars(bytes.data() + named + kLength.size(), bytes.data() + end, length);
    }
    return end + 4 + length <= bytes.size() ? end + 4 + length : 0;
  }

  const std::string reply_;
  uint16_t port_ = 0;
  std::atomic<bool> stop_ = false;
  std::vector<int> listeners_;
  std::vector<std::thread> threads_;
};

}  // namespace tidemark::bench
