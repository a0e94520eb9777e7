// Deliveries that are not acknowledged: Slack may send the same bytes again within the same second,
// with the same signature. They must not be refused as a replay.
#include <future>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/gate/tokens.h"
#include "base/sleeper.h"
#include "http/router.h"
#include "servers/api/front_door/slack_events.h"
#include "slack/signature.h"
#include "tests/model/model_tables.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;

constexpr char kChallenge[] = R"({"type":"url_verification","challenge":"c"})";

// A Slack in which every id exists.
class FullDirectory final : public slack::Directory {
 public:
  std::vector<slack::LookupReply> LookUp(const Secret& /*token*/,
                                         std::span<const slack::Lookup> lookups,
                                         const Deadline& /*deadline*/) override {
    return {lookups.size(), {.outcome = slack::LookupOutcome::kActive, .attempts = 1}};
  }
};

class UnacknowledgedTest : public ::testing::Test {
 protected:
  UnacknowledgedTest() {
    EXPECT_TRUE(existence_.CreateTable());
    EXPECT_TRUE(quarantine_.CreateTable());
    EXPECT_TRUE(claims_.CreateTable());
    EXPECT_TRUE(inbox_.CreateTable());
    router_.Add(
        {.method = http::Method::kPost,
         .pattern = "/slack/events",
         .run = http::Run::kOnLoop,
         .handler = [this](const http::RoutedRequest& routed) { return events_.Receive(routed); }});
  }

  // Signed at the time of a clock that stands still.
  http::Request Signed(const std::string& body) {
    const std::string timestamp = std::to_string(clock_.NowSeconds());
    http::Request request{.method = http::Method::kPost, .path = "/slack/events", .body = body};
    request.headers.Add(std::string(slack::kTimestampHeader), timestamp);
    request.headers.Add(std::string(slack::kSignatureHeader),
                        slack::Sign(Secret("secret"), timestamp, body));
    return request;
  }
  int Post(const std::string& body) {
    std::promise<int> status;
    router_.Handle(Signed(body),
                   [&](const http::Response& response) { status.set_value(response.status); });
    return status.get_future().get();
  }
  // Posts the body, and again at the moment of the first reply. No worker is free for either.
  std::vector<int> PostTwiceWithoutWorkers(const std::string& body) {
    workers_.Stop();
    std::vector<int> statuses;
    router_.Handle(Signed(body), [&](const http::Response& first) {
      statuses.push_back(first.status);
      router_.Handle(Signed(body),
                     [&](const http::Response& second) { statuses.push_back(second.status); });
    });
    return statuses;
  }
  static std::string Message(const std::string& event_id) {
    return R"({"type":"event_callback","team_id":"T01234567","event_id":")" + event_id +
           R"(","event":{"type":"message","user":"U01234567","channel":"C01234567",)"
           R"("channel_type":"channel","ts":"1700000000.000100","text":"hello"}})";
  }

  ManualClock clock_;
  SeededRandom random_{1};
  ManualSleeper sleeper_{&clock_};
  Metrics metrics_;
  std::ostringstream log_;
  Logger logger_{{}, clock_, &log_};
  const Runtime runtime_{.clock = clock_,
                         .random = random_,
                         .sleeper = sleeper_,
                         .logger = logger_,
                         .metrics = metrics_};
  model::ModelTables model_{clock_};
  FaultyTables tables_{&model_};
  FullDirectory directory_;
  gate::FixedTokens tokens_{Secret("token")};
  gate::Existence existence_{{}, &tables_, &directory_, &tokens_, runtime_};
  gate::Gate gate_{{},
                   slack::SignatureVerifier({{.id = "only", .value = Secret("secret")}}),
                   &existence_,
                   runtime_};
  gate::Quarantine quarantine_{{}, &tables_, runtime_};
  dedup::Claims claims_{{}, &tables_, runtime_};
  dedup::Deduplicator dedup_{{}, &claims_, runtime_};
  api::Inbox inbox_{{}, &tables_, &clock_};
  api::SlackEvents events_{{.inbox = &inbox_,
                            .gate = &gate_,
                            .quarantine = &quarantine_,
                            .dedup = &dedup_,
                            .tables = &tables_,
                            .workers = &workers_},
                           gate::UnknownPolicy::kRefuse,
                           runtime_};
  WorkerPool workers_{{.threads = 1, .max_waiting = 10}};
  http::Router router_{&workers_, logger_};
};

// The usual case, for comparison with the other tests.
TEST_F(UnacknowledgedTest, AnAcknowledgedRequestIsRefusedAsAReplay) {
  EXPECT_EQ(Post(kChallenge), 200);
  EXPECT_EQ(Post(kChallenge), 401);
  EXPECT_EQ(Post(Message("Ev1")), 200);
  EXPECT_EQ(Post(Message("Ev1")), 401);
  EXPECT_EQ(Post(Message("Ev2")), 200) << "the fast path";
  EXPECT_EQ(Post(Message("Ev2")), 401) << "the fast path";
}

TEST_F(UnacknowledgedTest, IsForgottenWhenNoWorkerIsFree) {
  // The gate does not know its ids, so only a worker can handle it.
  EXPECT_THAT(PostTwiceWithoutWorkers(Message("Ev1")), ElementsAre(503, 503));
}

TEST_F(UnacknowledgedTest, IsForgottenWhenNoWorkerIsFreeAfterTheFastPath) {
  EXPECT_EQ(Post(Message("Ev1")), 200);
  clock_.Advance(std::chrono::seconds(1));
  // The gate knows its ids, but the event was handled before: only the claimed path can tell.
  EXPECT_THAT(PostTwiceWithoutWorkers(Message("Ev1")), ElementsAre(503, 503));
}

TEST_F(UnacknowledgedTest, IsForgottenWhenItsHandlingThrows) {
  tables_.decide = [](Operation) -> std::optional<Fault> {
    throw std::runtime_error("no memory, for the test");
  };
  EXPECT_EQ(Post(Message("Ev1")), 500);
  tables_.decide = nullptr;
  EXPECT_EQ(Post(Message("Ev1")), 200);
}

TEST_F(UnacknowledgedTest, IsForgottenWhenTheClaimedPathThrows) {
  tables_.decide = [](Operation operation) -> std::optional<Fault> {
    if (operation == Operation::kGet) return std::nullopt;
    throw std::runtime_error("no memory, for the test");
  };
  EXPECT_EQ(Post(Message("Ev1")), 500);
  tables_.decide = nullptr;
  EXPECT_EQ(Post(Message("Ev1")), 200);
}

TEST_F(UnacknowledgedTest, IsForgottenWhenTheStoreFails) {
  tables_.decide = [](Operation operation) {
    return Writes(operation) ? std::optional(Denied()) : std::nullopt;
  };
  EXPECT_EQ(Post(Message("Ev1")), 500);
  tables_.decide = nullptr;
  EXPECT_EQ(Post(Message("Ev1")), 200);
}

}  // namespace
}  // namespace tidemark::testing
