// Addresses of files: whatever a URL and the redirects behind it look like, the token is sent to
// the allowed origins alone. The lines are the URL and, one after the other, where it is redirected
// to.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "slack/download.h"
#include "tests/support/manual_time.h"

namespace {

using tidemark::Deadline;
using tidemark::ManualClock;
using tidemark::Secret;
namespace http = tidemark::http;

std::string TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return std::string(line);
}

// What stands before the path, by the bytes alone: no parser of ours has a say.
std::string OriginIn(std::string_view url) {
  const size_t scheme = url.find("://");
  CHECK(scheme != std::string_view::npos);
  std::string origin(url.substr(0, url.find_first_of("/?#\\", scheme + 3)));
  for (char& c : origin) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return origin;
}

bool IsAllowed(const std::string& origin) {
  return origin == "https://files.slack.com" || origin == "https://files.slack.com:443" ||
         origin == "https://files-origin.slack.com" ||
         origin == "https://files-origin.slack.com:443" || origin == "http://127.0.0.1:9000";
}

// Redirects to one line after the other.
class Redirector final : public http::Client {
 public:
  explicit Redirector(std::string_view lines) : lines_(lines) {}

  std::vector<http::Exchange> SendAll(std::span<const http::OutgoingRequest> requests,
                                      const Deadline&) override {
    CHECK(IsAllowed(OriginIn(requests.front().url)));
    http::Exchange exchange{.outcome = http::Outcome::kAnswered};
    exchange.response.status = 302;
    exchange.response.headers.Add("Location", TakeLine(&lines_));
    return {std::move(exchange)};
  }

 private:
  std::string_view lines_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view lines(reinterpret_cast<const char*>(data), size);
  std::string url = TakeLine(&lines);
  Redirector client(lines);
  static const ManualClock clock;
  tidemark::slack::Downloader downloader({.origins = {"http://127.0.0.1:9000"}}, &client);
  downloader.Download({.url = std::move(url), .to = "/dev/null"}, Secret(std::string("xoxb-fuzz")),
                      Deadline::After(clock, std::chrono::seconds(1)));
  return 0;
}
