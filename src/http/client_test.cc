#include "http/client.h"

#include <atomic>
#include <cstdlib>
#include <future>
#include <latch>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_time.h"
#include "tests/support/scripted_server.h"

namespace tidemark::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using ScriptedConnection = ScriptedServer::Connection;

// Answers every request of a connection with 200 and "hello".
void SayHello(ScriptedConnection& connection) {
  while (!connection.ReadRequest().empty()) connection.Answer("hello");
}

// Reads a request and never answers; ends when the client gives up.
void Hang(ScriptedConnection& connection) {
  while (!connection.ReadRequest().empty()) {
  }
}

struct ClientTest : ::testing::Test {
  Deadline Soon() { return Deadline::After(clock, seconds(30)); }
  Exchange Send(const OutgoingRequest& request) { return client.Send(request, Soon()); }

  ManualClock clock;
  ManualSleeper sleeper{&clock};
  CurlClient client{{}, &clock, &sleeper};
};

TEST_F(ClientTest, ReturnsStatusHeadersAndBody) {
  ScriptedServer server([](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Answer(std::string("a\0b\xff", 4), "404 Not Found",
                      "X-One: 1\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Empty:\r\n");
  });
  const Exchange exchange = Send({.url = server.url("/path?query=1")});
  ASSERT_EQ(exchange.outcome, Outcome::kAnswered) << exchange.detail;
  EXPECT_EQ(exchange.response.status, 404);
  EXPECT_EQ(exchange.response.body, std::string("a\0b\xff", 4));
  EXPECT_EQ(exchange.response.headers.Find("x-one"), "1");
  EXPECT_EQ(exchange.response.headers.Find("X-Empty"), "");
  EXPECT_THAT(exchange.response.headers.FindAll("Set-Cookie"), ElementsAre("a=1", "b=2"));
  EXPECT_GT(exchange.took.count(), 0);
  EXPECT_THAT(server.requests(), ElementsAre(StartsWith("GET /path?query=1 HTTP/1.1\r\n")));
}

