#include "http/server.h"

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/server_fixture.h"

namespace tidemark::http {
namespace {

using std::chrono::milliseconds;

class ServerTest : public ServerFixture {};

constexpr char kServerGet[] = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

// A simple request, and the headers that every reply has.
TEST_F(ServerTest, Answers) {
  clock_.SetNow(1'794'736'800);
  Start();
  RawConnection connection(server_->port());
  connection.Send("POST /a?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
  const RawReply reply = connection.ReadReply();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "POST /a|hi");
  EXPECT_EQ(reply.Find("Date"), "Sun, 15 Nov 2026 10:00:00 GMT");
  EXPECT_EQ(reply.Find("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(reply.Find("Connection"), std::nullopt);
  const Request request = handler_.requests().at(0);
  EXPECT_EQ(request.query, "x=1");
  EXPECT_EQ(request.peer, "127.0.0.1");
  EXPECT_EQ(reply.Find("X-Request-Id"), request.id);
  EXPECT_EQ(request.id.size(), 11U);
}

// A connection serves many requests, each with its own id.
TEST_F(ServerTest, KeepsTheConnection) {
  Start();
  RawConnection connection(server_->port());
  std::string last_id;
  for (int i = 0; i < 5; ++i) {
    connection.Send(kServerGet);
    const RawReply reply = connection.ReadReply();
    EXPECT_EQ(reply.body, "GET /a|");
    EXPECT_NE(reply.Find("X-Request-Id"), last_id);
    last_id = reply.Find("X-Request-Id").value_or("");
  }
}

// HTTP/1.0 and HTTP/1.1 have different rules for closing the connection.
TEST_F(ServerTest, ClosesWhenTheClientAsksForIt) {
  Start();
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawConnection connection(server_->port());
    connection.Send(request);
    const RawReply reply = connection.ReadReply();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.Find("Connection"), "close");
    EXPECT_TRUE(connection.IsClosedByPeer());
  }
  RawConnection connection(server_->port());
  connection.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(connection.ReadReply().Find("Connection"), "keep-alive");
  connection.Send(kServerGet);
  EXPECT_EQ(connection.ReadReply().status, 200);
}

// A client that has closed its sending side still gets its replies.
TEST_F(ServerTest, AnswersAClientThatHasClosedItsSide) {
  Start();
  RawConnection connection(server_->port());
  connection.Send(std::string(kServerGet) + kServerGet);
  connection.EndSending();
  EXPECT_EQ(connection.ReadReply().status, 200);
  EXPECT_EQ(connection.ReadReply().status, 200);
  EXPECT_TRUE(connection.IsClosedByPeer());
}

// More requests than any buffer can hold, answered in order.
TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) {
  options_.limits.max_pipelined_bytes = 512;
  options_.limits.max_head_bytes = 512;
  Start();
  RawConnection connection(server_->port());
  std::thread sender([&] {
    for (int i = 0; i < 2'000; ++i) {
      connection.Send("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    ASSERT_EQ(connection.ReadReply().body, "GET /" + std::to_string(i) + "|");
  }
  sender.join();
}

// The second request waits for the first reply, also when another thread gives it.
TEST_F(ServerTest, HandlesOneRequestOfAConnectionAtATime) {
  handler_.KeepReplies();
  Start();
  RawConnection connection(server_->port());
  connection.Send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
  const Reply first = handler_.WaitForRequest(1);
  EXPECT_EQ(handler_.requests().size(), 1U);
  std::thread([&] { first(Text(200, "one")); }).join();
  handler_.WaitForRequest(2)(Text(200, "two"));
  EXPECT_EQ(connection.ReadReply().body, "one");
  EXPECT_EQ(connection.ReadReply().body, "two");
}

// HEAD gets the head of the reply to GET; statuses without a body have none.
TEST_F(ServerTest, SendsNoBodyWithStatusesThatHaveNone) {
  handler_.AnswerWith([](const std::string& text) {
    return Text(text.starts_with("GET /304")   ? 304
                : text.starts_with("GET /204") ? 204
                                               : 200,
                text);
  });
  Start();
  RawConnection connection(server_->port());
  connection.Send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n");
  const RawReply head = connection.ReadReply(/*has_body=*/false);
  EXPECT_EQ(head.Find("Content-Length"), "8");
  for (const char* path : {"/204", "/304"}) {
    connection.Send("GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(connection.ReadReply(/*has_body=*/false).Find("Content-Length"), std::nullopt);
  }
  connection.Send(kServerGet);
  EXPECT_EQ(connection.ReadReply().body, "GET /a|");
}

// A client that waits for 100 Continue gets it. A client that does not wait gets none.
TEST_F(ServerTest, SendsContinueWhenTheClientExpectsIt) {
  Start();
  const std::string head =
      "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
  RawConnection connection(server_->port());
  connection.Send(head);
  EXPECT_EQ(connection.ReadReply().status, 100);
  connection.Send("hi");
  EXPECT_EQ(connection.ReadReply().body, "POST /a|hi");
  connection.Send(head + "hi");
  EXPECT_EQ(connection.ReadReply().body, "POST /a|hi");
}

// A body that is too large is refused before it is sent.
TEST_F(ServerTest, RefusesInsteadOfSendingContinue) {
  options_.limits.max_body_bytes = 1;
  Start();
  RawConnection connection(server_->port());
  connection.Send(
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(connection.ReadReply().status, 413);
  EXPECT_TRUE(connection.IsClosedByPeer());
}

// A client that is still sending gets the refusal: the connection is not reset.
TEST_F(ServerTest, AnswersAClientThatSendsTooMuch) {
  options_.limits.max_body_bytes = 1'000;
  Start();
  RawConnection connection(server_->port());
  connection.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
                  std::string(100'000, 'x'));
  EXPECT_EQ(connection.ReadReply().status, 413);
}

// The handler gets a body in one piece, also when it arrived in many.
TEST_F(ServerTest, ReadsLargeBodies) {
  handler_.AnswerWith([](const std::string& text) { return Text(200, text); });
  Start();
  RawConnection connection(server_->port());
  const std::string body(1 << 20, 'b');
  std::thread sender([&] {
    connection.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n" + body);
    connection.Send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n" +
                    body + "\r\n0\r\n\r\n");
  });
  EXPECT_EQ(connection.ReadReply().body, "POST /|" + body);
  EXPECT_EQ(connection.ReadReply().body, "POST /|" + body);
  sender.join();
}

// The X-Request-Id of a client is used when it is safe to log.
TEST_F(ServerTest, TakesGoodRequestIds) {
  Start();
  RawConnection connection(server_->port());
  const auto id_for = [&](const std::string& given) {
    connection.Send("GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: " + given + "\r\n\r\n");
    return connection.ReadReply().Find("X-Request-Id");
  };
  EXPECT_EQ(id_for("aZ9._-"), "aZ9._-");
  EXPECT_EQ(id_for(std::string(64, 'a')), std::string(64, 'a'));
  EXPECT_NE(id_for(std::string(65, 'a')), std::string(65, 'a'));
  EXPECT_NE(id_for("a b"), "a b");
  EXPECT_NE(id_for("a=b"), "a=b");
  EXPECT_NE(id_for(""), "");
}

// A handler's header can neither end a line nor change the framing of the reply.
TEST_F(ServerTest, IgnoresFramingHeadersFromHandlers) {
  handler_.AnswerWith([](const std::string&) {
    return Response{.status = 200,
                    .headers = {{"X-A", "a\r\nX-Evil: 1"},
                                {"Content-Length", "7"},
                                {"Transfer-Encoding", "chunked"},
                                {"connection", "close"}},
                    .body = "ok"};
  });
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerGet);
  const RawReply reply = connection.ReadReply();
  EXPECT_EQ(reply.Find("X-A"), "a  X-Evil: 1");
  EXPECT_EQ(reply.Find("Content-Length"), "2");
  EXPECT_EQ(reply.Find("Transfer-Encoding"), std::nullopt);
  connection.Send(kServerGet);
  EXPECT_EQ(connection.ReadReply().body, "ok");
}

// When a handler throws, only its request fails.
TEST_F(ServerTest, AnswersWhenTheHandlerThrows) {
  handler_.AnswerWith([](const std::string&) -> Response { throw std::runtime_error("secret"); });
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerGet);
  const RawReply reply = connection.ReadReply();
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body.find("secret"), std::string::npos);
}

// A reply is dropped when it is late, when it is the second one, or when its connection is closed.
TEST_F(ServerTest, DropsLateAndSecondReplies) {
  handler_.KeepReplies();
  Start();
  Reply late;
  {
    RawConnection connection(server_->port());
    connection.Send(kServerGet);
    late = handler_.WaitForRequest(1);
  }
  late(Text(200, "to nobody"));
  RawConnection connection(server_->port());
  connection.Send(kServerGet);
  const Reply twice = handler_.WaitForRequest(2);
  twice(Text(200, "once"));
  twice(Text(200, "twice"));
  EXPECT_EQ(connection.ReadReply().body, "once");
  connection.Send(kServerGet);
  const Reply third = handler_.WaitForRequest(3);
  twice(Text(200, "to the wrong request"));
  third(Text(200, "third"));
  EXPECT_EQ(connection.ReadReply().body, "third");
  connection.Send(kServerGet);
  const Reply orphan = handler_.WaitForRequest(4);
  server_.reset();
  orphan(Text(200, "after the server"));
}

// Many threads answer many connections at once. Under TSan this finds races in the mailbox.
TEST_F(ServerTest, TakesRepliesFromManyThreads) {
  handler_.KeepReplies();
  Start();
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      RawConnection connection(server_->port());
      for (int request = 0; request < 20; ++request) {
        connection.Send(kServerGet);
        answered += connection.ReadReply().status == 200 ? 1 : 0;
      }
    });
  }
  std::vector<std::thread> repliers;
  std::atomic<size_t> next = 1;
  for (int i = 0; i < 4; ++i) {
    repliers.emplace_back([&] {
      for (size_t number = next++; number <= 160; number = next++) {
        handler_.WaitForRequest(number)(Text(200, "ok"));
      }
    });
  }
  for (std::thread& thread : clients) thread.join();
  for (std::thread& thread : repliers) thread.join();
  EXPECT_EQ(answered, 160);
}

// Running requests are answered, and the reply says that the connection is closed.
TEST_F(ServerTest, StopLetsRequestsFinish) {
  handler_.KeepReplies();
  options_.loops = 1;  // Both connections get the stop at the same time.
  Start();
  RawConnection idle(server_->port());
  RawConnection busy(server_->port());
  busy.Send(kServerGet);
  const Reply reply = handler_.WaitForRequest(1);
  std::thread stopper([&] { server_->Stop(std::chrono::seconds(10)); });
  EXPECT_TRUE(idle.IsClosedByPeer());
  reply(Text(200, "last"));
  const RawReply last = busy.ReadReply();
  EXPECT_EQ(last.body, "last");
  EXPECT_EQ(last.Find("Connection"), "close");
  busy.Close();
  stopper.join();
  EXPECT_FALSE(RawConnection(server_->port()).connected());
}

// A handler that never answers does not prevent the stop.
TEST_F(ServerTest, StopEndsWhenItsPatienceEnds) {
  handler_.KeepReplies();
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerGet);
  handler_.WaitForRequest(1);
  server_->Stop(milliseconds(10));
  EXPECT_TRUE(connection.IsClosedByPeer());
  server_->Stop(milliseconds(10));
}

