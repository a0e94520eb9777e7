#include "http/request_parser.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::http {
namespace {

using State = RequestParser::State;

// The result of parsing a stream of bytes.
struct Outcome {
  std::vector<Request> requests;
  int refused = 0;     // The status of the refusal; 0: nothing was refused.
  std::string unused;  // Bytes of an incomplete request, or after a refusal.
  State state = State::kHead;
};

std::string Show(const Outcome& outcome) {
  std::string text;
  for (const Request& request : outcome.requests) {
    text += std::string(ToString(request.method)) + " " + request.path + "?" + request.query;
    for (const Header& header : request.headers) text += "|" + header.name + "=" + header.value;
    text += "|" + request.body + "\n";
  }
  return text + std::to_string(outcome.refused);
}

// Feeds the bytes in pieces, each cut where `cuts` says.
Outcome ReadCut(std::string_view bytes, const std::vector<size_t>& cuts,
                const ServerLimits& limits = {}) {
  RequestParser parser(limits);
  Outcome outcome;
  std::string pending;
  size_t begin = 0;
  for (size_t i = 0; i <= cuts.size(); ++i) {
    const size_t end = i < cuts.size() ? cuts[i] : bytes.size();
    pending += bytes.substr(begin, end - begin);
    begin = end;
    while (parser.state() != State::kRefused && !pending.empty()) {
      pending.erase(0, parser.Feed(pending));
      if (parser.state() != State::kComplete) break;
      outcome.requests.push_back(parser.request());
      parser.StartNext();
    }
  }
  outcome.state = parser.state();
  if (parser.state() == State::kRefused) outcome.refused = parser.refusal().status;
  outcome.unused = pending;
  return outcome;
}

Outcome Read(std::string_view bytes, const ServerLimits& limits = {}) {
  return ReadCut(bytes, {}, limits);
}

int RefusalOf(std::string_view bytes, const ServerLimits& limits = {}) {
  const Outcome outcome = Read(bytes, limits);
  return outcome.requests.empty() ? outcome.refused : 0;
}

// A head with these lines between the request line and the end.
std::string WithLines(std::string_view lines) {
  return "POST /a HTTP/1.1\r\nHost: a.example\r\n" + std::string(lines) + "\r\n";
}

// A simple request with all its parts.
TEST(RequestParserTest, ReadsARequest) {
  const Outcome outcome = Read(
      "POST /a%20b?x=1&y HTTP/1.1\r\nHost: a.example:80\r\nX-One:  1 \r\nx-one: 2\r\n"
      "Content-Length: 5\r\n\r\nhello");
  ASSERT_EQ(outcome.requests.size(), 1U);
  const Request& request = outcome.requests[0];
  EXPECT_EQ(request.method, Method::kPost);
  EXPECT_EQ(request.path, "/a%20b");
  EXPECT_EQ(request.query, "x=1&y");
  EXPECT_EQ(request.headers.FindAll("X-ONE"), (std::vector<std::string_view>{"1", "2"}));
  EXPECT_EQ(request.body, "hello");
}

// Chunks are joined. Extensions and trailers are dropped, so that a trailer cannot be taken for a
// header.
TEST(RequestParserTest, ReadsAChunkedBody) {
  const Outcome outcome = Read(
      WithLines("Transfer-Encoding: Chunked\r\n") +
      "5\r\nhello\r\n1;a=b\r\n,\r\nA\r\n0123456789\r\n0\r\nContent-Length: 3\r\nX-T: 1\r\n\r\n");
  ASSERT_EQ(outcome.requests.size(), 1U);
  EXPECT_EQ(outcome.requests[0].body, "hello,0123456789");
  EXPECT_FALSE(outcome.requests[0].headers.Find("X-T").has_value());
  EXPECT_FALSE(outcome.requests[0].headers.Find("Content-Length").has_value());
}

// Only the methods that the server supports.
TEST(RequestParserTest, KnowsItsMethods) {
  for (const Method method : {Method::kGet, Method::kHead, Method::kPost, Method::kPut,
                              Method::kPatch, Method::kDelete, Method::kOptions}) {
    const Outcome outcome = Read(std::string(ToString(method)) + " / HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_EQ(outcome.requests.size(), 1U);
    EXPECT_EQ(outcome.requests[0].method, method);
  }
  for (const char* method : {"TRACE", "CONNECT", "get", "BREW", "PROPFIND"}) {
    EXPECT_EQ(RefusalOf(std::string(method) + " / HTTP/1.1\r\nHost: a\r\n\r\n"), 501) << method;
  }
}

// The version and the Connection header decide whether the connection is kept.
TEST(RequestParserTest, KnowsWhetherTheConnectionIsKept) {
  const auto keeps = [](std::string_view version, std::string_view line) {
    const ServerLimits limits;
    RequestParser parser(limits);
    parser.Feed("GET / HTTP/" + std::string(version) + "\r\nHost: a\r\n" + std::string(line) +
                "\r\n");
    EXPECT_EQ(parser.state(), State::kComplete);
    return parser.keep_alive();
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: x, Close\r\n"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "Connection: Keep-Alive\r\n"));
}

// Framing that two parsers could understand in different ways.
TEST(RequestParserTest, RefusesAmbiguousFraming) {
  const char* lines[] = {
      "Transfer-Encoding: gzip\r\n",
      "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding: chunked, gzip\r\n",
      "Transfer-Encoding: chunked, chunked\r\n",
      "Transfer-Encoding: identity\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding: chunked;a=b\r\n",
      "Transfer-Encoding: \"chunked\"\r\n",
      "Transfer-Encoding:\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n",
      "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
      "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 3\r\nTransfer-Encoding: gzip\r\n",
      "Content-Length: 3\r\nContent-Length: 3\r\n",
      "Content-Length: 3\r\nContent-Length: 4\r\n",
      "Content-Length: 3, 3\r\n",
      "Content-Length: +3\r\n",
      "Content-Length: -3\r\n",
      "Content-Length: 0x3\r\n",
      "Content-Length: 3 3\r\n",
      "Content-Length: 3;\r\n",
      "Content-Length:\r\n",
      "Content-Length: 99999999999999999999999\r\n",
      "Host: a.example\r\n",
      "Host: b.example\r\n",
      "X: a\r\n b\r\n",
      "X: a\r\n\tb\r\n",
      "X : a\r\n",
      " X: a\r\n",
      "X\r\n",
      ": a\r\n",
      "X: a\nContent-Length: 3\r\n",
      "X: a\rb\r\n",
      "X: a\x01\r\n",
      "X: a\x7f\r\n",
      "X: a\x0b\r\n",
      "X\x80: a\r\n",
  };
  for (const char* line : lines) EXPECT_EQ(RefusalOf(WithLines(line) + "abc"), 400) << line;
  EXPECT_EQ(RefusalOf(WithLines(std::string_view("X: a\0b\r\n", 8))), 400);
}

// HTTP/1.0 has no chunks: an old proxy would take the bytes after the head for another request.
TEST(RequestParserTest, RefusesAnyTransferEncodingInHttp10) {
  EXPECT_EQ(RefusalOf("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            400);
}

// The Host decides where a request belongs.
TEST(RequestParserTest, RefusesABadHost) {
  EXPECT_EQ(RefusalOf("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(Read("GET / HTTP/1.0\r\n\r\n").requests.size(), 1U);
  for (const char* host : {"", "a b", "a/b", "a@b", "a,b", "a:", "a:b", "a:123456", "a:1:2", "[",
                           "[]", "[::1", "[g::1]", "[::1]x", ":80", "a\\b", "a#", "a?", "\"a\""}) {
    EXPECT_EQ(RefusalOf("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"), 400) << host;
  }
  for (const char* host : {"a", "a.example:8080", "127.0.0.1", "[::1]", "[::1]:80", "a_b-c.d"}) {
    EXPECT_EQ(Read("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n").requests.size(), 1U)
        << host;
  }
}

// A target with a host may contradict the Host header.
TEST(RequestParserTest, RefusesTargetsThatAreNotPaths) {
  for (const char* target : {"http://a/", "a", "*", "a.example:80", "?a", "/a#b", "/\x80", ""}) {
    EXPECT_EQ(RefusalOf("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n"), 400)
        << target;
  }
  EXPECT_EQ(Read("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").requests.size(), 1U);
}

// Not HTTP/1.x at all, or not in its lines.
TEST(RequestParserTest, RefusesTextThatIsNotHttp) {
  for (const char* bytes :
       {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "GET / http/1.1\r\nHost: a\r\n\r\n", "GET /\r\nHost: a\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "\r\n\r\n", "\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "\x16\x03\x01\x02\n"}) {
    EXPECT_EQ(RefusalOf(bytes), 400) << bytes;
  }
}

// Sizes that another parser might read differently, and lines without a proper end.
TEST(RequestParserTest, RefusesBadChunks) {
  for (const char* body : {"x\r\n",
                           "\r\n",
                           "-1\r\n",
                           "+1\r\na\r\n",
                           "0x1\r\na\r\n",
                           " 1\r\na\r\n",
                           "1 \r\na\r\n",
                           "1\na\r\n",
                           "1\r\nab\r\n",
                           "1\r\na\n0\r\n\r\n",
                           "1\r\na0\r\n\r\n",
                           "1;\n\r\na\r\n",
                           "1;a=\"\n\"\r\na\r\n",
                           "1;a\rb\r\na\r\n",
                           "1\r\r\n",
                           "00000000000000001\r\na\r\n",
                           "0\r\n X: folded\r\n\r\n",
                           "0\r\nX: a\n\r\n",
                           "0\r\nX: \x01\r\n\r\n",
                           "0\r\n\n"}) {
    EXPECT_EQ(RefusalOf(WithLines("Transfer-Encoding: chunked\r\n") + body), 400) << body;
  }
}

// Each limit, exactly at it and one above it.
TEST(RequestParserTest, KeepsToItsLimits) {
  ServerLimits limits;
  limits.max_body_bytes = 4;
  EXPECT_EQ(Read(WithLines("Content-Length: 4\r\n") + "abcd", limits).requests.size(), 1U);
  EXPECT_EQ(RefusalOf(WithLines("Content-Length: 5\r\n"), limits), 413);
  const std::string chunked = WithLines("Transfer-Encoding: chunked\r\n");
  EXPECT_EQ(Read(chunked + "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", limits).requests.size(), 1U);
  EXPECT_EQ(RefusalOf(chunked + "3\r\nabc\r\n2\r\n", limits), 413);
  EXPECT_EQ(RefusalOf(chunked + "ffffffffffffffff\r\n", limits), 413);

  // Larger bodies are accepted only under these prefixes.
  limits.large_body_prefixes = {"/huge/", "/large/"};
  limits.max_large_body_bytes = 6;
  const std::string large = "PUT /large/a HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(Read(large + "Content-Length: 6\r\n\r\nabcdef", limits).requests.size(), 1U);
  EXPECT_EQ(RefusalOf(large + "Content-Length: 7\r\n\r\n", limits), 413);
  EXPECT_EQ(RefusalOf(large + "Transfer-Encoding: chunked\r\n\r\n7\r\n", limits), 413);
  EXPECT_EQ(RefusalOf(WithLines("Content-Length: 5\r\n"), limits), 413);

  const std::string head = WithLines("X: y\r\n");
  limits.max_head_bytes = head.size();
  EXPECT_EQ(Read(head, limits).requests.size(), 1U);
  limits.max_head_bytes = head.size() - 1;
  EXPECT_EQ(RefusalOf(head, limits), 431);

  limits.max_head_bytes = 100;
  limits.max_headers = 2;
  EXPECT_EQ(Read(head, limits).requests.size(), 1U);
  limits.max_headers = 1;
  EXPECT_EQ(RefusalOf(head, limits), 431);

  limits.max_headers = 10;
  EXPECT_EQ(RefusalOf(chunked + "1;" + std::string(101, 'a'), limits), 431);
  EXPECT_EQ(RefusalOf(chunked + "0\r\nX: " + std::string(101, 'a'), limits), 431);
}

// Only "100-continue" is supported. Another expectation is refused, so that the client does not
// wait.
TEST(RequestParserTest, KnowsOneExpectation) {
  const ServerLimits limits;
  RequestParser parser(limits);
  parser.Feed(WithLines("Expect: 100-Continue\r\nContent-Length: 1\r\n"));
  EXPECT_TRUE(parser.expects_continue());
  EXPECT_EQ(RefusalOf(WithLines("Expect: tea\r\n")), 417);
}

const char* const kStreams[] = {
    "GET /a HTTP/1.1\r\nHost: a\r\n\r\nPOST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
    "GET /c HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: u\r\n"
    "\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n"
    "Host: a\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n"
    "\r\n",
    "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
};

// The result must not depend on how the network splits the bytes: tries two cuts at every pair of
// places.
TEST(RequestParserTest, ReadsTheSameForEverySplitOfTheBytes) {
  for (const std::string_view stream : kStreams) {
    const std::string whole = Show(Read(stream));
    for (size_t first = 0; first <= stream.size(); ++first) {
      for (size_t second = first; second <= stream.size(); second += 7) {
        ASSERT_EQ(Show(ReadCut(stream, {first, second})), whole) << first << " " << second;
      }
    }
    std::vector<size_t> everywhere;
    for (size_t i = 1; i < stream.size(); ++i) everywhere.push_back(i);
    EXPECT_EQ(Show(ReadCut(stream, everywhere)), whole);
  }
}

// After a refusal nothing more is read from the stream.
TEST(RequestParserTest, ReadsNothingAfterARefusal) {
  const Outcome outcome =
      Read(WithLines("Transfer-Encoding: gzip\r\n") + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(outcome.refused, 400);
  EXPECT_TRUE(outcome.requests.empty());
}

// An incomplete request is neither returned nor refused.
TEST(RequestParserTest, WaitsForTheRest) {
  EXPECT_EQ(Read("GET / HTTP/1.1\r\nHost: a\r\n").state, State::kHead);
  EXPECT_EQ(Read(WithLines("Content-Length: 3\r\n") + "ab").state, State::kBody);
  EXPECT_EQ(Read(WithLines("Transfer-Encoding: chunked\r\n") + "1\r\na\r\n0\r\n\r").state,
            State::kBody);
}

}  // namespace
}  // namespace tidemark::http
