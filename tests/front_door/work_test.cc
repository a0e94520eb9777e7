// Work that takes longer than Slack waits: it is done after the acknowledgement, once, and waits
// while the receiver is unavailable.
#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.h"
#include "slack/token_file.h"
#include "tests/front_door/front_door.h"
#include "tests/support/test_runtime.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A server on loopback that receives the work.
class Receiver final : public http::Handler {
 public:
  Receiver()
      : server_(http::Server::Start({.listen = "127.0.0.1:0", .loops = 1}, this, test_.runtime())
                    .value()) {}

  std::string url() const { return "http://" + server_->address() + "/work"; }
  void AnswerWith(int status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
  }
  // Requests are not answered until Release.
  void Hold() {
    const std::lock_guard lock(mutex_);
    holds_ = true;
  }
  void Release() {
    std::vector<http::Reply> held;
    {
      const std::lock_guard lock(mutex_);
      holds_ = false;
      held.swap(held_);
    }
    for (const http::Reply& reply : held) reply({.status = 200});
  }
  // Waits until `count` pieces of work have arrived.
  void Await(size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return keys_.size() >= count; });
  }
  // The keys of the received work, in order.
  std::vector<std::string> keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }
  std::string last_body() const {
    const std::lock_guard lock(mutex_);
    return last_body_;
  }

 private:
  void Handle(http::Request request, http::Reply reply) override {
    int status = 0;
    {
      const std::lock_guard lock(mutex_);
      keys_.emplace_back(request.headers.Find("X-Tidemark-Key").value_or("none"));
      last_body_ = request.body;
      status = status_;
      came_.notify_all();
      if (holds_) return held_.push_back(std::move(reply));
    }
    reply({.status = status});
  }

  TestRuntime test_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  bool holds_ = false;
  std::vector<http::Reply> held_;
  int status_ = 200;
  std::vector<std::string> keys_;
  std::string last_body_;
  std::unique_ptr<http::Server> server_;
};

std::string MentionAt(const FrontDoor::Ids& ids, const std::string& event_id,
                      const std::string& ts) {
  return R"({"type":"event_callback","team_id":")" + ids.team + R"(","event_id":")" + event_id +
         R"(","event":{"type":"app_mention","user":")" + ids.user + R"(","channel":")" +
         ids.channel + R"(","ts":")" + ts + R"(","text":"hi"}})";
}

class WorkTest : public ::testing::Test {
 protected:
  std::string Mention(const std::string& event_id) {
    return MentionAt(ids_, event_id, "1700000000.000100");
  }

  Receiver receiver_;
  FrontDoor door_{[this](api::ServiceOptions* options) {
    options->work_url = receiver_.url();
    options->work_first_wait = std::chrono::seconds(0);  // Each WorkOnce tries again.
  }};
  const FrontDoor::Ids ids_ = door_.real_ids();
};

// Spec: 004-40
TEST_F(WorkTest, AcknowledgesTheEventBeforeItsWorkIsDone) {
  receiver_.AnswerWith(503);
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  EXPECT_THAT(receiver_.keys(), IsEmpty()) << "the answer waited for the receiver";
  // The event is acknowledged and stored, and its work is not done yet.
  EXPECT_EQ(door_.InboxSize(), 1u);
  ASSERT_TRUE(door_.service().WorkOnce());
  receiver_.AnswerWith(200);
  ASSERT_TRUE(door_.service().WorkOnce());
  const std::vector<std::string> keys = receiver_.keys();
  ASSERT_GE(keys.size(), 2u);
  EXPECT_THAT(keys.back(), HasSubstr("app_mention:"));
  ASSERT_TRUE(door_.service().WorkOnce());
  EXPECT_EQ(receiver_.keys().size(), keys.size()) << "done work was handed out again";
}

// Review: F2
TEST_F(WorkTest, DoesWorkWhoseKeyACallerHasMarked) {
  const std::string key = "app_mention:" + ids_.team + ":" + ids_.channel + ":1700000000.000100";
  ASSERT_EQ(
      door_.Call(http::Method::kPost, "/api/v1/claims/mark", R"({"key":")" + key + R"("})").status,
      200);
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  ASSERT_TRUE(door_.service().WorkOnce());
  EXPECT_THAT(receiver_.keys(), ElementsAre(key));
}

TEST_F(WorkTest, PostsTheEventAsSlackSentIt) {
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  ASSERT_TRUE(door_.service().WorkOnce());
  EXPECT_THAT(receiver_.last_body(), HasSubstr(R"("kind":"mention")"));
  EXPECT_THAT(receiver_.last_body(), HasSubstr(R"("event":)" + Mention("Ev1")));
}

// When a receiver is down for an hour, the work of that hour must not fail permanently.
TEST_F(WorkTest, CountsNoFailureWhileTheReceiverIsUnreachable) {
  receiver_.AnswerWith(503);
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(door_.service().WorkOnce());
  receiver_.AnswerWith(200);
  EXPECT_TRUE(door_.service().WorkOnce());
  EXPECT_EQ(door_.CounterOf("tidemark_work_delivered_total"), 1);
}

