// Many requests that wait, of different jobs, and others beside them that must not wait for them.
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "item/attributes.h"
#include "tests/front_door/front_door.h"
#include "tests/support/held_objects.h"
#include "tests/support/raw_connection.h"

namespace tidemark::testing {
namespace {

using http::Method;

class CrowdTest : public ::testing::Test {
 protected:
  static constexpr int kReaders = 1'000;
  static constexpr int kEvents = 1'000;

  static void OneWorker(api::ServiceOptions* options) {
    FrontDoor::WithDocuments(options);
    options->workers = 1;
    options->documents->deadline = std::chrono::minutes(5);
    options->existence.deadline = std::chrono::minutes(5);
    options->web_api.call_timeout = std::chrono::minutes(5);
    // All clients of the test have one address.
    options->server.limits.max_connections_per_address = 4 * (kReaders + kEvents);
  }

  // Sends a request, and leaves the connection open for the answer.
  void Begin(Method method, const std::string& path, const http::Headers& headers,
             const std::string& body = "") {
    RawConnection& connection = waiting_.emplace_back(port_);
    std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n",
                                   ToString(method), path, body.size());
    for (const http::Header& header : headers) {
      text += fmt::format("{}: {}\r\n", header.name, header.value);
    }
    ASSERT_TRUE(connection.Send(text + "\r\n" + body));
  }
  std::string Change(const std::string& id) const {
    return fmt::format(R"({{"object_type":"change","changeId":"{}","changeTitle":"A change",)"
                       R"("createdAt":{},"customers":["hts"]}})",
                       id, SystemClock().NowSeconds() - 60);
  }
  // The cache has none of them. Half of the readers want the same document, and the others wait to
  // be told that theirs does not exist.
  void BeginReads() {
    ASSERT_TRUE(door_.objects().Put({.key = "archive/CHG-0.json", .bytes = Change("CHG-0")}));
    door_.faults().decide = [calls = calls_](Operation operation) -> std::optional<Fault> {
      if (operation == Operation::kGet) ++calls->reads;
      if (Writes(operation)) ++calls->writes;
      return std::nullopt;
    };
    for (int i = 0; i < kReaders; ++i) {
      Begin(Method::kGet, fmt::format("/api/v1/documents/CHG-{}", i < kReaders / 2 ? 0 : i),
            {{"Authorization", "Bearer " + door_.token()}});
    }
    Await([&] { return calls_->reads >= kReaders; }, "reads");
  }
  void BeginEvents(const FrontDoor::Ids& ids) {
    for (int i = 0; i < kEvents; ++i) {
      const std::string body = FrontDoor::Message(fmt::format("EvUnknown{}", i), ids);
      Begin(Method::kPost, "/slack/events", door_.SignedHeaders(body, {}), body);
    }
    // Counting the rows takes long, so they are counted when there can be enough.
    Await([&] { return calls_->writes >= kEvents; }, "events");
    Await([&] { return CountClaimed() >= kEvents; }, "events");
    if (!HasFailure()) door_.slack().AwaitHanging(1);
  }
  // Only a test that fails waits to the end.
  static void Await(const std::function<bool()>& condition, std::string_view what) {
    const auto start = std::chrono::steady_clock::now();
    while (!condition()) {
      const auto waited = std::chrono::steady_clock::now() - start;
      ASSERT_LT(waited, 6 * FrontDoor::kLongEnough) << "not all " << what << " are waiting";
      std::this_thread::yield();
    }
  }
  // The front door notes an event before it asks whether it is real.
  int CountClaimed() {
    int count = 0;
    std::optional<item::Item> after;
    do {
      const auto page = door_.tables().Scan({.table = "tidemark-events", .start_after = after});
      for (const item::Item& row : page->items) {
        count += item::TextIn(row, "event_key").find("EvUnknown") == std::string::npos ? 0 : 1;
      }
      after = page->last;
    } while (after);
    return count;
  }
  int CountAnswered() {
    int count = 0;
    for (const RawConnection& connection : waiting_) count += connection.HasInput() ? 1 : 0;
    return count;
  }

  // Of the tables, which may still be called after the test.
  struct Calls {
    std::atomic<int> reads = 0;
    std::atomic<int> writes = 0;
  };
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  FrontDoor door_{OneWorker};
  const uint16_t port_ =
      static_cast<uint16_t>(std::stoi(door_.url().substr(door_.url().rfind(':') + 1)));
  std::deque<RawConnection> waiting_;
};

// 1,000 reads wait for objects, 1,000 events of an unknown channel wait for Slack, and there is one
// worker. None of them moves while claims, known events, and reads from the cache are answered.
// Review: D1, F7
TEST_F(CrowdTest, WaitingReadsAndEventsDelayNoClaimNoKnownEventAndNoCachedRead) {
  const FrontDoor::Ids known = door_.real_ids();
  FrontDoor::Ids unknown = known;
  unknown.channel = "C0UNKNOWN";
  ASSERT_EQ(door_.Send(FrontDoor::Message("EvFirst", known)).status, 200);
  ASSERT_EQ(door_.Call(Method::kPut, "/api/v1/documents/CHG-CACHED", Change("CHG-CACHED")).status,
            200);
  HeldObjects held(&door_.object_faults());
  door_.slack().Fail("conversations.info", {.kind = demo::FailureKind::kHang}, 1);
  ASSERT_NO_FATAL_FAILURE(BeginReads());
  ASSERT_NO_FATAL_FAILURE(BeginEvents(unknown));
  auto others = std::async(std::launch::async, [&] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(
          door_.Call(Method::kPost, "/api/v1/claims", fmt::format(R"({{"key":"k{}"}})", i)).status,
          200);
      EXPECT_EQ(door_.Send(FrontDoor::Message(fmt::format("EvKnown{}", i), known)).status, 200);
      EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/documents/CHG-CACHED").status, 200);
    }
  });
  EXPECT_EQ(others.wait_for(FrontDoor::kLongEnough), std::future_status::ready)
      << "the waiting requests hold the threads that others need";
  EXPECT_EQ(CountAnswered(), 0) << "a request did not wait";
  held.Release();
  door_.slack().Release();
  for (size_t i = 0; i < waiting_.size(); ++i) {
    ASSERT_EQ(waiting_[i].ReadReply().status, i < kReaders / 2 ? 200 : i < kReaders ? 404 : 403);
  }
}

}  // namespace
}  // namespace tidemark::testing