// Addresses that cannot be used, and one that another server uses.
TEST_F(ServerTest, SaysWhyItCannotListen) {
  for (const char* address : {"", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", ":80",
                              "127.0.0.1:65536", "::1:80", "[127.0.0.1]:80", "192.0.2.1:0"}) {
    options_.listen = address;
    const auto started = Server::Start(options_, &handler_, runtime());
    ASSERT_FALSE(started.has_value()) << address;
    EXPECT_EQ(started.error().code, ErrorCode::kInvalid) << address;
  }
  options_.listen = "127.0.0.1:0";
  Start();
  EXPECT_EQ(server_->address(), "127.0.0.1:" + std::to_string(server_->port()));
  options_.listen = server_->address();
  const auto second = Server::Start(options_, &handler_, runtime());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kInUse);
}

// One line for each request, without parts that may be secret.
TEST_F(ServerTest, WritesTheAccessLog) {
  Start();
  RawConnection connection(server_->port());
  connection.Send(
      "POST /a?token=secret1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: id-1\r\n"
      "Authorization: secret2\r\nContent-Length: 7\r\n\r\nsecret3");
  EXPECT_EQ(connection.ReadReply().status, 200);
  const std::string log = StopAndReadLog();
  EXPECT_NE(log.find("debug request method=POST path=/a status=200 bytes=15"), std::string::npos)
      << log;
  EXPECT_NE(log.find("peer=127.0.0.1 token=\"\" request_id=id-1"), std::string::npos) << log;
  EXPECT_EQ(log.find("secret"), std::string::npos);
}

