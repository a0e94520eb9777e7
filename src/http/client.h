// A Client sends requests and waits for their answers, all under one deadline.
//
//   Exchange exchange = client.Send({.url = "https://slack.com/api/auth.test"}, deadline);
//   if (exchange.outcome == Outcome::kAnswered) Use(exchange.response);
//
// Redirects are not followed; the answer to one is handed to the caller, who decides whom it
// trusts. The proxy variables of the environment are ignored. Peers' certificates are verified.
// Nothing is sent again once the other side may have seen it, except GET and HEAD: once on a new
// connection when a kept one turns out to be closed, and after failures when the caller allows
// retries. May be called from any thread; connections are kept and shared.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/sleeper.h"
#include "http/limits.h"
#include "http/message.h"

namespace tidemark::http {

struct OutgoingRequest {
  Method method = Method::kGet;
  std::string url = {};  // http or https.
  Headers headers = {};
  std::string body = {};
  // What one attempt may take at most; the deadline binds all the same.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  size_t max_answer_bytes = kMaxAnswerBytes;
  // For GET and HEAD: after no or a broken connection or a 502, 503 or 504.
  uint32_t max_retries = 0;
  // When set, takes the body of a 2xx answer piece by piece as it comes, on the calling thread, and
  // the response's body stays empty. False ends the exchange as kTooLarge. Not with retries.
  std::function<bool(std::string_view piece)> sink = nullptr;
  // Refuses, once the name is resolved, to connect to addresses that are not public: kNotSent.
  bool public_addresses_only = false;
};

enum class Outcome {
  kAnswered,  // There is a whole answer, whatever its status.
  kNotSent,   // The other side has seen nothing: no connection, no such name, a bad URL or header.
  kTimedOut,  // No whole answer in time. It may have been seen, and may yet be acted on.
  kBroken,    // Likewise: the connection ended, or what came back is not HTTP.
  kTooLarge,  // An answer came, over the caller's bound.
};

struct Exchange {
  Outcome outcome = Outcome::kNotSent;
  Response response = {};   // When answered.
  std::string detail = {};  // Otherwise: what went wrong, for the log. Never a header or a body.
  std::chrono::microseconds took = {};  // The last attempt.
};

class Client {
 public:
  virtual ~Client() = default;

  // Sends all at once and returns when each has its outcome: one exchange a request, in order.
  virtual std::vector<Exchange> SendAll(std::span<const OutgoingRequest> requests,
                                        const Deadline& deadline) = 0;

  Exchange Send(const OutgoingRequest& request, const Deadline& deadline) {
    return std::move(SendAll({&request, 1}, deadline).front());
  }
};

// The whole seconds of the Retry-After header, up to an hour; zero when there are none. Its other
// form, a date, is not understood.
std::chrono::seconds RetryAfter(const Headers& headers);

struct ClientOptions {
  // Of connections that are kept for later requests.
  size_t max_idle_connections = 64;
  // PEM file of the authorities to trust instead of the system's; for tests and private ones.
  std::string authorities = {};
};

// Over libcurl.
class CurlClient final : public Client {
 public:
  // Both outlive the client.
  CurlClient(ClientOptions options, const Clock* clock, Sleeper* sleeper);
  ~CurlClient() override;

  std::vector<Exchange> SendAll(std::span<const OutgoingRequest> requests,
                                const Deadline& deadline) override;

 private:
  class Pool;

  const Clock& clock_;
  Sleeper& sleeper_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace tidemark::http
