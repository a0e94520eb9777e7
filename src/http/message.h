// Requests and replies as plain values.
//
// Header names compare without regard to case. A Headers keeps repeated names in order, so that
// code that expects exactly one header of a name can notice a second one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/shared_text.h"

namespace tidemark::http {

// The methods that are served and sent; any other is answered with 501.
enum class Method { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions };

std::string_view ToString(Method method);

// Ignores the case of ASCII letters only.
bool EqualIgnoringCase(std::string_view left, std::string_view right);

struct Header {
  std::string name;
  std::string value;
  friend bool operator==(const Header&, const Header&) = default;
};

class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> headers) : headers_(headers) {}

  void Add(std::string name, std::string value);
  // Replaces every header of the name by one.
  void Set(std::string name, std::string value);

  // The first of the name.
  std::optional<std::string_view> Find(std::string_view name) const;
  // Every value of the name, in order.
  std::vector<std::string_view> FindAll(std::string_view name) const;

  auto begin() const { return headers_.begin(); }
  auto end() const { return headers_.end(); }
  size_t size() const { return headers_.size(); }
  void clear() { headers_.clear(); }
  void reserve(size_t count) { headers_.reserve(count); }

 private:
  std::vector<Header> headers_;
};

// A request as it came in. The body is whole and exactly the bytes that were received.
struct Request {
  Method method = Method::kGet;
  std::string path;   // As received, still percent-encoded: "/api/v1/claims/a%2Fb".
  std::string query;  // The part after '?', still encoded; empty when there is none.
  Headers headers;
  std::string body;
  std::string peer;  // The client's address, without its port.
  std::string id;    // Names this request in the log and in X-Request-Id.
  // The client's address has sent too many bad requests (bad_requests.h). If this one is bad too,
  // it leaves no line in the log.
  bool is_over_limit = false;
};

// A body that is too large for memory. It is read piece by piece while it is sent.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Exactly `size` bytes from the offset on. May block; called by one thread at a time. An error
  // closes the connection, so that the client notices that its answer is incomplete.
  virtual Result<std::string> Read(uint64_t offset, size_t size) = 0;
};

struct Response {
  int status = 200;
  Headers headers = {};
  std::string body = {};
  // Instead of the body: these texts, one after the other. They are sent without being joined.
  std::vector<SharedText> parts = {};
  // Instead of both: `source_size` bytes of the source.
  std::shared_ptr<BodySource> source = nullptr;
  uint64_t source_size = 0;
  std::string caller = {};         // Who made the request, for the access log; not sent.
  std::string cause = {};          // Why the server failed, for its log; not sent.
  bool is_to_bad_request = false;  // See BadRequest; not sent.
  // Sent instead when too many large replies wait already; nullptr: a 503.
  std::shared_ptr<Response> if_refused = nullptr;
};

// The number of bytes that the body has, whichever kind it is.
uint64_t BodyBytes(const Response& response);

// "OK" for 200; "Unknown" for a status that is not in the list.
std::string_view StatusText(int status);

// A reply with a body of this content type. Caches must not keep it, and browsers must not guess
// another type: Cache-Control: no-store, X-Content-Type-Options: nosniff.
Response Text(int status, std::string body);  // text/plain; charset=utf-8
Response Json(int status, std::string body);  // application/json
Response Json(int status, std::vector<SharedText> parts);

// application/problem+json: a title for the status, and a detail that says what was wrong and
// what to do. `detail` may be empty, for refusals that must not say why.
Response Problem(int status, std::string_view detail);

// The same for a request that is not valid HTTP, has no route, or has no valid token or signature.
// The server counts these for each address, and answers too many with 429 (bad_requests.h).
Response BadRequest(int status, std::string_view detail);

}  // namespace tidemark::http
