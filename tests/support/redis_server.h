// A Redis server of the test's own, on a unix socket in a folder of its own, gone at the end.
#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/check.h"
#include "redis/client.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {

class RedisServer {
 public:
  explicit RedisServer(std::string password = "") : password_(std::move(password)) { Start(); }
  ~RedisServer() { Stop(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  redis::ClientOptions options() const {
    redis::ClientOptions options{.address = "unix:" + socket()};
    options.password = Secret(std::string(password_));
    return options;
  }

  void Start() {
    const std::string folder = folder_.path();
    process_ = ::fork();
    CHECK(process_ >= 0);
    if (process_ == 0) {
      // The same program as redis-server, which is what it is when called so; but from a package
      // that starts no server of its own on the machine.
      ::execlp("redis-check-rdb", "redis-server", "--port", "0", "--unixsocket", socket().c_str(),
               "--dir", folder.c_str(), "--save", "", "--appendonly", "yes", "--logfile",
               "redis.log", password_.empty() ? nullptr : "--requirepass", password_.c_str(),
               nullptr);
      ::_exit(1);
    }
    // A process of its own cannot be waited for in another way.
    for (int i = 0; i < 500; ++i) {
      redis::Client client(options());
      if (client.Run({"PING"})) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "Redis did not start; is redis-tools installed?";
  }
  void Stop() {
    if (process_ <= 0) return;
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  std::string socket() const { return (std::filesystem::path(folder_.path()) / "s").string(); }

  const std::string password_;
  TempFolder folder_;
  pid_t process_ = -1;
};

}  // namespace tidemark::testing
