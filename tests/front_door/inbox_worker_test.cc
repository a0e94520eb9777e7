// The inbox worker over model tables, with a scripted receiver: what it reports while the receiver
// is unavailable, and how it stops.
#include "servers/api/front_door/inbox_worker.h"

#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sleeper.h"
#include "item/json.h"
#include "servers/api/front_door/inbox.h"
#include "slack/signature.h"
#include "tables/limits.h"
#include "tests/model/model_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ScriptedReceiver final : public http::Client {
 public:
  std::vector<http::Exchange> SendAll(std::span<const http::OutgoingRequest> requests,
                                      const Deadline& /*deadline*/) override {
    std::vector<http::Exchange> exchanges;
    for (const http::OutgoingRequest& request : requests) {
      keys.emplace_back(request.headers.Find("X-Tidemark-Key").value_or("none"));
      last = request;
      if (on_request) on_request();
      exchanges.push_back(keys.back() == refused ? refusal : answer);
    }
    return exchanges;
  }
  void AnswerWith(int status) {
    answer = {.outcome = http::Outcome::kAnswered, .response = {.status = status}};
  }
  void GoAway() { answer = {.outcome = http::Outcome::kNotSent, .detail = "no connection"}; }

  http::Exchange answer = {.outcome = http::Outcome::kAnswered};
  // The answer for one key.
  std::string refused;
  http::Exchange refusal;
  std::function<void()> on_request;
  std::vector<std::string> keys;
  http::OutgoingRequest last;
};

http::Exchange Answered(int status) {
  return {.outcome = http::Outcome::kAnswered, .response = {.status = status}};
}

class InboxWorkerTest : public ::testing::Test {
 protected:
  InboxWorkerTest() {
    EXPECT_TRUE(claims_.CreateTable());
    EXPECT_TRUE(inbox_.CreateTable());
    Open({.url = "http://bot.example/work"});
  }

  // Starts the worker of another process; the previous one gives its lease back.
  void Open(InboxWorkerOptions options) {
    options.inbox_table = inbox_.table();
    worker_.reset();
    metrics_ = std::make_unique<Metrics>();
    worker_ = std::make_unique<InboxWorker>(
        options, InboxWorkerParts{.dedup = &dedup_, .tables = &tables_, .client = &receiver_},
        Runtime{.clock = clock_,
                .random = random_,
                .sleeper = sleeper_,
                .logger = logger_,
                .metrics = *metrics_});
  }
  void Put(const std::string& event_id, std::string_view event) {
    const std::string body =
        fmt::format(R"({{"type":"event_callback","team_id":"T01","event_id":"{}","event":{}}})",
                    event_id, event);
    const auto callback = std::get<slack::EventCallback>(slack::ParseEnvelope(body).value());
    ASSERT_TRUE(tables_.Put(inbox_.MakeEntry(event_id, callback, body)));
  }
  void PutMention(int number) {
    Put(fmt::format("Ev{}", number),
        fmt::format(
            R"({{"type":"app_mention","user":"U01","channel":"C01","ts":"170000000{}.0001",)"
            R"("text":"please look at the numbers of the last quarter"}})",
            number));
  }
  std::string KeyOfMention(int number) {
    return fmt::format("app_mention:T01:C01:170000000{}.0001", number);
  }
  std::vector<item::Item> ClaimsRows() {
    return tables_.Scan({.table = std::string(dedup::kDefaultTable)}).value().items;
  }
  // How many rows note the content of a message.
  size_t Noted() {
    size_t noted = 0;
    for (const item::Item& row : ClaimsRows()) {
      noted += dedup::IsContentKey(*row.Find("event_key")->As<std::string>()) ? 1 : 0;
    }
    return noted;
  }

  ManualClock clock_;
  SeededRandom random_{1};
  ManualSleeper sleeper_{&clock_};
  std::ostringstream log_;
  Logger logger_{{}, clock_, &log_};
  model::ModelTables tables_{clock_};
  ScriptedReceiver receiver_;
  Metrics dedup_metrics_;
  const Runtime runtime_{.clock = clock_,
                         .random = random_,
                         .sleeper = sleeper_,
                         .logger = logger_,
                         .metrics = dedup_metrics_};
  dedup::Claims claims_{{}, &tables_, runtime_};
  dedup::Deduplicator dedup_{{}, &claims_, runtime_};
  Inbox inbox_{{}, &tables_, &clock_};
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<InboxWorker> worker_;
};

