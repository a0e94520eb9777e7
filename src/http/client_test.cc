#include "http/client.h"

#include <cstdlib>
#include <latch>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/scripted_server.h"

namespace tidemark::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

using Connection = ScriptedServer::Connection;

// Answers every request of a connection with 200 and "hello".
void SayHello(Connection& connection) {
  while (!connection.ReadRequest().empty()) connection.Answer("hello");
}

// Reads a request and never answers; ends when the client gives up.
void Hang(Connection& connection) {
  while (!connection.ReadRequest().empty()) {
  }
}

struct ClientTest : testing::Test {
  Deadline Soon() { return Deadline::After(clock, seconds(30)); }
  Exchange Send(const OutgoingRequest& request) { return client.Send(request, Soon()); }

  ManualClock clock;
  ManualSleeper sleeper{&clock};
  CurlClient client{{}, &clock, &sleeper};
};

TEST_F(ClientTest, HandsOverStatusHeadersAndBody) {
  ScriptedServer server([](Connection& connection) {
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

// Only what the caller said goes out: libcurl's own additions would change what is signed.
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
  ScriptedServer server([](Connection& connection) {
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
  EXPECT_THAT(server.requests().back(), testing::EndsWith("\r\n\r\nnew"));
}

TEST_F(ClientTest, ReadsChunkedAnswersWithoutTheirTrailers) {
  ScriptedServer server([](Connection& connection) {
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
  ScriptedServer server([](Connection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n");
    connection.Answer("hello");
  });
  const Exchange exchange = Send({.url = server.url()});
  EXPECT_EQ(exchange.response.status, 200);
  EXPECT_EQ(exchange.response.headers.Find("X-Hint"), std::nullopt);
}

// A caller may try elsewhere at once when nothing was seen.
TEST_F(ClientTest, TellsWhenThereIsNoConnection) {
  std::string url;
  { url = ScriptedServer(SayHello).url(); }
  const Exchange exchange = Send({.url = url});
  EXPECT_EQ(exchange.outcome, Outcome::kNotSent);
  EXPECT_NE(exchange.detail, "");
}

// A hanging server holds its caller for the time that was agreed on, not longer.
TEST_F(ClientTest, TimesOut) {
  ScriptedServer server(Hang);
  EXPECT_EQ(Send({.url = server.url(), .timeout = milliseconds(50)}).outcome, Outcome::kTimedOut);
}

TEST_F(ClientTest, TimesOutInTheMiddleOfAnAnswer) {
  ScriptedServer server([](Connection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    connection.ReadRequest();
  });
  EXPECT_EQ(Send({.url = server.url(), .timeout = milliseconds(30)}).outcome, Outcome::kTimedOut);
}

// The deadline binds also when the request alone would have more time.
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

TEST_F(ClientTest, TellsWhenTheConnectionBreaks) {
  for (const char* bytes : {"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
                            "SSH-2.0-OpenSSH_9.2\r\n"}) {
    ScriptedServer server([&](Connection& connection) {
      connection.ReadRequest();
      connection.Send(bytes);
    });
    const Exchange exchange = Send({.url = server.url()});
    EXPECT_EQ(exchange.outcome, Outcome::kBroken) << bytes;
    EXPECT_EQ(exchange.response.body, "") << "half an answer is none";
    EXPECT_THAT(exchange.detail, Not(HasSubstr("half")));
  }
}

// The bound holds while bytes come in, whatever the head promised.
TEST_F(ClientTest, StopsAtTheBoundOnBytes) {
  ScriptedServer server([](Connection& connection) {
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

TEST_F(ClientTest, TakesAnAnswerOfExactlyTheBound) {
  ScriptedServer server(SayHello);
  EXPECT_EQ(Send({.url = server.url(), .max_answer_bytes = 5}).outcome, Outcome::kAnswered);
  EXPECT_EQ(Send({.url = server.url(), .max_answer_bytes = 4}).outcome, Outcome::kTooLarge);
}

TEST_F(ClientTest, BoundsTheHeadOfAnAnswer) {
  ScriptedServer server([](Connection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 200 OK\r\n");
    while (connection.Send("X-More: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  EXPECT_EQ(Send({.url = server.url()}).outcome, Outcome::kTooLarge);
}

// Whoever follows a redirect takes its credentials to a place nobody checked.
TEST_F(ClientTest, FollowsNoRedirect) {
  ScriptedServer other(SayHello);
  ScriptedServer server([&](Connection& connection) {
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

// A line break in a value would be a second header or a second request of the attacker's.
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

// A connection costs a round trip or three, so it is kept, for whichever thread comes next.
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
void AnswerOnceThenClose(Connection& connection) {
  if (connection.ReadRequest().empty()) return;
  connection.Answer("hello");
  if (connection.number() == 0) {
    connection.ReadRequest();
    return;
  }
  while (!connection.ReadRequest().empty()) connection.Answer("again");
}

// Whether the other side acted on it is unknown, so a write must not go out twice.
TEST_F(ClientTest, NeverRepeatsAWriteThatMayHaveBeenSeen) {
  ScriptedServer server(AnswerOnceThenClose);
  Send({.url = server.url()});
  const Exchange exchange =
      Send({.method = Method::kPost, .url = server.url(), .body = "once", .max_retries = 3});
  EXPECT_EQ(exchange.outcome, Outcome::kBroken);
  EXPECT_THAT(server.requests(), SizeIs(2));
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

// Likewise one without a body, which libcurl would send again on a new connection.
TEST_F(ClientTest, SendsWritesWithoutBodyOnNewConnections) {
  ScriptedServer server(SayHello);
  Send({.url = server.url()});
  Send({.method = Method::kDelete, .url = server.url()});
  Send({.method = Method::kPost, .url = server.url()});
  EXPECT_EQ(server.connections(), 3u);
}

TEST_F(ClientTest, RenewsAKeptConnectionForReads) {
  ScriptedServer server(AnswerOnceThenClose);
  Send({.url = server.url()});
  EXPECT_EQ(Send({.url = server.url()}).outcome, Outcome::kAnswered);
  EXPECT_EQ(server.connections(), 2u);
}

// The script holds every answer back until all have asked: one after the other would time out.
TEST_F(ClientTest, SendsAllAtOnceAndAnswersInOrder) {
  std::latch all_asked(3);
  ScriptedServer server([&](Connection& connection) {
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

// One that hangs does not take the others' answers with it.
TEST_F(ClientTest, KeepsOutcomesApart) {
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
  return [=](Connection& connection) {
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
  ScriptedServer server([](Connection& connection) {
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

TEST_F(ClientTest, RetriesNoWrites) {
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

// Sessions pass from thread to thread; the sanitizers watch.
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
  ScriptedServer server([&](Connection& connection) {
    connection.ReadRequest();
    connection.Answer(body);
  });
  const Exchange exchange = Sink({.url = server.url()});
  EXPECT_EQ(exchange.outcome, Outcome::kAnswered);
  EXPECT_EQ(exchange.response.body, "");
  EXPECT_EQ(sunk, body);
}

// A page that says why there is no file must not end up in the file.
TEST_F(SinkTest, TakesNothingOfOtherAnswers) {
  for (const char* status : {"302 Found", "404 Not Found", "500 Oops"}) {
    ScriptedServer server([&](Connection& connection) {
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

// What has been taken cannot be taken back.
TEST_F(SinkTest, IsFilledOnce) {
  ScriptedServer server([](Connection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel");
  });
  EXPECT_EQ(Sink({.url = server.url(), .max_retries = 3}).outcome, Outcome::kBroken);
  EXPECT_EQ(sunk, "hel");
  EXPECT_THAT(server.requests(), SizeIs(1));
}

// The name is looked up by the one who connects, and what it leads to is judged there.
TEST_F(ClientTest, ConnectsToPublicAddressesAloneWhenTold) {
  ScriptedServer server(SayHello);
  const std::string by_name = "http://localhost:" + std::to_string(server.port()) + "/";
  for (const std::string& url : {server.url(), by_name}) {
    const Exchange exchange = Send({.url = url, .public_addresses_only = true});
    EXPECT_EQ(exchange.outcome, Outcome::kNotSent) << url;
  }
  EXPECT_EQ(server.connections(), 0u);
}

// Nor by a connection that somebody else has made.
TEST_F(ClientTest, ReachesNobodyByAKeptConnectionThatWasNotJudged) {
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

TEST(RetryAfterTest, TakesAnythingElseForNoWait) {
  EXPECT_EQ(RetryAfter({}), seconds(0));
  for (const char* text : {"", "-5", "soon", "1.5", "7 ", "Wed, 21 Oct 2026 07:28:00 GMT"}) {
    EXPECT_EQ(RetryAfter({{"Retry-After", text}}), seconds(0)) << text;
  }
}

}  // namespace
}  // namespace tidemark::http
