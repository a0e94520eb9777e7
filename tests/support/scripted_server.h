// A ScriptedServer is the server in tests of a client. It accepts connections on loopback and runs
// the test's script for each. The script sends bytes, so it can also break the rules of HTTP.
//
//   ScriptedServer server([](Connection& connection) {
//     while (!connection.ReadRequest().empty()) connection.Send("HTTP/1.1 200 OK\r\n...");
//   });
//
// Each connection has a thread of its own. For tests only.
#pragma once

#include <arpa/inet.h>
#include <charconv>
#include <cstdint>
#include <functional>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tidemark::http {

class ScriptedServer {
 public:
  class Connection {
   public:
    Connection(ScriptedServer* server, int socket, size_t number)
        : number_(number), server_(*server), socket_(socket) {}

    // The number of this connection; the first is 0.
    size_t number() const { return number_; }
    // For scripts that use another protocol than plain HTTP.
    int socket() const { return socket_; }

    // Reads the next request with its body; empty when the client has closed the connection. The
    // request is also added to ScriptedServer::requests.
    std::string ReadRequest() {
      size_t head = std::string::npos;
      while ((head = buffer_.find("\r\n\r\n")) == std::string::npos) {
        if (!ReadMore()) return "";
      }
      const size_t length = head + 4 + BodyLength(buffer_.substr(0, head));
      while (buffer_.size() < length) {
        if (!ReadMore()) return "";
      }
      std::string request = buffer_.substr(0, length);
      buffer_.erase(0, length);
      server_.Keep(request);
      return request;
    }

    // False when the client has closed the connection.
    bool Send(std::string_view bytes) {
      while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(sent));
      }
      return true;
    }

    // Sends a complete answer and keeps the connection open.
    bool Answer(std::string_view body, std::string_view status = "200 OK",
                std::string_view headers = "") {
      return Send("HTTP/1.1 " + std::string(status) +
                  "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
                  std::string(headers) + "\r\n" + std::string(body));
    }

   private:
    static size_t BodyLength(std::string_view head) {
      constexpr std::string_view kName = "\r\nContent-Length: ";
      const size_t at = head.find(kName);
      size_t length = 0;
      if (at == std::string_view::npos) return 0;
      std::from_chars(head.data() + at + kName.size(), head.data() + head.size(), length);
      return length;
    }

    bool ReadMore() {
      char bytes[4096];
      const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), 0);
      if (count <= 0) return false;
      buffer_.append(bytes, static_cast<size_t>(count));
      return true;
    }

    const size_t number_;
    ScriptedServer& server_;
    const int socket_;
    std::string buffer_;
  };
  using Script = std::function<void(Connection&)>;

  explicit ScriptedServer(Script script)
      : script_(std::move(script)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    CHECK(::bind(socket_, generic, length) == 0);
    CHECK(::listen(socket_, 64) == 0);
    CHECK(::getsockname(socket_, generic, &length) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }

  // Ends all connections, also when a script is still waiting for the client.
  ~ScriptedServer() {
    ::shutdown(socket_, SHUT_RDWR);
    acceptor_.join();
    ::close(socket_);
    {
      std::lock_guard lock(mutex_);
      for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
  }

  uint16_t port() const { return port_; }
  std::string url(std::string_view path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }
  // How many connections were made so far.
  size_t connections() const {
    std::lock_guard lock(mutex_);
    return accepted_;
  }
  // All requests so far, of all connections, in the order of their arrival.
  std::vector<std::string> requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void Accept() {
    for (int socket = 0; (socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      std::lock_guard lock(mutex_);
      open_.push_back(socket);
      threads_.emplace_back([this, socket, number = accepted_++] { Serve(socket, number); });
    }
  }

  void Serve(int socket, size_t number) {
    Connection connection(this, socket, number);
    script_(connection);
    std::lock_guard lock(mutex_);
    std::erase(open_, socket);
    ::close(socket);
  }

  void Keep(std::string request) {
    std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }

  const Script script_;
  const int socket_;
  uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<int> open_;
  size_t accepted_ = 0;
  std::vector<std::string> requests_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace tidemark::http
