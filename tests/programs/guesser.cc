// A process that guesses at a password over HTTP, on several connections at once.
// Usage: guesser URL TOKEN SUBJECT NAME GUESSES THREADS; prints how many guesses were verified, and
// how many were refused. NAME tells its attempts from those of other processes.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/sleeper.h"
#include "http/client.h"

namespace tidemark {
namespace {

constexpr std::chrono::seconds kPatience(120);

class Guesser {
 public:
  Guesser(std::string url, std::string token) : url_(std::move(url)), token_(std::move(token)) {}

  // Whether the guess was verified. It is wrong.
  bool Guess(const std::string& subject, const std::string& id) {
    const std::string name =
        R"("journey":"SIGN_IN","count_type":"ERROR_COUNT","classifier":"PASSWORD_ENTRY")";
    const std::string slot =
        Post(subject + "/attempts/reserve", fmt::format(R"({{{},"attempt_id":"{}"}})", name, id));
    if (slot.find(R"("verdict":"permitted")") == std::string::npos) return false;
    Post(subject + "/attempts/settle",
         fmt::format(R"({{{},"attempt_id":"{}","right":false}})", name, id));
    return true;
  }

 private:
  std::string Post(const std::string& path, std::string body) {
    const http::Exchange exchange =
        client_.Send({.method = http::Method::kPost,
                      .url = url_ + "/api/v1/subjects/" + path,
                      .headers = {{"Authorization", "Bearer " + token_}},
                      .body = std::move(body),
                      .timeout = kPatience},
                     Deadline::After(clock_, kPatience));
    if (exchange.response.status == 200) return exchange.response.body;
    fmt::print(stderr, "{} {} {}\n", exchange.response.status, exchange.detail,
               exchange.response.body);
    std::exit(1);
  }

  const std::string url_;
  const std::string token_;
  SystemClock clock_;
  SystemSleeper sleeper_;
  http::CurlClient client_{{}, &clock_, &sleeper_};
};

int Run(char** argv) {
  Guesser guesser(argv[1], argv[2]);
  const std::string subject = argv[3];
  const std::string name = argv[4];
  const int guesses = std::atoi(argv[5]);
  std::atomic<int> next = 0;
  std::atomic<int> verified = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(argv[6]); ++i) {
    threads.emplace_back([&] {
      for (int guess = next++; guess < guesses; guess = next++) {
        if (guesser.Guess(subject, fmt::format("{}-{}", name, guess))) ++verified;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  fmt::print("{} {}\n", verified.load(), guesses - verified);
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fputs("usage: guesser URL TOKEN SUBJECT NAME GUESSES THREADS\n", stderr);
    return 2;
  }
  return tidemark::Run(argv);
}
