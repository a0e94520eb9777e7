// Helpers of the tests of the HTTP server: a server on loopback, and a handler that keeps the
// requests and answers as the test says.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "http/server.h"
#include "tests/support/manual_time.h"
#include "tests/support/raw_connection.h"

namespace tidemark::http {

// Answers at once with "METHOD path|body", or keeps the replies until the test sends them.
class RecordingHandler final : public Handler {
 public:
  void Handle(Request request, Reply reply) override {
    const std::string text =
        std::string(ToString(request.method)) + " " + request.path + "|" + request.body;
    bool keeps = false;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(std::move(request));
      keeps = keeps_;
      if (keeps) replies_.push_back(reply);
      changed_.notify_all();
    }
    if (!keeps) reply(answer_ ? answer_(text) : Text(200, text));
  }

  void KeepReplies(bool keeps = true) {
    const std::lock_guard lock(mutex_);
    keeps_ = keeps;
  }
  // Set before the first request.
  void AnswerWith(std::function<Response(const std::string&)> answer) { answer_ = answer; }

  void RefuseHeadsWith(Response refusal) { refusal_ = std::move(refusal); }
  std::optional<Response> RefuseByHead(const Request& /*head*/) override { return refusal_; }

  // Waits until this many requests have come, and returns the reply to the last one.
  Reply WaitForRequest(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() >= count; });
    return replies_.size() >= count ? replies_[count - 1] : Reply();
  }
  std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool keeps_ = false;
  std::function<Response(const std::string&)> answer_;
  std::optional<Response> refusal_;
  std::vector<Request> requests_;
  std::vector<Reply> replies_;
};

class ServerFixture : public ::testing::Test {
 protected:
  using RawConnection = tidemark::testing::RawConnection;
  using RawReply = tidemark::testing::RawReply;

  ServerFixture() : random_(1), logger_({.level = LogLevel::kDebug}, clock_, &log_) {
    options_.listen = "127.0.0.1:0";
    options_.loops = 2;
  }

  Runtime runtime() {
    return {.clock = clock_,
            .random = random_,
            .sleeper = sleeper_,
            .logger = logger_,
            .metrics = metrics_};
  }
  void Start() {
    auto started = Server::Start(options_, &handler_, runtime());
    ASSERT_TRUE(started.has_value()) << started.error().message;
    server_ = std::move(*started);
  }
  // The lines of the log. They are complete after the server is destroyed.
  std::string StopAndReadLog() {
    server_.reset();
    return log_.str();
  }

  ManualClock clock_;
  SeededRandom random_;
  ManualSleeper sleeper_{&clock_};
  std::ostringstream log_;
  Logger logger_;
  Metrics metrics_;
  RecordingHandler handler_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
};

}  // namespace tidemark::http
