#include "http/request_parser.h"

#include <algorithm>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "base/ascii.h"
#include "base/check.h"

namespace tidemark::http {

namespace beast = boost::beast;

namespace {

// Memory is not reserved only because a client announces a length.
constexpr size_t kMaxReservedBytes = 64 << 10;
constexpr size_t kUsualHeaders = 12;

std::optional<Method> MethodOf(beast::http::verb verb) {
  switch (verb) {
    case beast::http::verb::get:
      return Method::kGet;
    case beast::http::verb::head:
      return Method::kHead;
    case beast::http::verb::post:
      return Method::kPost;
    case beast::http::verb::put:
      return Method::kPut;
    case beast::http::verb::patch:
      return Method::kPatch;
    case beast::http::verb::delete_:
      return Method::kDelete;
    case beast::http::verb::options:
      return Method::kOptions;
    default:
      return std::nullopt;
  }
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '-' || c == '.' ||
         c == '_';
}

bool IsAddressCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

bool IsPort(std::string_view text) {
  return text.empty() || (text.front() == ':' && text.size() >= 2 && text.size() <= 6 &&
                          std::ranges::all_of(text.substr(1), IsDigit));
}

// "name", "name:port", "[address]" or "[address]:port".
bool IsHost(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    return end != std::string_view::npos && end > 1 &&
           std::ranges::all_of(text.substr(1, end - 1), IsAddressCharacter) &&
           IsPort(text.substr(end + 1));
  }
  const std::string_view name = text.substr(0, text.find(':'));
  return !name.empty() && std::ranges::all_of(name, IsHostCharacter) &&
         IsPort(text.substr(name.size()));
}

bool IsTargetCharacter(char c) { return c > 0x20 && c < 0x7f && c != '#'; }

size_t MaxBodyBytes(const ServerLimits& limits, std::string_view path) {
  const bool is_large =
      std::ranges::any_of(limits.large_body_prefixes,
                          [&](const std::string& prefix) { return path.starts_with(prefix); });
  return is_large ? limits.max_large_body_bytes : limits.max_body_bytes;
}

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

// Beast's parser over one whole head, and the rules that it does not have.
class RequestParser::Head final : public beast::http::basic_parser<true> {
 public:
  Head(const ServerLimits& limits, Request* request) : limits_(limits), request_(*request) {
    // Beast parses only the head. Our code reads the length and the body.
    skip(true);
    header_limit(static_cast<uint32_t>(limits.max_head_bytes));
  }

  // nullopt when the head is valid.
  std::optional<Refusal> Parse(std::string_view head) {
    beast::error_code error;
    put({head.data(), head.size()}, error);
    if (refusal_) return refusal_;
    if (error || !is_done()) return Refusal{400, "The request's head is not HTTP/1.1."};
    return Judge();
  }

  bool expects_continue() const { return expects_continue_; }
  bool is_http_10() const { return version_ == 10; }
  bool chunked_body() const { return transfer_encodings_ == 1; }
  uint64_t length() const { return content_length().value_or(0); }

 private:
  // The checks that need all headers.
  std::optional<Refusal> Judge() const {
    const bool is_11 = version_ == 11;
    if (hosts_ > 1) return Refusal{400, "There is more than one Host."};
    if (hosts_ == 0 && is_11) return Refusal{400, "The Host header is missing."};
    if (lengths_ > 1) return Refusal{400, "There is more than one Content-Length."};
    if (transfer_encodings_ > 0 && !is_11) {
      return Refusal{400, "HTTP/1.0 has no Transfer-Encoding."};
    }
    if (transfer_encodings_ > 1) return Refusal{400, "There is more than one Transfer-Encoding."};
    // A proxy may believe one of the two and we the other. Then a part of this body would be read
    // as the next request (request smuggling).
    if (transfer_encodings_ > 0 && lengths_ > 0) {
      return Refusal{400, "Transfer-Encoding and Content-Length exclude each other."};
    }
    if (length() > MaxBodyBytes(limits_, request_.path)) {
      return Refusal{413, "The body is too large."};
    }
    return std::nullopt;
  }

  void Refuse(int status, std::string_view detail, beast::error_code* error) {
    refusal_ = Refusal{status, detail};
    *error = beast::http::error::bad_value;
  }

  void on_request_impl(beast::http::verb verb, beast::string_view, beast::string_view target,
                       int version, beast::error_code& error) override {
    version_ = version;
    const auto method = MethodOf(verb);
    if (!method) return Refuse(501, "This method is not served.", &error);
    request_.method = *method;
    const std::string_view text = View(target);
    const bool is_path = text.starts_with('/') && std::ranges::all_of(text, IsTargetCharacter);
    if (!is_path && !(text == "*" && *method == Method::kOptions)) {
      return Refuse(400, "The target is not a path that begins with '/'.", &error);
    }
    const size_t mark = std::min(text.find('?'), text.size());
    request_.path = text.substr(0, mark);
    request_.query = text.substr(std::min(mark + 1, text.size()));
    request_.headers.reserve(kUsualHeaders);
  }

  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value,
                     beast::error_code& error) override {
    if (request_.headers.size() >= limits_.max_headers) {
      return Refuse(431, "There are too many headers.", &error);
    }
    CheckField(field, View(value), &error);
    if (!error) request_.headers.Add(std::string(View(name)), std::string(View(value)));
  }

