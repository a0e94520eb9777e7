// The server's limits and refusals, over real connections.
#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include "http/server.h"
#include "tests/support/server_fixture.h"
#include "tests/support/test_runtime.h"

namespace tidemark::http {
namespace {

using std::chrono::milliseconds;

constexpr char kServerLimitsGet[] = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr char kSmuggled[] = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

class ServerLimitsTest : public ServerFixture {};

// A client that never completes the head of its request.
TEST_F(ServerLimitsTest, TimesOutOnAHead) {
  options_.limits.head_timeout = milliseconds(20);
  Start();
  RawConnection connection(server_->port());
  connection.Send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(connection.ReadReply().status, 408);
  EXPECT_TRUE(connection.IsClosedByPeer());
  RawConnection silent(server_->port());
  EXPECT_TRUE(silent.IsClosedByPeer());
  EXPECT_TRUE(handler_.requests().empty());
}

// The timeout of a head begins with its first byte: sending more bytes does not extend it.
TEST_F(ServerLimitsTest, TimesOutOnAHeadThatTrickles) {
  options_.limits.head_timeout = milliseconds(50);
  options_.limits.max_head_bytes = 64 << 20;
  Start();
  RawConnection connection(server_->port());
  while (!connection.HasInput()) connection.Send("X");
  EXPECT_EQ(connection.ReadReply().status, 408);
  EXPECT_TRUE(handler_.requests().empty());
}

// The timeout of a head holds also on a connection that was idle before, with its longer timeout.
TEST_F(ServerLimitsTest, TimesOutOnALaterHead) {
  options_.limits.head_timeout = milliseconds(20);
  options_.limits.idle_timeout = std::chrono::hours(1);
  handler_.KeepReplies();
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerLimitsGet);
  const Reply reply = handler_.WaitForRequest(1);
  // When this connection has timed out, the older one has no timeout running.
  EXPECT_TRUE(RawConnection(server_->port()).IsClosedByPeer());
  reply(Text(200, "ok"));
  EXPECT_EQ(connection.ReadReply().status, 200);
  connection.Send("GET");
  EXPECT_EQ(connection.ReadReply().status, 408);
}

// A client that announces a body and does not send it.
TEST_F(ServerLimitsTest, TimesOutOnABody) {
  options_.limits.body_timeout = milliseconds(20);
  Start();
  RawConnection connection(server_->port());
  connection.Send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc");
  EXPECT_EQ(connection.ReadReply().status, 408);
  EXPECT_TRUE(connection.IsClosedByPeer());
  EXPECT_TRUE(handler_.requests().empty());
}

// An idle connection is closed without a reply.
TEST_F(ServerLimitsTest, TimesOutWhenIdle) {
  options_.limits.idle_timeout = milliseconds(20);
  Start();
  RawConnection connection(server_->port());
  for (int i = 0; i < 3; ++i) {
    connection.Send(kServerLimitsGet);
    EXPECT_EQ(connection.ReadReply().status, 200);
  }
  EXPECT_TRUE(connection.IsClosedByPeer());
}

// A slow handler must not make the client's request time out.
TEST_F(ServerLimitsTest, DoesNotTimeTheHandler) {
  options_.limits.head_timeout = milliseconds(5);
  options_.limits.idle_timeout = milliseconds(5);
  handler_.KeepReplies();
  Start();
  RawConnection slow(server_->port());
  slow.Send(kServerLimitsGet);
  const Reply reply = handler_.WaitForRequest(1);
  // Other connections time out in the meantime.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(RawConnection(server_->port()).IsClosedByPeer());
  reply(Text(200, "at last"));
  EXPECT_EQ(slow.ReadReply().body, "at last");
}

// A client that does not read its reply cannot keep it in memory for ever.
TEST_F(ServerLimitsTest, TimesOutWhenTheClientDoesNotReadItsReply) {
  constexpr size_t kReplyBytes = 64 << 20;
  options_.limits.write_timeout = milliseconds(20);
  options_.limits.idle_timeout = std::chrono::hours(1);
  handler_.AnswerWith([](const std::string&) { return Text(200, std::string(kReplyBytes, 'r')); });
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerLimitsGet);
  handler_.WaitForRequest(1);
  // The gauge falls when the server has closed the connection.
  while (metrics_.Expose().find("tidemark_http_connections 0") == std::string::npos) {
    std::this_thread::yield();
  }
  EXPECT_LT(connection.ReadToEnd().size(), kReplyBytes);
}

