#include "servers/demo/sender.h"

#include <algorithm>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "base/sleeper.h"
#include "slack/signature.h"
#include "tests/support/manual_time.h"

namespace tidemark::demo {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr char kSenderKey[] = "not-a-real-signing-secret";

// One delivery as the receiver saw it.
struct Received {
  std::string body;
  std::string timestamp;
  std::string signature;
  std::string retry_number;
  std::string retry_reason;
  seconds at;  // Since the test began.
};

// Answers as the test says, and records the requests.
class FakeClient final : public http::Client {
 public:
  using Answer = std::function<http::Exchange(const Received&)>;

  FakeClient(ManualClock* clock, Answer answer) : clock_(clock), answer_(std::move(answer)) {}

  std::vector<http::Exchange> SendAll(std::span<const http::OutgoingRequest> requests,
                                      const Deadline& deadline) override {
    std::vector<http::Exchange> exchanges;
    for (const http::OutgoingRequest& request : requests) {
      exchanges.push_back(Send(request));
      // A receiver that does not answer in time uses up the whole timeout.
      if (exchanges.back().outcome == http::Outcome::kTimedOut) {
        clock_->Advance(
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline.Remaining()));
      }
    }
    return exchanges;
  }

  std::vector<Received> received() const {
    const std::lock_guard lock(mutex_);
    return received_;
  }

 private:
  http::Exchange Send(const http::OutgoingRequest& request) {
    const auto header = [&](std::string_view name) {
      return std::string(request.headers.Find(name).value_or(""));
    };
    Received received = {.body = request.body,
                         .timestamp = header(slack::kTimestampHeader),
                         .signature = header(slack::kSignatureHeader),
                         .retry_number = header("X-Slack-Retry-Num"),
                         .retry_reason = header("X-Slack-Retry-Reason"),
                         .at = std::chrono::duration_cast<seconds>(clock_->Monotonic())};
    const std::lock_guard lock(mutex_);
    received_.push_back(received);
    return answer_(received);
  }

  ManualClock* const clock_;
  const Answer answer_;
  mutable std::mutex mutex_;
  std::vector<Received> received_;
};

http::Exchange Status(int status) {
  return {.outcome = http::Outcome::kAnswered, .response = {.status = status}};
}

DeliverySource Numbers(size_t count) {
  return [count, next = size_t{0}]() mutable -> std::optional<Delivery> {
    if (next == count) return std::nullopt;
    const std::string number = std::to_string(next++);
    return Delivery{.event_id = "Ev" + number, .body = number};
  };
}

class SenderTest : public ::testing::Test {
 protected:
  // Runs the events through a sender with this receiver, and returns what it received.
  std::vector<Received> Run(SenderOptions options, size_t events, FakeClient::Answer answer) {
    options.url = "http://127.0.0.1:1/slack/events";
    options.signing_secret = Secret(std::string(kSenderKey));
    FakeClient client(&clock_, std::move(answer));
    ManualSleeper sleeper(&clock_);
    Sender sender(std::move(options), &client, &clock_, &sleeper);
    sender.Run(Numbers(events));
    report_ = sender.report();
    return client.received();
  }

  std::vector<Received> RunInOrder(size_t events, FakeClient::Answer answer) {
    return Run({.concurrency = 1}, events, std::move(answer));
  }

  ManualClock clock_;
  SenderReport report_;
};

FakeClient::Answer Always(int status) {
  return [status](const Received&) { return Status(status); };
}

// The verifier of the receiver accepts the signature.
TEST_F(SenderTest, SignsWhatItSends) {
  const std::vector<Received> received = RunInOrder(3, Always(200));
  ASSERT_EQ(received.size(), 3u);
  const slack::SignatureVerifier verifier(
      {{.id = "main", .value = Secret(std::string(kSenderKey))}});
  for (const Received& each : received) {
    const slack::SignatureCheck check = verifier.Verify(
        {.timestamps = {each.timestamp}, .signatures = {each.signature}, .body = each.body},
        clock_.NowSeconds());
    EXPECT_EQ(check.verdict, slack::SignatureVerdict::kValid);
    EXPECT_EQ(each.retry_number, "");
  }
  EXPECT_EQ(report_.events, 3u);
  EXPECT_EQ(report_.acknowledged, 3u);
  EXPECT_EQ(report_.latencies.count(), 3u);
}

