// A Redis server to compare with, started by the benchmark, and connections to it. A client is for
// one thread.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <netinet/in.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <hiredis/hiredis.h>

namespace tidemark::bench {

[[noreturn]] inline void Give(const std::string& why) {
  fmt::print(stderr, "bench: {}\n", why);
  std::exit(1);
}

inline int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* general = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket, general, length) != 0) Give("no free port");
  if (::getsockname(socket, general, &length) != 0) Give("no free port");
  ::close(socket);
  return ntohs(address.sin_port);
}

// One connection, for one thread.
class RedisClient {
 public:
  explicit RedisClient(int port) : context_(redisConnect("127.0.0.1", port), redisFree) {}
  bool connected() const { return context_ && context_->err == 0; }

  // True when the answer is OK or a number.
  bool Run(const std::vector<std::string>& words) {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
    const std::unique_ptr<void, void (*)(void*)> reply(
        redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(),
                         lengths.data()),
        freeReplyObject);
    if (!reply) Give("Redis does not answer");
    const int type = static_cast<const redisReply*>(reply.get())->type;
    return type == REDIS_REPLY_STATUS || type == REDIS_REPLY_INTEGER;
  }

 private:
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
};

// A command as a client sends it.
inline std::string RedisCommand(const std::vector<std::string>& words) {
  std::string request = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) request += fmt::format("${}\r\n{}\r\n", word.size(), word);
  return request;
}

// Starts a Redis server that syncs every write, or once a second ("everysec"). The destructor ends
// it.
class RedisServer {
 public:
  explicit RedisServer(const std::string& folder, const std::string& sync = "always")
      : port_(FreePort()) {
    std::filesystem::create_directories(folder);
    const std::string port = std::to_string(port_);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // Also when the benchmark ends early.
      // redis-check-rdb is the same program as redis-server, and acts by the name it is called
      // with. Its package does not start a server on this machine, unlike the package redis-server.
      ::execlp("redis-check-rdb", "redis-server", "--port", port.c_str(), "--bind", "127.0.0.1",
               "--dir", folder.c_str(), "--save", "", "--appendonly", "yes", "--appendfsync",
               sync.c_str(), "--logfile", "redis.log", nullptr);
      ::_exit(1);
    }
    for (int i = 0; i < 100; ++i) {
      if (RedisClient(port_).connected()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    Give("Redis did not start; is it installed? (apt-get install redis-tools)");
  }
  ~RedisServer() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  int port() const { return port_; }

 private:
  const int port_;
  pid_t process_ = -1;
};

}  // namespace tidemark::bench