// A program that stops must not first post all the work that waits.
TEST_F(InboxWorkerTest, StopsAfterTheCurrentDelivery) {
  for (const int number : {1, 2, 3}) PutMention(number);
  receiver_.on_request = [&] { worker_->Stop(); };
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, ElementsAre(KeyOfMention(1)));
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, SizeIs(1));
  // The next process continues after that delivery.
  receiver_.on_request = nullptr;
  Open({.url = "http://bot.example/work"});
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, ElementsAre(KeyOfMention(1), KeyOfMention(2), KeyOfMention(3)));
}

// A piece may take half a minute, and an event may have ten pieces.
TEST_F(InboxWorkerTest, StopsBetweenThePiecesOfOneEvent) {
  Put("Ev1", R"({"type":"message","subtype":"file_share","user":"U01","channel":"C01",)"
             R"("ts":"1700000001.0001","files":[{"id":"F1"},{"id":"F2"}]})");
  receiver_.on_request = [&] { worker_->Stop(); };
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, ElementsAre("T01:file:C01:F1"));
  receiver_.on_request = nullptr;
  Open({.url = "http://bot.example/work"});
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, ElementsAre("T01:file:C01:F1", "T01:file:C01:F2"));
}

// An alarm needs the true lag.
TEST_F(InboxWorkerTest, ShowsItsLagWhileTheReceiverIsUnreachable) {
  PutMention(1);
  receiver_.AnswerWith(503);
  for (const int seconds : {0, 100, 200}) {
    EXPECT_TRUE(worker_->Step());
    EXPECT_THAT(metrics_->Expose(),
                HasSubstr(fmt::format("tidemark_work_lag_seconds {}", seconds)));
    clock_.Advance(std::chrono::seconds(100));
  }
  receiver_.AnswerWith(200);
  clock_.Advance(std::chrono::hours(1));
  EXPECT_TRUE(worker_->Step());
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(metrics_->Expose(), HasSubstr("tidemark_work_lag_seconds 0\n"));
}

// The loss is found while the receiver is still away.
TEST_F(InboxWorkerTest, ReportsWorkThatLeftTheStreamUnread) {
  PutMention(1);
  EXPECT_TRUE(worker_->Step());
  receiver_.GoAway();
  PutMention(2);
  EXPECT_FALSE(worker_->Step());
  EXPECT_THAT(log_.str(), Not(HasSubstr("left the inbox")));
  clock_.Advance(tables::kStreamRetention + std::chrono::hours(1));
  tables_.Maintain();
  PutMention(3);
  EXPECT_FALSE(worker_->Step());
  EXPECT_THAT(log_.str(), HasSubstr("events left the inbox before their work was handed out"));
  EXPECT_THAT(metrics_->Expose(), HasSubstr("tidemark_work_gaps_total 1\n"));
  EXPECT_FALSE(worker_->Step());
  EXPECT_THAT(metrics_->Expose(), HasSubstr("tidemark_work_gaps_total 1\n"));
}

// The secret in its URL is often the only protection of a webhook.
TEST_F(InboxWorkerTest, KeepsTheSecretsOfTheUrlOutOfLogAndTable) {
  Open({.url = "https://me:canary@bot.example:8443/hooks/canary?token=canary#canary"});
  PutMention(1);
  receiver_.answer = {.outcome = http::Outcome::kTimedOut, .detail = "too slow"};
  for (const int status : {503, 422, 422}) {
    EXPECT_TRUE(worker_->Step());
    receiver_.AnswerWith(status);
    clock_.Advance(std::chrono::hours(1));
  }
  EXPECT_THAT(log_.str(), HasSubstr("https://bot.example:8443 does not answer: too slow"));
  EXPECT_THAT(log_.str(), HasSubstr("https://bot.example:8443 answered 422"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("canary")));
  std::string rows;
  for (const item::Item& row : ClaimsRows()) rows += item::ToJson(row);
  EXPECT_THAT(rows, HasSubstr("bot.example"));
  EXPECT_THAT(rows, Not(HasSubstr("canary")));
}