// Slack's schedule of retries: at once, after 1 minute and after 5 minutes. The de-duplication
// window must cover it.
TEST_F(SenderTest, TriesAgainThreeTimesOnSlacksSchedule) {
  const std::vector<Received> received = RunInOrder(1, Always(500));
  ASSERT_EQ(received.size(), 4u);
  const std::vector<seconds> expected = {seconds(0), seconds(0), seconds(60), seconds(360)};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(received[i].at, expected[i]);
    EXPECT_EQ(received[i].retry_number, i == 0 ? "" : std::to_string(i));
    EXPECT_EQ(received[i].retry_reason, i == 0 ? "" : "http_error");
    EXPECT_EQ(received[i].body, "0");
  }
  EXPECT_EQ(report_.retried, 3u);
  EXPECT_EQ(report_.refused, 4u);
  EXPECT_EQ(report_.given_up, 1u);
}

TEST_F(SenderTest, StopsTryingOnceItIsAcknowledged) {
  size_t calls = 0;
  RunInOrder(1, [&](const Received&) { return Status(++calls < 3 ? 503 : 204); });
  EXPECT_EQ(calls, 3u);
  EXPECT_EQ(report_.acknowledged, 1u);
  EXPECT_EQ(report_.given_up, 0u);
}

// A receiver that needs more than three seconds gets the retry while it may still be working.
TEST_F(SenderTest, TriesAgainAtOnceAfterThreeSecondsOfSilence) {
  size_t calls = 0;
  const std::vector<Received> received = RunInOrder(1, [&](const Received&) {
    return ++calls > 1 ? Status(200) : http::Exchange{.outcome = http::Outcome::kTimedOut};
  });
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[1].at, seconds(3));
  EXPECT_EQ(received[1].retry_reason, "http_timeout");
  EXPECT_EQ(report_.timed_out, 1u);
}

TEST_F(SenderTest, SaysWhyItTriesAgain) {
  size_t calls = 0;
  const std::vector<Received> received = RunInOrder(1, [&](const Received&) -> http::Exchange {
    ++calls;
    if (calls == 1) return {.outcome = http::Outcome::kNotSent};
    if (calls == 2) return {.outcome = http::Outcome::kBroken};
    return Status(200);
  });
  ASSERT_EQ(received.size(), 3u);
  EXPECT_EQ(received[1].retry_reason, "connection_failed");
  EXPECT_EQ(received[2].retry_reason, "unknown_error");
  EXPECT_EQ(report_.broken, 2u);
}

TEST_F(SenderTest, DoesNotTryAgainWhenAskedNotTo) {
  const std::vector<Received> received = RunInOrder(1, [](const Received&) {
    http::Exchange exchange = Status(404);
    exchange.response.headers.Add("X-Slack-No-Retry", "1");
    return exchange;
  });
  EXPECT_EQ(received.size(), 1u);
  EXPECT_EQ(report_.not_again, 1u);
  EXPECT_EQ(report_.given_up, 0u);
}

// With a speed of 60, a demonstration shows the retries of six minutes in six seconds.
TEST_F(SenderTest, ShortensItsWaitsByTheSpeed) {
  const std::vector<Received> received = Run({.concurrency = 1, .speed = 60}, 1, Always(500));
  ASSERT_EQ(received.size(), 4u);
  EXPECT_EQ(received[3].at, seconds(6));
}

// A receiver refuses a signature that it has seen before, so each delivery needs its own.
TEST_F(SenderTest, NeverSendsTheSameSignatureTwice) {
  const std::vector<Received> received =
      Run({.concurrency = 1, .disturbances = {.duplicates = 1}}, 50, Always(500));
  EXPECT_EQ(received.size(), 250u);
  std::set<std::string> signatures;
  for (const Received& each : received) signatures.insert(each.signature);
  EXPECT_EQ(signatures.size(), received.size());
}

TEST_F(SenderTest, SendsTheShareOfDuplicatesThatTheOptionsSay) {
  const std::vector<Received> received =
      Run({.concurrency = 1, .disturbances = {.duplicates = 0.2}}, 2000, Always(200));
  EXPECT_EQ(received.size(), 2000 + report_.duplicates);
  EXPECT_NEAR(static_cast<double>(report_.duplicates), 400, 80);
  for (const Received& each : received) EXPECT_EQ(each.retry_number, "");
}