// Only the caller's headers are sent: headers that libcurl adds would change what is signed.
TEST_F(ClientTest, SendsBodyAndHeadersAsGiven) {
  ScriptedServer server(SayHello);
  const std::string body = std::string("\0\r\n\xff", 4) + std::string(2 << 20, 'x');
  Send({.method = Method::kPost,
        .url = server.url(),
        .headers = {{"X-Twice", "1"}, {"X-Twice", "2"}, {"X-Empty", ""}, {"X-Tab", "a\tb"}},
        .body = body});
  ASSERT_THAT(server.requests(), SizeIs(1));
  const std::string request = server.requests()[0];
  EXPECT_THAT(request, StartsWith("POST / HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Twice: 1\r\nX-Twice: 2\r\nX-Empty:"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Tab: a\tb\r\n"));
  EXPECT_THAT(request, Not(HasSubstr("\r\nExpect:")));
  EXPECT_THAT(request, Not(HasSubstr("\r\nContent-Type:")));
  EXPECT_EQ(request.substr(request.find("\r\n\r\n") + 4), body);
}

TEST_F(ClientTest, SendsEveryMethod) {
  ScriptedServer server([](ScriptedConnection& connection) {
    for (std::string request; !(request = connection.ReadRequest()).empty();) {
      const bool head = request.starts_with("HEAD");
      connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
      if (!head) connection.Send("ok");
    }
  });
  for (const Method method : {Method::kGet, Method::kHead, Method::kPost, Method::kPut,
                              Method::kPatch, Method::kDelete, Method::kOptions}) {
    const Exchange exchange = Send({.method = method, .url = server.url()});
    ASSERT_EQ(exchange.outcome, Outcome::kAnswered) << ToString(method) << exchange.detail;
    EXPECT_EQ(exchange.response.body, method == Method::kHead ? "" : "ok");
    EXPECT_THAT(server.requests().back(), StartsWith(std::string(ToString(method)) + " / HTTP"));
  }
  Send({.method = Method::kPut, .url = server.url(), .body = "new"});
  EXPECT_THAT(server.requests().back(), HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(server.requests().back(), ::testing::EndsWith("\r\n\r\nnew"));
}

TEST_F(ClientTest, ReadsChunkedAnswersWithoutTheirTrailers) {
  ScriptedServer server([](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Send(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n2\r\nde\r\n0\r\nX-Late: 1\r\n\r\n");
  });
  const Exchange exchange = Send({.url = server.url()});
  ASSERT_EQ(exchange.outcome, Outcome::kAnswered);
  EXPECT_EQ(exchange.response.body, "abcde");
  EXPECT_EQ(exchange.response.headers.Find("X-Late"), std::nullopt);
}

// An interim answer is not the answer, nor are its headers.
TEST_F(ClientTest, SkipsInterimAnswers) {
  ScriptedServer server([](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n");
    connection.Answer("hello");
  });
  const Exchange exchange = Send({.url = server.url()});
  EXPECT_EQ(exchange.response.status, 200);
  EXPECT_EQ(exchange.response.headers.Find("X-Hint"), std::nullopt);
}

// When nothing was sent, a caller may try another server at once.
TEST_F(ClientTest, ReportsThatThereIsNoConnection) {
  std::string url;
  { url = ScriptedServer(SayHello).url(); }
  const Exchange exchange = Send({.url = url});
  EXPECT_EQ(exchange.outcome, Outcome::kNotSent);
  EXPECT_NE(exchange.detail, "");
}

// A hanging server blocks its caller until the timeout, not longer.
TEST_F(ClientTest, TimesOut) {
  ScriptedServer server(Hang);
  EXPECT_EQ(Send({.url = server.url(), .timeout = milliseconds(50)}).outcome, Outcome::kTimedOut);
}

TEST_F(ClientTest, TimesOutInTheMiddleOfAnAnswer) {
  ScriptedServer server([](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    connection.ReadRequest();
  });
  EXPECT_EQ(Send({.url = server.url(), .timeout = milliseconds(30)}).outcome, Outcome::kTimedOut);
}

// The deadline holds also when the timeout of the request is longer.
TEST_F(ClientTest, KeepsTheDeadline) {
  ScriptedServer server(Hang);
  const OutgoingRequest request = {.url = server.url(), .timeout = seconds(60), .max_retries = 3};
  EXPECT_EQ(client.Send(request, Deadline::After(clock, milliseconds(50))).outcome,
            Outcome::kTimedOut);
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

TEST_F(ClientTest, SendsNothingOnceTheDeadlineHasPassed) {
  ScriptedServer server(SayHello);
  EXPECT_EQ(client.Send({.url = server.url()}, Deadline::After(clock, seconds(0))).outcome,
            Outcome::kTimedOut);
  EXPECT_EQ(server.connections(), 0u);
}

TEST_F(ClientTest, ReportsThatTheConnectionBroke) {
  for (const char* bytes : {"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
                            "SSH-2.0-OpenSSH_9.2\r\n"}) {
    ScriptedServer server([&](ScriptedConnection& connection) {
      connection.ReadRequest();
      connection.Send(bytes);
    });
    const Exchange exchange = Send({.url = server.url()});
    EXPECT_EQ(exchange.outcome, Outcome::kBroken) << bytes;
    EXPECT_EQ(exchange.response.body, "") << "half an answer is none";
    EXPECT_THAT(exchange.detail, Not(HasSubstr("half")));
  }
}

// The limit is checked while bytes arrive, not only against the Content-Length.
TEST_F(ClientTest, StopsAtTheLimitOnBytes) {
  ScriptedServer server([](ScriptedConnection& connection) {
    const bool honest = connection.ReadRequest().starts_with("GET /honest");
    connection.Send(honest ? "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
                           : "HTTP/1.1 200 OK\r\n\r\n");
    while (connection.Send(std::string(4096, 'x'))) {
    }
  });
  EXPECT_EQ(Send({.url = server.url("/honest"), .max_answer_bytes = 10'000}).outcome,
            Outcome::kTooLarge);
  EXPECT_EQ(Send({.url = server.url("/endless"), .max_answer_bytes = 10'000}).outcome,
            Outcome::kTooLarge);
}

TEST_F(ClientTest, AcceptsAnAnswerOfExactlyTheLimit) {
  ScriptedServer server(SayHello);
  EXPECT_EQ(Send({.url = server.url(), .max_answer_bytes = 5}).outcome, Outcome::kAnswered);
  EXPECT_EQ(Send({.url = server.url(), .max_answer_bytes = 4}).outcome, Outcome::kTooLarge);
}

TEST_F(ClientTest, LimitsTheHeadOfAnAnswer) {
  ScriptedServer server([](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 200 OK\r\n");
    while (connection.Send("X-More: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  EXPECT_EQ(Send({.url = server.url()}).outcome, Outcome::kTooLarge);
}

// Following a redirect would send the credentials to a host that was not checked.
TEST_F(ClientTest, FollowsNoRedirect) {
  ScriptedServer other(SayHello);
  ScriptedServer server([&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Answer("", "302 Found", "Location: " + other.url() + "\r\n");
  });
  const Exchange exchange = Send({.url = server.url(), .headers = {{"Authorization", "secret"}}});
  EXPECT_EQ(exchange.response.status, 302);
  EXPECT_EQ(exchange.response.headers.Find("Location"), other.url());
  EXPECT_THAT(other.requests(), IsEmpty());
}

TEST_F(ClientTest, IgnoresProxiesOfTheEnvironment) {
  ScriptedServer proxy(SayHello);
  ScriptedServer server(SayHello);
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) {
    ::setenv(name, proxy.url().c_str(), 1);
  }
  EXPECT_EQ(Send({.url = server.url()}).outcome, Outcome::kAnswered);
  for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
  EXPECT_THAT(proxy.requests(), IsEmpty());
}

// A line break in a value would let an attacker add a header or a second request.
TEST_F(ClientTest, RefusesHeadersThatWouldSplit) {
  ScriptedServer server(SayHello);
  const std::vector<Headers> headers = {
      {{"X-A", "1\r\nX-B: 2"}}, {{"X-A", "1\n"}}, {{"X-A", "\r"}}, {{"X-A", std::string(1, '\0')}},
      {{"X A", "1"}},           {{"X-A:", "1"}},  {{"", "1"}},     {{"X-A\r\n", "1"}}};
  for (const Headers& bad : headers) {
    const Exchange exchange = Send({.url = server.url(), .headers = bad, .max_retries = 2});
    EXPECT_EQ(exchange.outcome, Outcome::kNotSent);
    EXPECT_THAT(exchange.detail, HasSubstr("a header has"));
    EXPECT_THAT(exchange.detail, Not(HasSubstr("X-")));
  }
  EXPECT_EQ(server.connections(), 0u);
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

TEST_F(ClientTest, RefusesUrlsThatAreNotHttp) {
  ScriptedServer server(SayHello);
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  for (const std::string& url :
       {std::string(), std::string("file:///etc/hostname"), "ftp://" + address + "/", address,
        "http://" + address + "/ HTTP/1.1\r\nX-A: 1", "http://" + address + "/a b",
        "http://user:password@" + address + "/", std::string("http://"), "http://" + address + "x",
        server.url("/" + std::string(kMaxUrlBytes, 'x'))}) {
    EXPECT_EQ(Send({.url = url}).outcome, Outcome::kNotSent) << url.substr(0, 80);
  }
  EXPECT_THAT(server.requests(), IsEmpty());
}

// A new connection costs one to three round trips, so connections are kept for later requests of
// any thread.
TEST_F(ClientTest, KeepsConnections) {
  ScriptedServer server(SayHello);
  for (int i = 0; i < 3; ++i) Send({.url = server.url()});
  std::thread([&] { Send({.method = Method::kPost, .url = server.url(), .body = "x"}); }).join();
  EXPECT_THAT(server.requests(), SizeIs(4));
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(ClientTest, KeepsNoMoreConnectionsThanAllowed) {
  ScriptedServer server(SayHello);
  CurlClient forgetful({.max_idle_connections = 0}, &clock, &sleeper);
  forgetful.Send({.url = server.url()}, Soon());
  forgetful.Send({.url = server.url()}, Soon());
  EXPECT_EQ(server.connections(), 2u);
}

// The second request of the first connection is read, and then the connection ends.
void AnswerOnceThenClose(ScriptedConnection& connection) {
  if (connection.ReadRequest().empty()) return;
  connection.Answer("hello");
  if (connection.number() == 0) {
    connection.ReadRequest();
    return;
  }
  while (!connection.ReadRequest().empty()) connection.Answer("again");
}

// The server may have handled the request, so a write must not be sent twice.
TEST_F(ClientTest, NeverRepeatsAWriteThatMayHaveBeenSeen) {
  ScriptedServer server(AnswerOnceThenClose);
  Send({.url = server.url()});
  const Exchange exchange =
      Send({.method = Method::kPost, .url = server.url(), .body = "once", .max_retries = 3});
  EXPECT_EQ(exchange.outcome, Outcome::kBroken);
  EXPECT_THAT(server.requests(), SizeIs(2));
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

// The same for a write without a body, which libcurl would send again on a new connection.
TEST_F(ClientTest, SendsWritesWithoutBodyOnNewConnections) {
  ScriptedServer server(SayHello);
  Send({.url = server.url()});
  Send({.method = Method::kDelete, .url = server.url()});
  Send({.method = Method::kPost, .url = server.url()});
  EXPECT_EQ(server.connections(), 3u);
}

TEST_F(ClientTest, ReconnectsForAReadWhenTheKeptConnectionIsClosed) {
  ScriptedServer server(AnswerOnceThenClose);
  Send({.url = server.url()});
  EXPECT_EQ(Send({.url = server.url()}).outcome, Outcome::kAnswered);
  EXPECT_EQ(server.connections(), 2u);
}

// The server answers only after all requests have arrived: sent one after the other, they would
// time out.
TEST_F(ClientTest, SendsAllAtOnceAndAnswersInOrder) {
  std::latch all_asked(3);
  ScriptedServer server([&](ScriptedConnection& connection) {
    const std::string request = connection.ReadRequest();
    all_asked.arrive_and_wait();
    connection.Answer(request.substr(5, 1));
  });
  const std::vector<OutgoingRequest> requests = {{.url = server.url("/a")},
                                                 {.url = "http:bad"},
                                                 {.url = server.url("/b")},
                                                 {.url = server.url("/c")}};
  const std::vector<Exchange> exchanges = client.SendAll(requests, Soon());
  ASSERT_THAT(exchanges, SizeIs(4));
  EXPECT_EQ(exchanges[0].response.body, "a");
  EXPECT_EQ(exchanges[1].outcome, Outcome::kNotSent);
  EXPECT_EQ(exchanges[2].response.body, "b");
  EXPECT_EQ(exchanges[3].response.body, "c");
  EXPECT_THAT(client.SendAll({}, Soon()), IsEmpty());
}

// One request that hangs does not delay or lose the answers of the others.
TEST_F(ClientTest, ARequestThatHangsDoesNotSpoilTheOthers) {
  ScriptedServer good(SayHello);
  ScriptedServer bad(Hang);
  const std::vector<OutgoingRequest> requests = {{.url = bad.url(), .timeout = milliseconds(30)},
                                                 {.url = good.url()}};
  const std::vector<Exchange> exchanges = client.SendAll(requests, Soon());
  EXPECT_EQ(exchanges[0].outcome, Outcome::kTimedOut);
  EXPECT_EQ(exchanges[1].outcome, Outcome::kAnswered);
}

// Answers 503 to the first requests, as many as given, and then 200.
ScriptedServer::Script FailFirst(size_t failures, std::string headers = "") {
  auto count = std::make_shared<std::atomic<size_t>>(0);
  return [=](ScriptedConnection& connection) {
    while (!connection.ReadRequest().empty()) {
      if ((*count)++ < failures) {
        connection.Answer("", "503 Service Unavailable", headers);
      } else {
        connection.Answer("hello");
      }
    }
  };
}

TEST_F(ClientTest, RetriesReadsAfterGrowingWaits) {
  ScriptedServer server(FailFirst(2));
  EXPECT_EQ(Send({.url = server.url(), .max_retries = 3}).response.status, 200);
  EXPECT_THAT(server.requests(), SizeIs(3));
  EXPECT_THAT(sleeper.slept(), ElementsAre(milliseconds(100), milliseconds(200)));
}

TEST_F(ClientTest, RetriesReadsAfterBrokenConnections) {
  ScriptedServer server([](ScriptedConnection& connection) {
    connection.ReadRequest();
    if (connection.number() == 1) connection.Answer("hello");
  });
  EXPECT_EQ(Send({.url = server.url(), .max_retries = 1}).response.body, "hello");
}

TEST_F(ClientTest, GivesUpAfterTheRetriesAllowed) {
  ScriptedServer server(FailFirst(100));
  EXPECT_EQ(Send({.url = server.url(), .max_retries = 2}).response.status, 503);
  EXPECT_THAT(server.requests(), SizeIs(3));
  EXPECT_EQ(Send({.url = server.url()}).response.status, 503);
  EXPECT_THAT(server.requests(), SizeIs(4));
}

TEST_F(ClientTest, DoesNotRetryWrites) {
  ScriptedServer server(FailFirst(100));
  Send({.method = Method::kPost, .url = server.url(), .body = "x", .max_retries = 3});
  Send({.method = Method::kDelete, .url = server.url(), .max_retries = 3});
  EXPECT_THAT(server.requests(), SizeIs(2));
}

TEST_F(ClientTest, WaitsAsLongAsTheServerAsks) {
  ScriptedServer server(FailFirst(1, "Retry-After: 7\r\n"));
  EXPECT_EQ(Send({.url = server.url(), .max_retries = 1}).response.status, 200);
  EXPECT_THAT(sleeper.slept(), ElementsAre(seconds(7)));
}

TEST_F(ClientTest, NeverWaitsPastTheDeadline) {
  ScriptedServer server(FailFirst(100, "Retry-After: 30\r\n"));
  EXPECT_EQ(Send({.url = server.url(), .max_retries = 3}).response.status, 503);
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

TEST_F(ClientTest, SubmitsWithoutAThreadThatWaits) {
  ScriptedServer server(SayHello);
  std::promise<std::thread::id> answered_on;
  client.Submit({.url = server.url()}, Soon()).Then([&](const Result<Exchange>& exchange) {
    EXPECT_EQ(exchange->response.body, "hello");
    answered_on.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(answered_on.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(client.Submit({.url = "http:bad"}, Soon()).Wait()->outcome, Outcome::kNotSent);
}

// A callback may send the next request: the client's thread does not wait for itself.
TEST_F(ClientTest, SubmitsTheNextRequestFromACallback) {
  ScriptedServer server(SayHello);
  Later<Exchange> second =
      client.Submit({.url = server.url("/1")}, Soon()).Then([&](const Result<Exchange>&) {
        return client.Submit({.url = server.url("/2")}, Soon());
      });
  EXPECT_EQ(second.Wait()->response.body, "hello");
  EXPECT_THAT(server.requests(), SizeIs(2));
}

TEST_F(ClientTest, ASubmittedRequestEndsAtItsTimeout) {
  ScriptedServer server(Hang);
  Later<Exchange> exchange =
      client.Submit({.url = server.url(), .timeout = milliseconds(30)}, Soon());
  EXPECT_EQ(exchange.Wait()->outcome, Outcome::kTimedOut);
}

// The server hangs for longer than any test may take.
TEST_F(ClientTest, CancelEndsASubmittedRequest) {
  std::latch asked(1);
  ScriptedServer server([&](ScriptedConnection& connection) {
    connection.ReadRequest();
    asked.count_down();
    connection.ReadRequest();
  });
  Later<Exchange> exchange = client.Submit({.url = server.url(), .timeout = seconds(10)}, Soon());
  asked.wait();
  exchange.Cancel();
  EXPECT_EQ(exchange.Wait().error().code, ErrorCode::kCancelled);
}

TEST_F(ClientTest, AnswersRunningRequestsWhenItIsDestroyed) {
  ScriptedServer server(Hang);
  auto leaving = std::make_unique<CurlClient>(ClientOptions{}, &clock, &sleeper);
  Later<Exchange> exchange = leaving->Submit({.url = server.url(), .timeout = seconds(10)}, Soon());
  leaving.reset();
  EXPECT_EQ(exchange.Wait().error().code, ErrorCode::kCancelled);
}

// All threads share the connections. The sanitizers find data races.
TEST_F(ClientTest, ServesManyThreads) {
  ScriptedServer server(SayHello);
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const std::vector<OutgoingRequest> requests(3, {.url = server.url()});
      for (int j = 0; j < 10; ++j) {
        for (const Exchange& exchange : client.SendAll(requests, Soon())) {
          answered += exchange.response.body == "hello" ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 240);
  EXPECT_LE(server.connections(), 24u);
}

struct SinkTest : ClientTest {
  // Sends with a sink that takes up to `room` bytes.
  Exchange Sink(OutgoingRequest request, size_t room = 1 << 20) {
    request.sink = [this, room](std::string_view piece) {
      sunk += piece;
      return sunk.size() <= room;
    };
    return Send(request);
  }

  std::string sunk;
};

TEST_F(SinkTest, TakesTheBodyOfASuccess) {
  const std::string body(300'000, 'x');
  ScriptedServer server([&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Answer(body);
  });
  const Exchange exchange = Sink({.url = server.url()});
  EXPECT_EQ(exchange.outcome, Outcome::kAnswered);
  EXPECT_EQ(exchange.response.body, "");
  EXPECT_EQ(sunk, body);
}

// The text of an error page must not be written into the file.
TEST_F(SinkTest, TakesNothingOfOtherAnswers) {
  for (const char* status : {"302 Found", "404 Not Found", "500 Oops"}) {
    ScriptedServer server([&](ScriptedConnection& connection) {
      connection.ReadRequest();
      connection.Answer("sorry", status);
    });
    EXPECT_EQ(Sink({.url = server.url()}).response.body, "sorry") << status;
    EXPECT_EQ(sunk, "") << status;
  }
}

TEST_F(SinkTest, EndsTheExchangeWhenItIsFullOrTheBoundIsReached) {
  ScriptedServer server(SayHello);
  EXPECT_EQ(Sink({.url = server.url()}, 4).outcome, Outcome::kTooLarge);
  sunk.clear();
  EXPECT_EQ(Sink({.url = server.url(), .max_answer_bytes = 4}).outcome, Outcome::kTooLarge);
  EXPECT_EQ(sunk, "");
  EXPECT_EQ(Sink({.url = server.url(), .max_answer_bytes = 5}).outcome, Outcome::kAnswered);
  EXPECT_EQ(sunk, "hello");
}

// The sink cannot take back bytes of the first attempt.
TEST_F(SinkTest, IsNotFilledAgainByARetry) {
  ScriptedServer server([](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel");
  });
  EXPECT_EQ(Sink({.url = server.url(), .max_retries = 3}).outcome, Outcome::kBroken);
  EXPECT_EQ(sunk, "hel");
  EXPECT_THAT(server.requests(), SizeIs(1));
}

// The address is checked when the connection is made, after the name was resolved.
TEST_F(ClientTest, ConnectsOnlyToPublicAddressesWhenAskedTo) {
  ScriptedServer server(SayHello);
  const std::string by_name = "http://localhost:" + std::to_string(server.port()) + "/";
  for (const std::string& url : {server.url(), by_name}) {
    const Exchange exchange = Send({.url = url, .public_addresses_only = true});
    EXPECT_EQ(exchange.outcome, Outcome::kNotSent) << url;
  }
  EXPECT_EQ(server.connections(), 0u);
}

// A connection that another request opened without this check is not reused.
TEST_F(ClientTest, DoesNotReuseAConnectionWhoseAddressWasNotChecked) {
  ScriptedServer server(SayHello);
  Send({.url = server.url()});
  EXPECT_EQ(Send({.url = server.url(), .public_addresses_only = true}).outcome, Outcome::kNotSent);
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST(RetryAfterTest, ReadsWholeSeconds) {
  EXPECT_EQ(RetryAfter({{"retry-after", "30"}}), seconds(30));
  EXPECT_EQ(RetryAfter({{"Retry-After", "0"}}), seconds(0));
  EXPECT_EQ(RetryAfter({{"Retry-After", "86400"}}), seconds(3600));
  EXPECT_EQ(RetryAfter({{"Retry-After", "99999999999999999999999"}}), seconds(3600));
}

TEST(RetryAfterTest, ReadsAnythingElseAsNoWait) {
  EXPECT_EQ(RetryAfter({}), seconds(0));
  for (const char* text : {"", "-5", "soon", "1.5", "7 ", "Wed, 21 Oct 2026 07:28:00 GMT"}) {
    EXPECT_EQ(RetryAfter({{"Retry-After", text}}), seconds(0)) << text;
  }
}

}  // namespace
}  // namespace tidemark::http