TEST_F(WorkTest, GivesUpWorkThatTheReceiverRefusesTooOften) {
  receiver_.AnswerWith(422);
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(door_.service().WorkOnce());
  EXPECT_EQ(receiver_.keys().size(), 5u);
  EXPECT_EQ(door_.CounterOf("tidemark_work_given_up_total"), 1);
}

TEST_F(WorkTest, PostsNoWorkForTheBotsOwnMessages) {
  EXPECT_EQ(
      door_
          .Send(FrontDoor::Message(
              "Ev1", ids_, R"(,"subtype":"file_share","bot_id":"B0OWN","files":[{"id":"F1"}])"))
          .status,
      200);
  ASSERT_TRUE(door_.service().WorkOnce());
  EXPECT_THAT(receiver_.keys(), IsEmpty());
}

// The service with its background threads, and a receiver that does not answer until it is
// released.
class SlowWorkTest : public ::testing::Test {
 protected:
  SlowWorkTest() {
    receiver_.Hold();
    Write(SystemClock().NowSeconds() + 12 * 3600);
    door_ = std::make_unique<FrontDoor>([this](api::ServiceOptions* options) {
      options->work_url = receiver_.url();
      options->background = true;
      options->rotation = gate::RotatingTokensOptions{
          .file = tokens_, .client_id = "1.2", .client_secret = Secret("canary")};
    });
    ids_ = door_->real_ids();
  }
  ~SlowWorkTest() override { receiver_.Release(); }

  void Write(EpochSeconds expires_at) {
    ASSERT_TRUE(
        slack::WriteTokenPair(tokens_, {.access_token = Secret(std::string(FrontDoor::kBotToken)),
                                        .refresh_token = Secret("canary"),
                                        .expires_at = expires_at}));
  }
  int Mention(const std::string& number) {
    return door_->Send(MentionAt(ids_, "Ev" + number, "170000000" + number + ".000100")).status;
  }

  TempFolder folder_;
  const std::string tokens_ = folder_.path() + "/pair.json";
  Receiver receiver_;
  std::unique_ptr<FrontDoor> door_;
  FrontDoor::Ids ids_;
};

// Spec: 004-40
TEST_F(SlowWorkTest, DelaysNoAcknowledgementAndIsDoneOnce) {
  EXPECT_EQ(Mention("1"), 200);
  receiver_.Await(1);
  // The receiver has not answered yet.
  EXPECT_EQ(Mention("2"), 200);
  EXPECT_THAT(receiver_.keys(), SizeIs(1));
  receiver_.Release();
  receiver_.Await(2);
  door_->service().Stop(std::chrono::milliseconds(0));
  const std::vector<std::string> keys = receiver_.keys();
  ASSERT_THAT(keys, SizeIs(2));
  EXPECT_THAT(keys[0], HasSubstr("1700000001"));
  EXPECT_THAT(keys[1], HasSubstr("1700000002"));
}

// The work of a whole day may be waiting when the program stops.
TEST_F(SlowWorkTest, BeginsNoWorkAfterTheServiceStops) {
  for (const char* number : {"1", "2", "3"}) EXPECT_EQ(Mention(number), 200);
  receiver_.Await(1);
  auto stopped =
      std::async(std::launch::async, [&] { door_->service().Stop(std::chrono::milliseconds(0)); });
  while (!door_->CallWithoutToken(http::Method::kGet, "/healthz").body.empty()) {
  }
  receiver_.Release();
  stopped.get();
  EXPECT_THAT(receiver_.keys(), SizeIs(1));
}

// Without a valid token every event is refused, so the refresh must not wait for other work.
TEST_F(SlowWorkTest, DoesNotDelayTheRefreshOfTheToken) {
  EXPECT_EQ(Mention("1"), 200);
  receiver_.Await(1);
  door_->slack().Fail(demo::kRefresh, {.kind = demo::FailureKind::kHang});
  Write(SystemClock().NowSeconds() + 60);
  auto asked = std::async(std::launch::async, [&] { door_->slack().AwaitHanging(1); });
  // Shorter than the 30 s after which a delivery ends by itself.
  EXPECT_EQ(asked.wait_for(FrontDoor::kLongEnough), std::future_status::ready);
  receiver_.Release();
  asked.get();
}

TEST(ContentAdviceTest, LogsARepeatedTextAndHandlesTheMessage) {
  FrontDoor door([](api::ServiceOptions* options) { options->content_advice = true; });
  const FrontDoor::Ids ids = door.real_ids();
  EXPECT_EQ(door.Send(FrontDoor::Message("Ev1", ids)).status, 200);
  EXPECT_EQ(door.Send(FrontDoor::Message("Ev2", ids)).status, 200);
  ASSERT_TRUE(door.service().WorkOnce());
  EXPECT_THAT(door.log(), HasSubstr("content duplicate event=Ev2 of=Ev1"));
  EXPECT_EQ(door.InboxSize(), 2u);
}

}  // namespace
}  // namespace tidemark::testing