TEST_F(SenderTest, SendsLateOnesLongAfterTheyWereAcknowledged) {
  const std::vector<Received> received = Run(
      {.concurrency = 1, .disturbances = {.late = 1, .late_after = minutes(60)}}, 2, Always(200));
  ASSERT_EQ(received.size(), 4u);
  EXPECT_EQ(received[2].body, "0");
  EXPECT_EQ(received[2].at, minutes(60));
  EXPECT_EQ(report_.late, 2u);
}

TEST_F(SenderTest, ShufflesWithinItsWindowAndLosesNothing) {
  constexpr size_t kWindow = 10;
  const std::vector<Received> received =
      Run({.concurrency = 1, .disturbances = {.reorder_window = kWindow}}, 105, Always(200));
  ASSERT_EQ(received.size(), 105u);
  std::set<std::string> bodies;
  size_t moved = 0;
  for (size_t i = 0; i < received.size(); ++i) {
    bodies.insert(received[i].body);
    const size_t number = std::stoul(received[i].body);
    EXPECT_EQ(number / kWindow, i / kWindow);
    if (number != i) ++moved;
  }
  EXPECT_EQ(bodies.size(), 105u);
  EXPECT_GT(moved, 50u);
}

// With its seed, a failed run can be repeated.
TEST_F(SenderTest, DuplicatesAndReordersEquallyForTheSameSeed) {
  const auto bodies = [&](uint64_t seed) {
    clock_.SetNow(1'700'000'000);
    std::vector<std::string> all;
    for (const Received& each :
         Run({.concurrency = 1,
         .disturbances = {.seed = seed, .duplicates = 0.3, .reorder_window = 5}},
             100, Always(200))) {
      all.push_back(each.body);
    }
    return all;
  };
  EXPECT_EQ(bodies(1), bodies(1));
  EXPECT_NE(bodies(1), bodies(2));
}

TEST_F(SenderTest, KeepsToItsRate) {
  const std::vector<Received> received =
      Run({.events_per_second = 2, .concurrency = 1}, 21, Always(200));
  ASSERT_EQ(received.size(), 21u);
  EXPECT_EQ(received[10].at, seconds(5));
  EXPECT_EQ(received[20].at, seconds(10));
}

// With many deliveries at once, none is lost or counted twice.
TEST_F(SenderTest, CountsEveryDeliveryWhenManyAreUnderWay) {
  std::atomic<size_t> calls = 0;
  const std::vector<Received> received =
      Run({.concurrency = 8, .disturbances = {.duplicates = 0.5, .duplicate_within = seconds(0)}},
          1000, [&](const Received&) { return Status(++calls % 3 == 0 ? 500 : 200); });
  EXPECT_EQ(report_.events, 1000u);
  EXPECT_EQ(report_.sent, received.size());
  EXPECT_EQ(report_.sent, report_.acknowledged + report_.refused);
  EXPECT_EQ(report_.sent, report_.events + report_.retried + report_.duplicates);
  std::set<std::string> bodies;
  for (const Received& each : received) bodies.insert(each.body);
  EXPECT_EQ(bodies.size(), 1000u);
}

TEST_F(SenderTest, ReturnsWhenItIsStopped) {
  FakeClient client(&clock_, Always(500));
  ManualSleeper sleeper(&clock_);
  Sender sender({.url = "http://127.0.0.1:1/", .concurrency = 1}, &client, &clock_, &sleeper);
  size_t taken = 0;
  sender.Run([&]() -> std::optional<Delivery> {
    if (++taken == 10) sender.Stop();
    return Delivery{.event_id = "Ev", .body = "{}"};
  });
  EXPECT_EQ(taken, 10u);
}

TEST_F(SenderTest, VerifiesTheUrlAsSlackDoesWhenItIsSaved) {
  ManualSleeper sleeper(&clock_);
  const auto verify = [&](FakeClient::Answer answer) {
    FakeClient client(&clock_, std::move(answer));
    return Sender({.url = "http://127.0.0.1:1/"}, &client, &clock_, &sleeper).VerifyUrl();
  };
  const auto echo = [](const Received& received) {
    http::Exchange exchange = Status(200);
    exchange.response.body = received.body;  // The challenge is a member of it.
    return exchange;
  };
  EXPECT_TRUE(verify(echo));
  EXPECT_EQ(verify(Always(200)).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(verify(Always(401)).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(verify([](const Received&) -> http::Exchange {
              return {.outcome = http::Outcome::kNotSent, .detail = "connection refused"};
            })
                .error()
                .code,
            ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace tidemark::demo
