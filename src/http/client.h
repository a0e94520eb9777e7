// A Client sends requests and returns the answers before a deadline.
//
//   Exchange exchange = client.Send({.url = "https://slack.com/api/auth.test"}, deadline);
//   if (exchange.outcome == Outcome::kAnswered) Use(exchange.response);
//
//   client.Submit({.url = "https://slack.com/api/auth.test"}, deadline)
//       .Then([](Result<Exchange> exchange) {...});   // The same without a thread that waits.
//
// Redirects are not followed: the caller gets the redirect as the answer and decides what to do.
// The proxy variables of the environment are ignored. Certificates are verified. A request that the
// server may have received is not sent again, except GET and HEAD: once on a new connection when a
// kept one turns out to be closed, and after failures when the caller allows retries. May be called
// from any thread; connections are kept and shared.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/later.h"
#include "base/sleeper.h"
#include "http/limits.h"
#include "http/message.h"

namespace tidemark::http {

struct OutgoingRequest {
  Method method = Method::kGet;
  std::string url = {};  // http or https.
  Headers headers = {};
  std::string body = {};
  // The timeout of one attempt. The deadline holds too.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  size_t max_answer_bytes = kMaxAnswerBytes;
  // For GET and HEAD: retries when there is no connection, when it breaks, and after 502, 503 and
  // 504. Submit makes only one attempt.
  uint32_t max_retries = 0;
  // When set, takes the body of a 2xx answer piece by piece as it comes, on the calling thread, and
  // the response's body stays empty. False ends the exchange as kTooLarge. It may block, so it is
  // not for Submit; and not with retries.
  std::function<bool(std::string_view piece)> sink = nullptr;
  // For a request with a sink: when this asks to stop, the exchange ends within a second, as
  // kTimedOut.
  std::stop_token stop = {};
  // After the name is resolved, refuses to connect to an address that is not public: kNotSent.
  bool public_addresses_only = false;
};

enum class Outcome {
  kAnswered,  // There is a complete answer, with any status.
  kNotSent,   // Nothing was sent: no connection, no such name, a bad URL or header.
  kTimedOut,  // No complete answer in time. The server may still handle the request.
  kBroken,    // The connection ended, or the answer is not HTTP. As above.
  kTooLarge,  // The answer is larger than the caller's limit.
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

  // Sends all requests at once and returns when each has its outcome: one exchange for each
  // request, in order.
  virtual std::vector<Exchange> SendAll(std::span<const OutgoingRequest> requests,
                                        const Deadline& deadline) = 0;

  Exchange Send(const OutgoingRequest& request, const Deadline& deadline) {
    return std::move(SendAll({&request, 1}, deadline).front());
  }

  // Makes one attempt without blocking a thread. Callbacks run on a thread of the client and must
  // not block it. Cancelling ends the attempt with kCancelled; destroying the client does the same.
  // The server may have received the request anyway.
  //
  // By default, this sends the request on the calling thread.
  virtual Later<Exchange> Submit(OutgoingRequest request, const Deadline& deadline) {
    return Send(request, deadline);
  }
};

// The seconds of the Retry-After header, at most an hour; zero when it is missing. A date in it is
// not supported.
std::chrono::seconds RetryAfter(const Headers& headers);

struct ClientOptions {
  // How many idle connections are kept for later requests.
  size_t max_idle_connections = 64;
  // A PEM file of the certificate authorities to trust instead of the system's, for tests and
  // private authorities.
  std::string authorities = {};
};

// Uses libcurl. One thread runs all requests, except those with a sink, which run on the calling
// thread.
class CurlClient final : public Client {
 public:
  // Both outlive the client.
  CurlClient(ClientOptions options, const Clock* clock, Sleeper* sleeper);
  ~CurlClient() override;

  std::vector<Exchange> SendAll(std::span<const OutgoingRequest> requests,
                                const Deadline& deadline) override;
  Later<Exchange> Submit(OutgoingRequest request, const Deadline& deadline) override;

 private:
  class Loop;
  class Sessions;

  // Makes one attempt for each request of `due`, and stores the results in `exchanges`.
  void Attempt(std::span<const OutgoingRequest> requests, const std::vector<size_t>& due,
               const Deadline& deadline, std::vector<Exchange>* exchanges);

  const Clock& clock_;
  Sleeper& sleeper_;
  const ClientOptions options_;
  std::unique_ptr<Sessions> sessions_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace tidemark::http