// The list of notes is bounded: a repeated note would replace the note of another message.
TEST_F(InboxWorkerTest, NotesAMessageAfterItsWorkIsDone) {
  Open({.url = "http://bot.example/work",
        .contents = dedup::ContentOptions{.table = std::string(dedup::kDefaultTable)}});
  PutMention(1);
  receiver_.AnswerWith(503);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(worker_->Step());
    clock_.Advance(std::chrono::hours(1));
  }
  EXPECT_EQ(Noted(), 0u);
  receiver_.AnswerWith(200);
  EXPECT_TRUE(worker_->Step());
  EXPECT_GT(Noted(), 0u);
  PutMention(2);
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(log_.str(), HasSubstr("content duplicate event=Ev2 of=Ev1"));
}

// Review: F6
TEST_F(InboxWorkerTest, AnEventThatItsReceiverCannotHandleDelaysNoOther) {
  for (const int number : {1, 2, 3}) PutMention(number);
  receiver_.refused = KeyOfMention(1);
  receiver_.refusal = Answered(500);
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, ElementsAre(KeyOfMention(1), KeyOfMention(2), KeyOfMention(3)));
}

// The waits grow, so that an outage of an hour makes nothing fail; then it ends, visibly.
// Review: F6
TEST_F(InboxWorkerTest, RepeatsFailedWorkAfterGrowingWaitsAndThenGivesItUp) {
  for (const http::Exchange& refusal :
       {Answered(500), http::Exchange{.outcome = http::Outcome::kTimedOut, .detail = "slow"}}) {
    SCOPED_TRACE(refusal.response.status);
    receiver_.answer = refusal;
    receiver_.keys.clear();
    log_.str("");
    Open({.url = "http://bot.example/work"});
    PutMention(refusal.response.status == 500 ? 1 : 2);
    std::vector<int> tried_at;
    for (int second = 0; second < 3 * 3600; ++second) {
      const size_t before = receiver_.keys.size();
      ASSERT_TRUE(worker_->Step());
      if (receiver_.keys.size() > before) tried_at.push_back(second);
      clock_.Advance(std::chrono::seconds(1));
    }
    EXPECT_THAT(tried_at, ElementsAre(0, 15, 15 + 90, 105 + 540, 645 + 3240));
    EXPECT_THAT(log_.str(), HasSubstr("work of an event is given up"));
    EXPECT_THAT(metrics_->Expose(), HasSubstr("tidemark_work_given_up_total 1\n"));
    EXPECT_THAT(metrics_->Expose(), HasSubstr("tidemark_work_lag_seconds 0\n"));
  }
}

// Another process must know what its predecessor deferred.
// Review: F6
TEST_F(InboxWorkerTest, DeferredWorkIsDoneAfterARestart) {
  receiver_.AnswerWith(500);
  PutMention(1);
  EXPECT_TRUE(worker_->Step());
  Open({.url = "http://bot.example/work"});
  receiver_.AnswerWith(200);
  clock_.Advance(std::chrono::seconds(15));
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, ElementsAre(KeyOfMention(1), KeyOfMention(1)));
}

// Review: F6
TEST_F(InboxWorkerTest, WorkThatWaitsLongerThanTheInboxKeepsItIsReported) {
  receiver_.AnswerWith(503);
  PutMention(1);
  for (int hour = 0; hour < 24; ++hour) {
    EXPECT_TRUE(worker_->Step());
    clock_.Advance(std::chrono::hours(1));
  }
  EXPECT_THAT(metrics_->Expose(), HasSubstr("tidemark_work_given_up_total 0\n"));
  tables_.Maintain();
  clock_.Advance(std::chrono::hours(1));
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(metrics_->Expose(), HasSubstr("tidemark_work_given_up_total 1\n"));
}

// Review: F6
TEST_F(InboxWorkerTest, SignsWhatItDeliversAsSlackDoes) {
  PutMention(1);
  EXPECT_TRUE(worker_->Step());
  EXPECT_EQ(receiver_.last.headers.Find("X-Tidemark-Signature"), std::nullopt);
  Open({.url = "http://bot.example/work", .secret = Secret("the receiver's")});
  PutMention(2);
  EXPECT_TRUE(worker_->Step());
  const std::string timestamp = std::to_string(clock_.NowSeconds());
  EXPECT_EQ(receiver_.last.headers.Find("X-Tidemark-Request-Timestamp"), timestamp);
  EXPECT_EQ(receiver_.last.headers.Find("X-Tidemark-Signature"),
            slack::Sign(Secret("the receiver's"), timestamp, receiver_.last.body));
}

}  // namespace
}  // namespace tidemark::api