// A client sends its request before it reads. It must not be reset meanwhile, because it would lose
// the reply that says why. The first bytes to a closed socket cause a reset, and the next ones
// fail.
TEST_F(ServerLimitsTest, AClientThatIsTurnedAwayCanSendItsRequest) {
  options_.limits.max_connections = 1;
  Start();
  RawConnection first(server_->port());
  ASSERT_TRUE(first.Send(kServerLimitsGet));
  EXPECT_EQ(first.ReadReply().status, 200);
  RawConnection second(server_->port());
  while (!second.HasInput()) std::this_thread::yield();
  for (const char* piece : {"GET / HTTP/1.1\r\n", "Host: a\r\n", "\r\n"}) {
    EXPECT_TRUE(second.Send(piece));
  }
  const RawReply reply = second.ReadReply();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.Find("Retry-After"), "1");
}

// A signature can be checked only after the whole body was read. Clients that send many large
// bodies at once are refused; a client with a small body is not.
TEST_F(ServerLimitsTest, RefusesTooManyBytesOfBodiesAtOnce) {
  options_.limits.max_body_bytes_at_once = 100'000;
  handler_.KeepReplies();
  Start();
  const std::string large =
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 80000\r\n\r\n" + std::string(80'000, 'b');
  RawConnection first(server_->port());
  first.Send(large);
  const Reply to_first = handler_.WaitForRequest(1);
  RawConnection second(server_->port());
  second.Send(large);
  EXPECT_EQ(second.ReadReply().status, 503);
  EXPECT_TRUE(second.IsClosedByPeer());
  RawConnection small(server_->port());
  small.Send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
  handler_.WaitForRequest(2)(Text(200, "ok"));
  EXPECT_EQ(small.ReadReply().status, 200);
  to_first(Text(200, "ok"));
  EXPECT_EQ(first.ReadReply().status, 200);
  // The bytes of answered and refused requests no longer count.
  handler_.KeepReplies(false);
  RawConnection third(server_->port());
  third.Send(large);
  EXPECT_EQ(third.ReadReply().status, 200);
}

