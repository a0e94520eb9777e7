// Bodies that are read piece by piece while they are sent.
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/hashing.h"
#include "http/server.h"
#include "tests/support/server_fixture.h"

namespace tidemark::http {
namespace {

using std::chrono::milliseconds;

constexpr char kServerSourceGet[] = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr uint64_t kLarge = 50'000'000;

char ByteAt(uint64_t offset) { return static_cast<char>((offset * 2'654'435'761U) >> 13); }

// A source whose bytes depend on their offset. It counts its reads, can fail at an offset, and can
// block.
class PatternSource final : public BodySource {
 public:
  explicit PatternSource(uint64_t fails_at = UINT64_MAX) : fails_at_(fails_at) {}

  Result<std::string> Read(uint64_t offset, size_t size) override {
    std::unique_lock lock(mutex_);
    ++reads_;
    largest_ = std::max(largest_, size);
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    if (offset + size > fails_at_) return Error{ErrorCode::kCorrupt, "the disk is damaged"};
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = ByteAt(offset + i);
    return bytes;
  }

  void Hold() { SetHeld(true); }
  void Release() { SetHeld(false); }
  void WaitForReads(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reads_ >= count; });
  }
  int reads() const {
    const std::lock_guard lock(mutex_);
    return reads_;
  }
  size_t largest() const {
    const std::lock_guard lock(mutex_);
    return largest_;
  }

 private:
  void SetHeld(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

  const uint64_t fails_at_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  int reads_ = 0;
  size_t largest_ = 0;
};

std::string Pattern(uint64_t size) {
  std::string bytes(size, '\0');
  for (uint64_t i = 0; i < size; ++i) bytes[i] = ByteAt(i);
  return bytes;
}

class ServerSourceTest : public ServerFixture {
 protected:
  ~ServerSourceTest() override { server_.reset(); }

  // Answers every request with `size` bytes of the source.
  void Serve(std::shared_ptr<PatternSource> source, uint64_t size) {
    source_ = std::move(source);
    handler_.AnswerWith([this, size](const std::string&) {
      return Response{.headers = {{"Content-Type", "a/b"}}, .source = source_, .source_size = size};
    });
    Start();
  }

  std::shared_ptr<PatternSource> source_;
};

// A large file arrives completely, and it was read in small pieces.
TEST_F(ServerSourceTest, SendsALargeBody) {
  Serve(std::make_shared<PatternSource>(), kLarge);
  RawConnection connection(server_->port());
  connection.Send(kServerSourceGet);
  const RawReply reply = connection.ReadReply();
  EXPECT_EQ(reply.Find("Content-Length"), std::to_string(kLarge));
  EXPECT_EQ(reply.Find("Content-Type"), "a/b");
  Sha256Stream expected;
  expected.Add(Pattern(kLarge));
  Sha256Stream found;
  found.Add(reply.body);
  EXPECT_EQ(found.Finish(), expected.Finish());
  EXPECT_EQ(source_->largest(), kBodyPieceBytes);
}

// Bodies with sizes near the size of a piece, on one connection. Pipelined requests are answered in
// order.
TEST_F(ServerSourceTest, AnswersARequestPipelinedAfterABody) {
  source_ = std::make_shared<PatternSource>();
  handler_.AnswerWith([this](const std::string& text) {
    return Response{.source = source_, .source_size = std::stoull(text.substr(5))};
  });
  Start();
  const std::vector<uint64_t> sizes = {
      0, 1, kBodyPieceBytes - 1, kBodyPieceBytes, 3, kBodyPieceBytes + 1, 3 * kBodyPieceBytes, 2};
  RawConnection connection(server_->port());
  std::string requests;
  for (const uint64_t size : sizes) {
    requests += "GET /" + std::to_string(size) + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }
  connection.Send(requests);
  for (const uint64_t size : sizes) {
    EXPECT_TRUE(connection.ReadReply().body == Pattern(size)) << size;
  }
}

// The reply to HEAD has the length, and nothing is read from the source.
TEST_F(ServerSourceTest, SendsNoBodyToHead) {
  Serve(std::make_shared<PatternSource>(), kLarge);
  RawConnection connection(server_->port());
  connection.Send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\nHEAD /a HTTP/1.1\r\nHost: a\r\n\r\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(connection.ReadReply(false).Find("Content-Length"), std::to_string(kLarge));
  }
  EXPECT_EQ(source_->reads(), 0);
}

// A status without a body has none, even if the handler gave a source.
TEST_F(ServerSourceTest, SendsNoBodyWithNotModified) {
  source_ = std::make_shared<PatternSource>();
  handler_.AnswerWith([this](const std::string&) {
    return Response{.status = 304, .source = source_, .source_size = 10};
  });
  Start();
  RawConnection connection(server_->port());
  connection.Send(std::string(kServerSourceGet) + kServerSourceGet);
  EXPECT_EQ(connection.ReadReply().status, 304);
  EXPECT_EQ(connection.ReadReply().status, 304);
}

// The client can see that the body is incomplete, and there is a log line.
TEST_F(ServerSourceTest, EndsTheConnectionWhenTheSourceFails) {
  Serve(std::make_shared<PatternSource>(1'000'000), kLarge);
  RawConnection connection(server_->port());
  connection.Send(std::string(kServerSourceGet) + kServerSourceGet);
  const std::string all = connection.ReadToEnd();
  EXPECT_NE(all.find("Content-Length: 50000000\r\n"), std::string::npos);
  EXPECT_LT(all.size(), 1'001'000U);
  EXPECT_GT(all.size(), 700'000U);
  EXPECT_NE(StopAndReadLog().find("the disk is damaged"), std::string::npos);
}

// When a source gives fewer bytes than announced, the next reply must not be taken for the rest of
// the body.
TEST_F(ServerSourceTest, EndsTheConnectionWhenAPieceIsShort) {
  class ShortSource final : public BodySource {
    Result<std::string> Read(uint64_t, size_t) override { return std::string("few"); }
  };
  handler_.AnswerWith([](const std::string&) {
    return Response{.source = std::make_shared<ShortSource>(), .source_size = 100};
  });
  Start();
  RawConnection connection(server_->port());
  connection.Send(kServerSourceGet);
  EXPECT_EQ(connection.ReadReply().body, "");
  EXPECT_TRUE(connection.IsClosedByPeer());
}

// After the client has disconnected, nothing more is read.
TEST_F(ServerSourceTest, StopsReadingWhenTheClientLeaves) {
  Serve(std::make_shared<PatternSource>(), kLarge * 1'000);
  {
    RawConnection connection(server_->port());
    connection.Send(kServerSourceGet);
    source_->WaitForReads(3);
  }
  // The connection holds the last reference to the source.
  const std::weak_ptr<PatternSource> left = std::exchange(source_, nullptr);
  while (!left.expired()) std::this_thread::yield();
}

// A client that does not read must not fill the memory.
TEST_F(ServerSourceTest, ReadsOnlyALittleAheadOfASlowClient) {
  options_.limits.write_timeout = milliseconds(200);
  Serve(std::make_shared<PatternSource>(), kLarge * 1'000);
  RawConnection connection(server_->port());
  connection.Send(kServerSourceGet);
  // The client never reads, so the server closes the connection.
  source_->WaitForReads(1);
  while (source_.use_count() > 1) std::this_thread::yield();
  // As many pieces as fit into the kernel's buffers of both sides, plus two.
  EXPECT_LT(source_->reads(), 64);
}

// A slow disk does not delay other clients.
TEST_F(ServerSourceTest, ServesOthersWhileASourceIsRead) {
  options_.loops = 1;
  source_ = std::make_shared<PatternSource>();
  source_->Hold();
  handler_.AnswerWith([this](const std::string& text) {
    if (text != "GET /a|") return Text(200, text);
    return Response{.source = source_, .source_size = 100};
  });
  Start();
  RawConnection slow(server_->port());
  slow.Send(kServerSourceGet);
  source_->WaitForReads(1);
  RawConnection quick(server_->port());
  quick.Send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(quick.ReadReply().body, "GET /b|");
  source_->Release();
  EXPECT_EQ(slow.ReadReply().body, Pattern(100));
}

// Stop with patience lets a running download finish.
TEST_F(ServerSourceTest, FinishesABodyBeforeItStops) {
  Serve(std::make_shared<PatternSource>(), kLarge);
  source_->Hold();
  RawConnection connection(server_->port());
  connection.Send(kServerSourceGet);
  source_->WaitForReads(1);
  auto stopped = std::async(std::launch::async, [&] { server_->Stop(std::chrono::seconds(60)); });
  source_->Release();
  EXPECT_EQ(connection.ReadReply().body.size(), kLarge);
  EXPECT_TRUE(connection.IsClosedByPeer());
  stopped.get();
}

// Stop without patience ends it.
TEST_F(ServerSourceTest, StopsInTheMiddleOfABody) {
  Serve(std::make_shared<PatternSource>(), kLarge * 1'000);
  RawConnection connection(server_->port());
  connection.Send(kServerSourceGet);
  source_->WaitForReads(2);
  server_->Stop(milliseconds(0));
  EXPECT_LT(connection.ReadToEnd().size(), kLarge);
}

// A body on a connection that will be closed has a length too.
TEST_F(ServerSourceTest, ClosesAfterABodyWhenTheClientAsksForIt) {
  Serve(std::make_shared<PatternSource>(), 1'000'000);
  RawConnection connection(server_->port());
  connection.Send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(connection.ReadReply().body == Pattern(1'000'000));
  EXPECT_TRUE(connection.IsClosedByPeer());
}

}  // namespace
}  // namespace tidemark::http
