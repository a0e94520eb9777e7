// The worker of the inbox over the model of the tables, with a receiver that answers as the test
// says: what it tells while the receiver is away, and how it ends.
#include "servers/api/inbox_worker.h"

#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sleeper.h"
#include "item/json.h"
#include "servers/api/inbox.h"
#include "tables/limits.h"
#include "tests/model/model_tables.h"

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
      if (on_request) on_request();
      exchanges.push_back(answer);
    }
    return exchanges;
  }
  void AnswerWith(int status) {
    answer = {.outcome = http::Outcome::kAnswered, .response = {.status = status}};
  }

  http::Exchange answer = {.outcome = http::Outcome::kAnswered};
  std::function<void()> on_request;
  std::vector<std::string> keys;
};

class InboxWorkerTest : public ::testing::Test {
 protected:
  InboxWorkerTest() {
    EXPECT_TRUE(claims_.CreateTable());
    EXPECT_TRUE(inbox_.CreateTable());
    Open({.url = "http://bot.example/work"});
  }

  // A worker of another process: the one before gives its lease back.
  void Open(InboxWorkerOptions options) {
    options.inbox_table = inbox_.table();
    worker_.reset();
    metrics_ = std::make_unique<Metrics>();
    worker_ = std::make_unique<InboxWorker>(options, InboxWorkerParts{.dedup = &dedup_,
                                                                      .tables = &tables_,
                                                                      .client = &receiver_,
                                                                      .clock = &clock_,
                                                                      .random = &random_,
                                                                      .logger = &logger_,
                                                                      .metrics = metrics_.get()});
  }
  void Put(const std::string& event_id, std::string_view event) {
    const std::string body =
        fmt::format(R"({{"type":"event_callback","team_id":"T01","event_id":"{}","event":{}}})",
                    event_id, event);
    const auto callback = std::get<slack::EventCallback>(slack::ParseEnvelope(body).value());
    ASSERT_TRUE(tables_.Put(inbox_.Entry(event_id, callback, body)));
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
  // Rows that say which contents were seen.
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
  dedup::Claims claims_{{}, &tables_, &clock_, &random_, &sleeper_};
  dedup::Deduplicator dedup_{{}, &claims_, &clock_, &random_, &logger_, nullptr};
  Inbox inbox_{{}, &tables_, &clock_};
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<InboxWorker> worker_;
};

// A program that is to end must not first hand out all that waits.
TEST_F(InboxWorkerTest, EndsAfterTheDeliveryThatItIsAt) {
  for (const int number : {1, 2, 3}) PutMention(number);
  receiver_.on_request = [&] { worker_->Stop(); };
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, ElementsAre(KeyOfMention(1)));
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, SizeIs(1));
  // The next process goes on behind it.
  receiver_.on_request = nullptr;
  Open({.url = "http://bot.example/work"});
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(receiver_.keys, ElementsAre(KeyOfMention(1), KeyOfMention(2), KeyOfMention(3)));
}

// Each piece may take half a minute, and an event have ten.
TEST_F(InboxWorkerTest, EndsBetweenThePiecesOfAnEvent) {
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

// Nobody looks at a gauge that says 0.
TEST_F(InboxWorkerTest, ShowsHowFarItIsBehindWhileTheReceiverIsAway) {
  PutMention(1);
  receiver_.AnswerWith(503);
  for (const int seconds : {0, 100, 200}) {
    EXPECT_FALSE(worker_->Step());
    EXPECT_THAT(metrics_->Expose(),
                HasSubstr(fmt::format("tidemark_work_lag_seconds {}", seconds)));
    clock_.Advance(std::chrono::seconds(100));
  }
  receiver_.AnswerWith(200);
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(metrics_->Expose(), HasSubstr("tidemark_work_lag_seconds 0\n"));
}

// The receiver that was away for too long is away still when the loss is found.
TEST_F(InboxWorkerTest, TellsThatWorkWasLostUnread) {
  PutMention(1);
  EXPECT_TRUE(worker_->Step());
  receiver_.AnswerWith(503);
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

// Webhooks are protected by nothing but what is secret in their URLs.
TEST_F(InboxWorkerTest, KeepsTheSecretsOfTheReceiversUrlOutOfLogAndTable) {
  Open({.url = "https://me:canary@bot.example:8443/hooks/canary?token=canary#canary"});
  PutMention(1);
  receiver_.answer = {.outcome = http::Outcome::kTimedOut, .detail = "too slow"};
  EXPECT_FALSE(worker_->Step());
  receiver_.AnswerWith(503);
  EXPECT_FALSE(worker_->Step());
  receiver_.AnswerWith(422);
  EXPECT_FALSE(worker_->Step());
  EXPECT_THAT(log_.str(), HasSubstr("https://bot.example:8443 does not answer: too slow"));
  EXPECT_THAT(log_.str(), HasSubstr("https://bot.example:8443 answered 422"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("canary")));
  std::string rows;
  for (const item::Item& row : ClaimsRows()) rows += item::ToJson(row);
  EXPECT_THAT(rows, HasSubstr("bot.example"));
  EXPECT_THAT(rows, Not(HasSubstr("canary")));
}

// Each note takes the place of another message's, of which there are few.
TEST_F(InboxWorkerTest, NotesAMessageOnceItsWorkIsDone) {
  Open({.url = "http://bot.example/work",
        .contents = dedup::ContentOptions{.table = std::string(dedup::kDefaultTable)}});
  PutMention(1);
  receiver_.AnswerWith(503);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(worker_->Step());
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(Noted(), 0u);
  receiver_.AnswerWith(200);
  EXPECT_TRUE(worker_->Step());
  EXPECT_GT(Noted(), 0u);
  PutMention(2);
  EXPECT_TRUE(worker_->Step());
  EXPECT_THAT(log_.str(), HasSubstr("content duplicate event=Ev2 of=Ev1"));
}

}  // namespace
}  // namespace tidemark::api