// A reply stays in memory until its client has read it. Clients that ask for large replies and do
// not read them are refused more; small replies are not. What was read counts no more.
// Review: D5
TEST_F(ServerLimitsTest, BoundsTheBytesOfRepliesThatAreNotSent) {
  constexpr size_t kPartBytes = 8 << 20;  // More than the buffers of two sockets hold.
  options_.limits.max_reply_bytes_at_once = 4 * kPartBytes;  // All that two replies have.
  handler_.AnswerWith([](const std::string& text) {
    if (text.starts_with("GET /small")) return Text(200, "ok");
    if (text.starts_with("GET /metrics")) return Text(200, std::string(200 << 10, 'm'));
    const SharedText part = ShareText(std::string(kPartBytes, 'x'));
    return Json(200, std::vector<SharedText>{part, part});
  });
  Start();
  const std::string large = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
  RawConnection first(server_->port());
  RawConnection second(server_->port());
  for (RawConnection* client : {&first, &second}) client->Send(large);
  handler_.WaitForRequest(2);
  // The head of each comes when its body is counted.
  while (!first.HasInput() || !second.HasInput()) std::this_thread::yield();
  RawConnection third(server_->port());
  third.Send(large);
  const RawReply refusal = third.ReadReply();
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.Find("Retry-After"), "1");
  third.Send("GET /small HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(third.ReadReply().body, "ok");
  third.Send("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(third.ReadReply().status, 200);
  // Read replies count no more, although their connections are open.
  for (RawConnection* client : {&first, &second}) {
    EXPECT_EQ(client->ReadReply().body.size(), 2 * kPartBytes);
    client->Send("GET /small HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(client->ReadReply().body, "ok");
  }
  third.Send(large);
  EXPECT_EQ(third.ReadReply().body.size(), 2 * kPartBytes);
}

// A reply of many parts counts for what is still in memory, not for all of it until its last byte.
TEST_F(ServerLimitsTest, SentPartsOfAReplyNoLongerCount) {
  constexpr size_t kPartBytes = 16 << 20;
  constexpr size_t kParts = 20;  // Far more than the buffers of a connection hold. All are one.
  options_.limits.max_reply_bytes_at_once = (kParts + 1) * kPartBytes;
  options_.limits.max_reply_bytes_per_address = (kParts + 1) * kPartBytes;
  options_.limits.write_timeout = std::chrono::hours(1);  // The first client stops reading.
  handler_.AnswerWith([](const std::string& text) {
    const size_t parts = text.starts_with("GET /many") ? kParts : 2;
    return Json(200, std::vector<SharedText>(parts, ShareText(std::string(kPartBytes, 'x'))));
  });
  Start();
  RawConnection slow(server_->port());
  slow.Send("GET /many HTTP/1.1\r\nHost: a\r\n\r\n");
  while (!slow.HasInput()) std::this_thread::yield();
  RawConnection other(server_->port());
  other.Send("GET /two HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(other.ReadReply().status, 503);
  // One write sends less than a part, so the server knows of the first parts when the third has
  // come.
  ASSERT_TRUE(slow.Skip(3 * kPartBytes));
  other.Send("GET /two HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(other.ReadReply().status, 200);
}

// A client that reads a little now and then must not hold a large reply for hours.
TEST_F(ServerLimitsTest, ClosesTheConnectionOfAClientThatReadsTooSlowly) {
  constexpr size_t kPartBytes = 1 << 20;
  constexpr size_t kParts = 8'000;  // Far more than can be read before the timeout. All are one.
  options_.limits.write_timeout = milliseconds(50);
  options_.limits.min_sent_bytes_a_second = size_t{1} << 40;
  options_.limits.max_reply_bytes_at_once = 2 * kPartBytes * kParts;
  options_.limits.max_reply_bytes_per_address = 2 * kPartBytes * kParts;
  handler_.AnswerWith([](const std::string&) {
    return Json(200, std::vector<SharedText>(kParts, ShareText(std::string(kPartBytes, 'x'))));
  });
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerLimitsGet);
  EXPECT_FALSE(connection.Skip(kPartBytes * kParts));
  EXPECT_NE(metrics_.Expose().find("tidemark_http_slow_readers_total 1"), std::string::npos);
}

// Who may not send a request must not make the server read its body, or wait for it.
// Review: F10
TEST_F(ServerLimitsTest, AnswersBeforeTheBodyOfARequestThatItsHeadForbids) {
  handler_.RefuseHeadsWith(Problem(401, "a token is needed"));
  Start();
  RawConnection connection(server_->port());
  connection.Send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc");
  const RawReply reply = connection.ReadReply();
  EXPECT_EQ(reply.status, 401);
  EXPECT_EQ(reply.Find("Connection"), "close");
  EXPECT_TRUE(connection.IsClosedByPeer());
  RawConnection waits(server_->port());
  waits.Send(
      "POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(waits.ReadReply().status, 401);
  EXPECT_TRUE(handler_.requests().empty());
}

// The server must be able to stop while somebody has sent half a request.
// Review: F14
TEST_F(ServerLimitsTest, AHalfSentRequestDoesNotDelayTheStop) {
  options_.loops = 1;
  Start();
  RawConnection head(server_->port());
  head.Send("GET /a HTTP/1.1\r\n");
  RawConnection body(server_->port());
  body.Send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc");
  // One loop takes its connections in order, so both halves have come when this is answered.
  RawConnection whole(server_->port());
  whole.Send(kServerLimitsGet);
  EXPECT_EQ(whole.ReadReply().status, 200);
  // Far below the timeouts of heads and bodies; a test program that waits so long is killed.
  server_->Stop(std::chrono::hours(1));
  EXPECT_TRUE(head.IsClosedByPeer());
  EXPECT_TRUE(body.IsClosedByPeer());
}

// Heads with too many bytes or too many headers.
TEST_F(ServerLimitsTest, RefusesLargeHeads) {
  options_.limits.max_head_bytes = 1'000;
  options_.limits.max_headers = 5;
  Start();
  RawConnection bytes(server_->port());
  bytes.Send("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(1'000, 'x') + "\r\n\r\n" + kSmuggled);
  EXPECT_EQ(bytes.ReadReply().status, 431);
  EXPECT_TRUE(bytes.IsClosedByPeer());
  RawConnection count(server_->port());
  count.Send("GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nA: 2\r\nA: 3\r\nA: 4\r\nA: 5\r\n\r\n");
  EXPECT_EQ(count.ReadReply().status, 431);
  EXPECT_TRUE(count.IsClosedByPeer());
  EXPECT_TRUE(handler_.requests().empty());
}

// Bodies that are too large, with a length and in chunks.
TEST_F(ServerLimitsTest, RefusesLargeBodies) {
  options_.limits.max_body_bytes = 10;
  Start();
  for (const char* request : {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n01234567890",
                              "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                              "a\r\n0123456789\r\n1\r\n0\r\n0\r\n\r\n"}) {
    RawConnection connection(server_->port());
    connection.Send(request + std::string(kSmuggled));
    EXPECT_EQ(connection.ReadReply().status, 413);
    EXPECT_TRUE(connection.IsClosedByPeer());
  }
  EXPECT_TRUE(handler_.requests().empty());
}

// A client may send a whole body, and more requests, before it reads. It gets the refusal all the
// same, is told that nothing else is answered, and the connection ends without a reset (RFC 9112,
// 9.6).
TEST_F(ServerLimitsTest, AClientThatKeepsSendingStillGetsTheRefusal) {
  options_.limits.max_body_bytes = 10;
  Start();
  for (const auto& [head, status] :
       {std::pair("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n", 413),
        std::pair("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400)}) {
    RawConnection connection(server_->port());
    EXPECT_TRUE(connection.Send(head + std::string(200'000, 'b') + kSmuggled));
    const RawReply reply = connection.ReadReply();
    EXPECT_EQ(reply.status, status);
    EXPECT_EQ(reply.Find("Connection"), "close");
    connection.EndSending();
    EXPECT_TRUE(connection.IsClosedByPeer());
    EXPECT_FALSE(connection.was_reset());
  }
  EXPECT_TRUE(handler_.requests().empty());
}

// Above either limit the answer is 503. When a connection is closed, another one is accepted.
TEST_F(ServerLimitsTest, RefusesTooManyConnections) {
  for (const bool by_address : {false, true}) {
    ServerOptions options = options_;
    (by_address ? options.limits.max_connections_per_address : options.limits.max_connections) = 2;
    tidemark::testing::TestRuntime test;
    auto server = Server::Start(options, &handler_, test.runtime());
    ASSERT_TRUE(server.has_value());
    const uint16_t port = (*server)->port();
    std::list<RawConnection> connections;
    for (int i = 0; i < 2; ++i) {
      connections.emplace_back(port).Send(kServerLimitsGet);
      EXPECT_EQ(connections.back().ReadReply().status, 200);
    }
    RawConnection over(port);
    const RawReply reply = over.ReadReply();
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.Find("Retry-After"), "1");
    EXPECT_TRUE(over.IsClosedByPeer());
    connections.pop_front();
    // The server notices the closed connection a moment later.
    int status = 503;
    while (status == 503) {
      RawConnection again(port);
      status = again.Send(kServerLimitsGet) ? again.ReadReply().status : 503;
      if (status == 0) status = 503;
    }
    EXPECT_EQ(status, 200);
  }
}

struct Refused {
  const char* why;
  const char* request;
  int status = 400;
};

class RefusalTest : public ServerFixture, public ::testing::WithParamInterface<Refused> {};

// The client gets a refusal and the connection is closed. The bytes after it are never read as a
// request.
TEST_P(RefusalTest, ClosesAndReadsNothingAfterIt) {
  Start();
  RawConnection connection(server_->port());
  connection.Send(GetParam().request + std::string(kSmuggled));
  const RawReply reply = connection.ReadReply();
  EXPECT_EQ(reply.status, GetParam().status);
  EXPECT_EQ(reply.Find("Connection"), "close");
  EXPECT_EQ(reply.Find("Content-Type"), "application/problem+json");
  EXPECT_TRUE(connection.IsClosedByPeer());
  EXPECT_TRUE(handler_.requests().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Smuggling, RefusalTest,
    ::testing::Values(
        Refused{"OtherEncoding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"},
        Refused{"EncodingList",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
        Refused{"ChunkedTwice",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        Refused{"ChunkedNotLast",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n"},
        Refused{"SpaceBeforeColon",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"},
        Refused{"EncodingInHttp10",
                "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
        Refused{"BothFramings",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"
                "\r\n0\r\n\r\n"},
        Refused{"BothFramingsReversed",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n"
                "\r\n0\r\n\r\n"},
        Refused{"OtherEncodingWithLength",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\nContent-Length: 0\r\n\r\n"},
        Refused{"LengthTwice",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"},
        Refused{"TwoLengths",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n"},
        Refused{"LengthList", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n\r\n"},
        Refused{"LengthWithSign", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n"},
        Refused{"NoHost", "GET / HTTP/1.1\r\n\r\n"},
        Refused{"HostTwice", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"},
        Refused{"BadHost", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
        Refused{"AbsoluteForm", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"},
        Refused{"Asterisk", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"},
        Refused{"ControlByte", "GET / HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n"},
        Refused{"BareReturn", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"},
        Refused{"BareLineFeed", "GET / HTTP/1.1\r\nHost: a\nX: a\r\n\r\n"},
        Refused{"FoldedLine", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n"},
        Refused{"BadChunkSize",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n"},
        Refused{"ChunkTooLong",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n"
                "\r\n"},
        Refused{"LineFeedInExtension",
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0;a=\"\n\"\r\n"
                "\r\n"},
        Refused{"UnknownMethod", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        Refused{"Connect", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        Refused{"Version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"}),
    [](const auto& refused) { return std::string(refused.param.why); });

// The table above cannot contain a zero byte.
TEST_F(ServerLimitsTest, RefusesAZeroByte) {
  Start();
  RawConnection connection(server_->port());
  connection.Send(std::string("GET / HTTP/1.1\r\nHost: a\r\nX: a") + '\0' + "\r\n\r\n" + kSmuggled);
  EXPECT_EQ(connection.ReadReply().status, 400);
  EXPECT_TRUE(connection.IsClosedByPeer());
  EXPECT_TRUE(handler_.requests().empty());
}

// A good request before the refused one is answered, in order.
TEST_F(ServerLimitsTest, AnswersRequestsBeforeTheRefusedOne) {
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerLimitsGet + std::string("GET / HTTP/1.1\r\n\r\n") + kSmuggled);
  EXPECT_EQ(connection.ReadReply().status, 200);
  EXPECT_EQ(connection.ReadReply().status, 400);
  EXPECT_TRUE(connection.IsClosedByPeer());
  EXPECT_EQ(handler_.requests().size(), 1U);
}

}  // namespace
}  // namespace tidemark::http
