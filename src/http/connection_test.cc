#include "http/connection.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"
#include "tests/support/test_runtime.h"

namespace tidemark::http {
namespace {

// Answers at once with a body of the wanted size.
class SizedHandler final : public Handler {
 public:
  void Handle(Request request, Reply reply) override {
    paths.push_back(request.path);
    reply(Text(200, std::string(body_bytes, 'x')));
  }
  std::vector<std::string> paths;
  size_t body_bytes = 1;
};

// A connection without a network: the test does the reading and writing.
class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest()
      : observer_(test_.logger, &test_.metrics, nullptr),
        context_{.limits = limits_,
                 .handler = handler_,
                 .clock = clock_,
                 .observer = observer_,
                 .mailbox = std::make_shared<Mailbox>([] {}),
                 .ids = RequestIds(7),
                 .date = DateCache(clock_)},
        connection_(&context_, 1, "192.0.2.1") {
    context_.mailbox->Open();
  }

  void Receive(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::span<char> room = connection_.Room();
      const size_t count = std::min(room.size(), bytes.size());
      std::copy_n(bytes.begin(), count, room.begin());
      connection_.Received(count);
      bytes.remove_prefix(count);
    }
  }
  Output Take() {
    Output output;
    connection_.TakeOutput(&output);
    return output;
  }
  static size_t CountReplies(const std::string& bytes) {
    size_t count = 0;
    for (size_t at = 0; (at = bytes.find("HTTP/1.1 200", at)) != std::string::npos; ++at) ++count;
    return count;
  }

  const ServerLimits limits_;
  tidemark::testing::TestRuntime test_;
  ManualClock& clock_ = test_.clock;
  Observer observer_;
  SizedHandler handler_;
  ConnectionContext context_;
  Connection connection_;
};

constexpr char kGet[] = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";

// Replies that are ready at the same time are sent together.
TEST_F(ConnectionTest, SendsRepliesToPipelinedRequestsAtOnce) {
  Receive(std::string(kGet) + kGet + kGet);
  EXPECT_EQ(CountReplies(Take().bytes()), 3U);
  EXPECT_FALSE(connection_.has_output());
}

// For a client that does not read its replies, no further request is handled: the output is
// limited.
TEST_F(ConnectionTest, StopsReadingWhenMuchIsUnsent) {
  handler_.body_bytes = 10'000;
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += kGet;
  Receive(requests);
  EXPECT_FALSE(connection_.wants_bytes());
  const size_t answered = handler_.paths.size();
  EXPECT_LT(answered, 10U);
  connection_.Resume();
  EXPECT_EQ(handler_.paths.size(), answered);
  Take();
  connection_.Resume();
  EXPECT_GT(handler_.paths.size(), answered);
}

// A large body is not copied into the reply's bytes, and nothing is appended after it.
TEST_F(ConnectionTest, KeepsLargeBodiesApart) {
  handler_.body_bytes = 100'000;
  Receive(std::string(kGet) + kGet);
  for (int i = 0; i < 2; ++i) {
    const Output output = Take();
    EXPECT_EQ(CountReplies(output.bytes()), 1U);
    std::array<std::string_view, 3> pieces;
    ASSERT_EQ(output.Gather(pieces), 2U);
    EXPECT_EQ(pieces[1].size(), 100'000U);
    connection_.Resume();
  }
}

// The kind of wait decides the timeout.
TEST_F(ConnectionTest, SaysWhatItWaitsFor) {
  EXPECT_EQ(connection_.wait(), Connection::Wait::kForHead);
  Receive("POST /a HTTP/1.1\r\n");
  EXPECT_EQ(connection_.wait(), Connection::Wait::kForHead);
  Receive("Host: a\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(connection_.wait(), Connection::Wait::kForBody);
  Receive("x");
  EXPECT_EQ(connection_.wait(), Connection::Wait::kForNext);
  Receive("G");
  EXPECT_EQ(connection_.wait(), Connection::Wait::kForHead);
  EXPECT_EQ(connection_.requests(), 1U);
}

// Ids of requests do not repeat.
TEST(RequestIdsTest, DoNotRepeat) {
  RequestIds ids(1);
  std::vector<std::string> all;
  for (int i = 0; i < 10'000; ++i) all.push_back(ids.Next());
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

// The text follows the clock, also when the clock is set back.
TEST(DateCacheTest, FollowsTheClock) {
  ManualClock clock(1'794'736'800);
  DateCache date(clock);
  EXPECT_EQ(date.Now(), "Sun, 15 Nov 2026 10:00:00 GMT");
  clock.Advance(std::chrono::milliseconds(1'000));
  EXPECT_EQ(date.Now(), "Sun, 15 Nov 2026 10:00:01 GMT");
  clock.SetNow(0);
  EXPECT_EQ(date.Now(), "Thu, 01 Jan 1970 00:00:00 GMT");
}

// A large buffer is freed when it is empty, and never grows beyond its limit.
TEST(InputBufferTest, GrowsAndShrinks) {
  InputBuffer buffer(20'000);
  size_t total = 0;
  for (std::span<char> room = buffer.Room(); !room.empty(); room = buffer.Room()) {
    std::ranges::fill(room, static_cast<char>('a' + total % 26));
    buffer.Added(room.size());
    total += room.size();
  }
  EXPECT_EQ(total, 20'000U);
  EXPECT_EQ(buffer.bytes().front(), 'a');
  buffer.Consume(19'999);
  EXPECT_EQ(buffer.Room().size(), 19'999U);
  buffer.Consume(1);
  buffer.Shrink();
  EXPECT_LT(buffer.Room().size(), 20'000U);
}

}  // namespace
}  // namespace tidemark::http