  void CheckField(beast::http::field field, std::string_view value, beast::error_code* error) {
    if (field == beast::http::field::host) {
      ++hosts_;
      if (!IsHost(value)) Refuse(400, "The Host is malformed.", error);
    } else if (field == beast::http::field::content_length) {
      ++lengths_;
      // Beast accepts a list of equal lengths, but a proxy may understand it in another way.
      if (!std::ranges::all_of(value, IsDigit)) {
        Refuse(400, "The Content-Length is malformed.", error);
      }
    } else if (field == beast::http::field::transfer_encoding) {
      ++transfer_encodings_;
      if (!EqualIgnoringCase(value, "chunked")) {
        Refuse(400, "The Transfer-Encoding is not exactly chunked.", error);
      }
    } else if (field == beast::http::field::expect && version_ == 11) {
      expects_continue_ = EqualIgnoringCase(value, "100-continue");
      if (!expects_continue_) Refuse(417, "Only 100-continue can be expected.", error);
    }
  }

  void on_header_impl(beast::error_code&) override {}
  void on_finish_impl(beast::error_code&) override {}
  // The errors below are about replies and bodies, which this parser never sees.
  void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<uint64_t>&, beast::error_code&) override {}
  size_t on_body_impl(beast::string_view body, beast::error_code&) override { return body.size(); }
  void on_chunk_header_impl(uint64_t, beast::string_view, beast::error_code&) override {}
  size_t on_chunk_body_impl(uint64_t, beast::string_view body, beast::error_code&) override {
    return body.size();
  }

  const ServerLimits& limits_;
  Request& request_;
  std::optional<Refusal> refusal_;
  int version_ = 0;
  int hosts_ = 0;
  int lengths_ = 0;
  int transfer_encodings_ = 0;
  bool expects_continue_ = false;
};

size_t RequestParser::Feed(std::string_view bytes) {
  size_t taken = 0;
  if (state_ == State::kHead) taken = FeedHead(bytes);
  if (state_ == State::kBody) taken += FeedBody(bytes.substr(taken));
  return taken;
}

void RequestParser::StartNext() {
  CHECK(state_ == State::kComplete);
  state_ = State::kHead;
  request_ = Request();
  expects_continue_ = false;
}

size_t RequestParser::FeedHead(std::string_view bytes) {
  const size_t length = FindHeadEnd(bytes.substr(0, limits_.max_head_bytes));
  if (length > 0) {
    line_start_ = 0;
    scanned_ = 0;
    ParseHead(bytes.substr(0, length));
    return length;
  }
  if (state_ == State::kHead && bytes.size() >= limits_.max_head_bytes) {
    Refuse(431, "The request's head is too large.");
  }
  return 0;
}

size_t RequestParser::FindHeadEnd(std::string_view bytes) {
  for (;;) {
    // Bytes that were searched before are not searched again. So a head takes linear time even if
    // it arrives byte by byte.
    const size_t end = bytes.find('\n', scanned_);
    if (end == std::string_view::npos) {
      scanned_ = bytes.size();
      return 0;
    }
    // When a line ends in LF alone, Beast would wait for more bytes. And it would join a line that
    // begins with white space to the line before it.
    if (end == line_start_ || bytes[end - 1] != '\r') {
      Refuse(400, "A line does not end in CRLF.");
      return 0;
    }
    if (end == line_start_ + 1) return end + 1;
    if (bytes[line_start_] == ' ' || bytes[line_start_] == '\t') {
      Refuse(400, "A line begins with white space.");
      return 0;
    }
    scanned_ = line_start_ = end + 1;
  }
}

void RequestParser::ParseHead(std::string_view bytes) {
  Head head(limits_, &request_);
  if (const auto refusal = head.Parse(bytes)) return Refuse(refusal->status, refusal->detail);
  keep_alive_ = head.keep_alive();
  expects_continue_ = head.expects_continue();
  is_http_10_ = head.is_http_10();
  StartBody(head);
}

void RequestParser::StartBody(const Head& head) {
  body_missing_ = 0;
  chunks_.reset();
  state_ = State::kBody;
  if (head.chunked_body()) {
    chunks_.emplace(ChunkDecoder::Bounds{.max_body_bytes = MaxBodyBytes(limits_, request_.path),
                                         .max_extra_bytes = limits_.max_head_bytes});
    return;
  }
  body_missing_ = head.length();
  request_.body.reserve(std::min<uint64_t>(body_missing_, kMaxReservedBytes));
}

size_t RequestParser::FeedBody(std::string_view bytes) {
  if (!chunks_) {
    const size_t taken = std::min<uint64_t>(body_missing_, bytes.size());
    request_.body.append(bytes.substr(0, taken));
    body_missing_ -= taken;
    if (body_missing_ == 0) state_ = State::kComplete;
    return taken;
  }
  std::string_view rest = bytes;
  switch (chunks_->Decode(&rest, &request_.body)) {
    case ChunkDecoder::Verdict::kMore:
      break;
    case ChunkDecoder::Verdict::kDone:
      state_ = State::kComplete;
      break;
    case ChunkDecoder::Verdict::kMalformed:
      Refuse(400, "The chunked body is malformed.");
      break;
    case ChunkDecoder::Verdict::kBodyTooLarge:
      Refuse(413, "The body is too large.");
      break;
    case ChunkDecoder::Verdict::kExtraTooLarge:
      Refuse(431, "The body's extensions or trailers are too large.");
      break;
  }
  return bytes.size() - rest.size();
}

void RequestParser::Refuse(int status, std::string_view detail) {
  state_ = State::kRefused;
  refusal_ = {.status = status, .detail = detail};
  keep_alive_ = false;
}

}  // namespace tidemark::http
