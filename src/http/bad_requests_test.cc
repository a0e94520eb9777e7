// How bad requests of one address are limited, over real connections and with a clock that only the
// test moves.
#include "http/bad_requests.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.h"
#include "tests/support/server_fixture.h"

namespace tidemark::http {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGood[] = "GET /good HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr char kUnknownToken[] = "GET /unknown-token HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr char kNotHttp[] = "GET / HTTP/1.1\r\nHost: a b\r\n\r\n";

class BadRequestsTest : public ServerFixture {
 protected:
  BadRequestsTest() {
    options_.limits.max_bad_requests_a_minute = 3;
    handler_.AnswerWith([](const std::string& text) {
      return text.starts_with("GET /unknown-token") ? BadRequest(401, "who are you?")
                                                    : Text(200, "ok");
    });
  }

  RawReply Ask(const std::string& request) {
    RawConnection connection(server_->port());
    connection.Send(request);
    return connection.ReadReply();
  }
  static size_t CountOf(const std::string& part, const std::string& text) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  }
};

// Somebody who tries tokens, or fills the log, is slowed down. Other clients with the same address,
// such as Slack behind the same proxy, do not notice it.
// Review: F10
TEST_F(BadRequestsTest, TooManyOfOneAddressGet429AndCorrectRequestsAreServed) {
  Start();
  EXPECT_EQ(Ask(kUnknownToken).status, 401);
  EXPECT_EQ(Ask(kNotHttp).status, 400);
  EXPECT_EQ(Ask(kUnknownToken).status, 401);
  for (int i = 0; i < 50; ++i) {
    const bool is_http = i % 2 == 0;
    const RawReply refused = Ask(is_http ? kUnknownToken : kNotHttp);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.Find("Retry-After"), "60");
    EXPECT_EQ(refused.Find("Connection").value_or("stays"), is_http ? "stays" : "close");
    EXPECT_EQ(Ask(kGood).status, 200);
  }
  // A third of a minute is worth a third of the limit.
  clock_.Advance(seconds(20));
  EXPECT_EQ(Ask(kUnknownToken).status, 401);
  EXPECT_EQ(Ask(kUnknownToken).status, 429);
  clock_.Advance(seconds(60));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ask(kUnknownToken).status, 401);
  EXPECT_EQ(Ask(kUnknownToken).status, 429);

  EXPECT_THAT(metrics_.Expose(), HasSubstr("tidemark_http_bad_requests_total 59\n"));
  EXPECT_THAT(metrics_.Expose(), HasSubstr("tidemark_http_bad_requests_limited_total 52\n"));
  EXPECT_THAT(metrics_.Expose(), HasSubstr("tidemark_http_requests_total{status=\"4xx\"} 59\n"));
  const std::string log = StopAndReadLog();
  EXPECT_EQ(CountOf("status=401", log) + CountOf("status=400", log), 7u);
  EXPECT_THAT(log, Not(HasSubstr("status=429")));
  EXPECT_EQ(CountOf("status=200", log), 50u);
  EXPECT_EQ(CountOf("too many bad requests", log), 2u);
  EXPECT_THAT(log, HasSubstr("address=127.0.0.1 refused_since_last_line=1\n"));
  EXPECT_THAT(log, HasSubstr("address=127.0.0.1 refused_since_last_line=51\n"));
}

// A proxy sends the requests of many clients over one connection, one after the other or all at
// once. A bad one above the limit does not take the answers of the others.
TEST_F(BadRequestsTest, ACorrectRequestAfterABadOneIsAnswered) {
  Start();
  for (int i = 0; i < 3; ++i) Ask(kUnknownToken);
  RawConnection proxy(server_->port());
  proxy.Send(std::string(kUnknownToken) + kGood + kUnknownToken + kGood);
  for (const int status : {429, 200, 429, 200}) EXPECT_EQ(proxy.ReadReply().status, status);
  // After a request without a clear end nothing can be read, and the client is told so.
  proxy.Send(std::string(kNotHttp) + kGood);
  const RawReply last = proxy.ReadReply();
  EXPECT_EQ(last.status, 429);
  EXPECT_EQ(last.Find("Connection"), "close");
  EXPECT_TRUE(proxy.IsClosedByPeer());
}

// The handler is told, so that it writes no line for a bad request either.
TEST_F(BadRequestsTest, TheHandlerKnowsWhetherTheAddressIsOverTheLimit) {
  Start();
  for (int i = 0; i < 4; ++i) Ask(kUnknownToken);
  Ask(kGood);
  std::vector<bool> over_limit;
  for (const Request& request : handler_.requests()) over_limit.push_back(request.is_over_limit);
  EXPECT_EQ(over_limit, (std::vector<bool>{false, false, false, true, true}));
}

// A botnet must not fill the memory with its addresses, and is limited all the same.
TEST_F(BadRequestsTest, ManyAddressesShareOneCountBeyondABound) {
  Observer observer(logger_, &metrics_, {});
  BadRequests bad_requests(options_.limits, clock_, &observer);
  const auto address = [](size_t number) { return "2001:db8:" + std::to_string(number); };
  const auto count = [&](const std::string& key) { return bad_requests.Count(key, key); };
  for (size_t i = 0; i < kMaxBadAddresses; ++i) EXPECT_TRUE(count(address(i)));
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(count(address(kMaxBadAddresses + i)));
  const std::string last = address(kMaxBadAddresses + 3);
  EXPECT_FALSE(count(last));
  EXPECT_TRUE(bad_requests.IsOverLimit(last, clock_.Monotonic()));
  EXPECT_FALSE(bad_requests.IsOverLimit(address(0), clock_.Monotonic()));
  // After a minute the old ones are forgotten, and there is room again.
  clock_.Advance(seconds(60));
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(count(last));
  EXPECT_FALSE(count(last));
  EXPECT_TRUE(count(address(kMaxBadAddresses + 4)));
}

// The key of an IPv6 network has bytes that are not text.
TEST_F(BadRequestsTest, TheLogShowsTheAddressAndNotItsKey) {
  Observer observer(logger_, &metrics_, {});
  BadRequests bad_requests(options_.limits, clock_, &observer);
  for (int i = 0; i < 4; ++i) bad_requests.Count("\x20\x01\x0d\xb8", "2001:db8::7");
  EXPECT_THAT(log_.str(), HasSubstr("address=2001:db8::7 "));
}

}  // namespace
}  // namespace tidemark::http
