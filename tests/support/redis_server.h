// A Redis server for one test, on a unix socket in a temporary folder. The destructor ends it.
#pragma once

#include <csignal>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/check.h"
#include "redis/client.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {

class RedisServer {
 public:
  // `more` are further arguments of the server.
  explicit RedisServer(std::string password = "", std::vector<std::string> more = {})
      : password_(std::move(password)), more_(std::move(more)) {
    Start();
  }
  ~RedisServer() { Stop(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  redis::ClientOptions options() const {
    redis::ClientOptions options{.address = "unix:" + socket()};
    options.password = Secret(std::string(password_));
    return options;
  }

  // Returns when the log of the server says that it accepts connections.
  void Start() {
    const std::string folder = folder_.path();
    int log[2];
    CHECK(::pipe(log) == 0);
    process_ = ::fork();
    CHECK(process_ >= 0);
    if (process_ == 0) {
      ::dup2(log[1], STDOUT_FILENO);
      // redis-check-rdb is the same program as redis-server, and acts by the name it is called
      // with. Its package does not start a server on this machine, unlike the package redis-server.
      std::vector<std::string> words = {"redis-server", "--port", "0", "--unixsocket", socket()};
      words.insert(words.end(), {"--dir", folder, "--save", "", "--appendonly", "yes"});
      if (!password_.empty()) words.insert(words.end(), {"--requirepass", password_});
      words.insert(words.end(), more_.begin(), more_.end());
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execvp("redis-check-rdb", arguments.data());
      ::_exit(1);
    }
    ::close(log[1]);
    log_ = log[0];
    std::string said;
    char piece[512];
    while (said.find("ready to accept connections") == std::string::npos) {
      const ssize_t size = ::read(log_, piece, sizeof piece);
      ASSERT_GT(size, 0) << "Redis did not start; is redis-tools installed? " << said;
      said.append(piece, static_cast<size_t>(size));
    }
  }
  void Stop() {
    if (process_ <= 0) return;
    GoOn();
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
    ::close(log_);
  }
  // Stops the process: it accepts connections and commands, but answers only after it is resumed.
  void Pause() { ::kill(process_, SIGSTOP); }
  void GoOn() { ::kill(process_, SIGCONT); }

 private:
  std::string socket() const { return (std::filesystem::path(folder_.path()) / "s").string(); }

  const std::string password_;
  const std::vector<std::string> more_;
  TempFolder folder_;
  pid_t process_ = -1;
  int log_ = -1;
};

}  // namespace tidemark::testing
