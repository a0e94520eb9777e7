// A process that claims one key over HTTP and prints the outcome. A test runs many of them to show
// that exactly one wins. Usage: claimer URL TOKEN KEY; prints the outcome.
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/sleeper.h"
#include "http/client.h"

namespace tidemark {
namespace {

int Run(const std::string& url, const std::string& token, const std::string& key) {
  SystemClock clock;
  SystemSleeper sleeper;
  http::CurlClient client({}, &clock, &sleeper);
  std::string body = R"({"key":)";
  JsonWriter(&body).String(key);
  body += "}";
  const http::Exchange exchange = client.Send(
      {.method = http::Method::kPost,
       .url = url + "/api/v1/claims",
       .headers = {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}},
       .body = body,
       .timeout = std::chrono::seconds(60)},
      Deadline::After(clock, std::chrono::seconds(60)));
  const auto reply = JsonDocument::Parse(exchange.response.body);
  if (exchange.response.status != 200 || !reply) {
    fmt::print("error {} {} {}\n", exchange.response.status, exchange.detail,
               exchange.response.body);
    return 1;
  }
  fmt::print("{}\n", reply->root().Find("outcome")->AsString().value());
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: claimer URL TOKEN KEY\n", stderr);
    return 2;
  }
  return tidemark::Run(argv[1], argv[2], argv[3]);
}