// The lines that somebody must see are written at the default level: failures and slow requests.
TEST_F(ServerTest, LogsFailedAndSlowRequestsAtInfo) {
  handler_.KeepReplies();
  Start();
  RawConnection connection(server_->port());
  connection.Send("GET /failed HTTP/1.1\r\nHost: a\r\n\r\n");
  handler_.WaitForRequest(1)(Text(503, ""));
  EXPECT_EQ(connection.ReadReply().status, 503);
  connection.Send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  const Reply slow = handler_.WaitForRequest(2);
  clock_.Advance(std::chrono::seconds(1));
  slow(Text(200, ""));
  EXPECT_EQ(connection.ReadReply().status, 200);
  const std::string log = StopAndReadLog();
  EXPECT_NE(log.find("info request method=GET path=/failed status=503"), std::string::npos) << log;
  EXPECT_NE(log.find("info request method=GET path=/slow status=200"), std::string::npos) << log;
}

// A client must not fill the disk with the log of its requests.
// Review: F10
TEST_F(ServerTest, CutsALongPathInTheLog) {
  Start();
  RawConnection connection(server_->port());
  connection.Send("GET /" + std::string(8'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(connection.ReadReply().status, 200);
  const std::string log = StopAndReadLog();
  EXPECT_NE(log.find("aaa… (8001 bytes)"), std::string::npos) << log;
  EXPECT_LT(log.size(), 1'000u);
}

// Every metric changes.
TEST_F(ServerTest, CountsWhatItDoes) {
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerGet);
  EXPECT_EQ(connection.ReadReply().status, 200);
  EXPECT_NE(metrics_.Expose().find("tidemark_http_connections 1"), std::string::npos);
  connection.Send("BREW / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(connection.ReadReply().status, 501);
  connection.Close();
  server_.reset();
  const std::string text = metrics_.Expose();
  for (const char* line :
       {"tidemark_http_requests_total{status=\"2xx\"} 1",
        "tidemark_http_requests_total{status=\"5xx\"} 1", "tidemark_http_request_seconds_count 2",
        "tidemark_http_refused_total 1", "tidemark_http_connections 0"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

}  // namespace
}  // namespace tidemark::http
