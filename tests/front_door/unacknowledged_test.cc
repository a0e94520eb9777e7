// Deliveries that end without an answer of ours: Slack sends the same bytes again, within the same
// second under the same signature, and they must not pass for a replay.
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/gate/tokens.h"
#include "base/sleeper.h"
#include "http/router.h"
#include "servers/api/slack_events.h"
#include "slack/signature.h"
#include "tests/model/model_tables.h"
#include "tests/support/faulty_tables.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;

constexpr char kChallenge[] = R"({"type":"url_verification","challenge":"c"})";

// Where all that is asked for is there.
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
         .begin = [this](std::shared_ptr<const http::RoutedRequest> routed, http::Finish finish) {
           events_.Receive(routed, std::move(finish));
         }});
  }

  // Signed now, by a clock that stands still.
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
  // Posts it, and once more at the very moment of the first reply. Nobody has time for either.
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
           R"("ts":"1700000000.000100","text":"hello"}})";
  }

  ManualClock clock_;
  SeededRandom random_{1};
  ManualSleeper sleeper_{&clock_};
  Metrics metrics_;
  std::ostringstream log_;
  Logger logger_{{}, clock_, &log_};
  model::ModelTables model_{clock_};
  FaultyTables tables_{&model_};
  FullDirectory directory_;
  gate::FixedTokens tokens_{Secret("token"), {}};
  gate::Existence existence_{{}, &tables_, &directory_, &tokens_, &clock_, nullptr, nullptr};
  gate::Gate gate_{
      {},          slack::SignatureVerifier({{.id = "only", .value = Secret("secret")}}),
      &existence_, &clock_,
      nullptr,     nullptr};
  gate::Quarantine quarantine_{{}, &tables_, &clock_};
  dedup::Claims claims_{{}, &tables_, &clock_, &random_, &sleeper_};
  dedup::Deduplicator dedup_{{}, &claims_, &clock_, &random_, nullptr, nullptr};
  api::Inbox inbox_{{}, &tables_, &clock_};
  api::SlackEvents events_{{.inbox = &inbox_,
                            .gate = &gate_,
                            .quarantine = &quarantine_,
                            .dedup = &dedup_,
                            .tables = &tables_,
                            .random = &random_,
                            .logger = &logger_,
                            .metrics = &metrics_},
                           gate::UnknownPolicy::kRefuse};
  WorkerPool workers_{{.threads = 1, .max_waiting = 10}};
  http::Router router_{&workers_, &logger_};
};

// What the others are compared with.
TEST_F(UnacknowledgedTest, WhatWasAcknowledgedIsARefusedReplay) {
  EXPECT_EQ(Post(kChallenge), 200);
  EXPECT_EQ(Post(kChallenge), 401);
  EXPECT_EQ(Post(Message("Ev1")), 200);
  EXPECT_EQ(Post(Message("Ev1")), 401);
  EXPECT_EQ(Post(Message("Ev2")), 200) << "the short way";
  EXPECT_EQ(Post(Message("Ev2")), 401) << "the short way";
}

TEST_F(UnacknowledgedTest, IsForgottenWhenNoWorkerIsFree) {
  EXPECT_THAT(PostTwiceWithoutWorkers(kChallenge), ElementsAre(503, 503));
}

TEST_F(UnacknowledgedTest, IsForgottenWhenNoWorkerIsFreeAfterTheShortWay) {
  EXPECT_EQ(Post(Message("Ev1")), 200);
  clock_.Advance(std::chrono::seconds(1));
  // All it names is known, but the event was seen before, which only a worker can look into.
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

TEST_F(UnacknowledgedTest, IsForgottenWhenTheRestOfItThrows) {
  tables_.decide = [](Operation operation) -> std::optional<Fault> {
    if (operation == Operation::kGet) return std::nullopt;
    throw std::runtime_error("no memory, for the test");
  };
  EXPECT_EQ(Post(Message("Ev1")), 500);
  tables_.decide = nullptr;
  EXPECT_EQ(Post(Message("Ev1")), 200);
}

TEST_F(UnacknowledgedTest, IsForgottenWhenTheStoreIsAway) {
  tables_.decide = [](Operation operation) {
    return Writes(operation) ? std::optional(Denied()) : std::nullopt;
  };
  EXPECT_EQ(Post(Message("Ev1")), 500);
  tables_.decide = nullptr;
  EXPECT_EQ(Post(Message("Ev1")), 200);
}

}  // namespace
}  // namespace tidemark::testing
