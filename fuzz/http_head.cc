// The parser of requests, heads and bodies: what it makes of a stream of bytes does not depend on
// where the stream is cut, and what it accepts keeps the promises of http/server.h. The first byte
// chooses the limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "http/request_parser.h"

namespace http = tidemark::http;

namespace {

using State = http::RequestParser::State;

// Every place to cut is tried up to this length; it grows with the square.
constexpr size_t kMaxBytesCutEverywhere = 250;

struct Outcome {
  std::vector<http::Request> requests;
  State state = State::kHead;
  int refused = 0;
};

bool operator==(const http::Request& left, const http::Request& right) {
  return left.method == right.method && left.path == right.path && left.query == right.query &&
         std::ranges::equal(left.headers, right.headers) && left.body == right.body;
}

bool operator==(const Outcome& left, const Outcome& right) {
  return std::ranges::equal(left.requests, right.requests,
                            [](const auto& a, const auto& b) { return a == b; }) &&
         left.state == right.state && left.refused == right.refused;
}

class Feeder {
 public:
  explicit Feeder(const http::ServerLimits& limits) : parser_(limits) {}

  void Feed(std::string_view bytes) {
    pending_ += bytes;
    while (parser_.state() != State::kRefused && !pending_.empty()) {
      const size_t taken = parser_.Feed(pending_);
      CHECK(taken <= pending_.size());
      pending_.erase(0, taken);
      if (parser_.state() != State::kComplete) break;
      outcome_.requests.push_back(parser_.request());
      parser_.StartNext();
    }
  }

  Outcome Finish() {
    outcome_.state = parser_.state();
    if (outcome_.state == State::kRefused) outcome_.refused = parser_.refusal().status;
    return outcome_;
  }

 private:
  http::RequestParser parser_;
  std::string pending_;
  Outcome outcome_;
};

bool IsControl(char c) { return (static_cast<uint8_t>(c) < 0x20 && c != '\t') || c == 0x7f; }

void CheckPromises(const http::Request& request, const http::ServerLimits& limits) {
  CHECK(request.path.starts_with('/') || request.path == "*");
  CHECK(request.headers.size() <= limits.max_headers);
  CHECK(request.body.size() <= limits.max_body_bytes);
  CHECK(request.headers.FindAll("Host").size() <= 1);
  const size_t lengths = request.headers.FindAll("Content-Length").size();
  const auto encodings = request.headers.FindAll("Transfer-Encoding");
  CHECK(lengths + encodings.size() <= 1);
  CHECK(encodings.empty() || http::EqualIgnoringCase(encodings[0], "chunked"));
  if (lengths == 1) {
    CHECK(std::stoull(std::string(*request.headers.Find("Content-Length"))) == request.body.size());
  }
  for (const http::Header& header : request.headers) {
    CHECK(std::ranges::none_of(header.name + header.value, IsControl));
  }
}

http::ServerLimits LimitsFrom(uint8_t choice) {
  http::ServerLimits limits;
  if (choice & 1) limits.max_head_bytes = 120;
  if (choice & 2) limits.max_headers = 3;
  if (choice & 4) limits.max_body_bytes = 10;
  return limits;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const http::ServerLimits limits = LimitsFrom(data[0]);
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);

  Feeder at_once(limits);
  at_once.Feed(bytes);
  const Outcome whole = at_once.Finish();
  for (const http::Request& request : whole.requests) CheckPromises(request, limits);

  Feeder byte_by_byte(limits);
  for (size_t i = 0; i < bytes.size(); ++i) byte_by_byte.Feed(bytes.substr(i, 1));
  CHECK(byte_by_byte.Finish() == whole);

  if (bytes.size() > kMaxBytesCutEverywhere) return 0;
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    Feeder halves(limits);
    halves.Feed(bytes.substr(0, cut));
    halves.Feed(bytes.substr(cut));
    CHECK(halves.Finish() == whole);
  }
  return 0;
}
