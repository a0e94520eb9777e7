// Work that takes longer than Slack waits: it goes on after the acknowledgement, once, and
// survives the receiver's absence.
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.h"
#include "tests/front_door/front_door.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A bot on loopback that work is handed to.
class Receiver final : public http::Handler {
 public:
  Receiver()
      : server_(http::Server::Start({.listen = "127.0.0.1:0", .loops = 1}, this,
                                    {.clock = &clock_, .random = &random_})
                    .value()) {}

  std::string url() const { return "http://" + server_->address() + "/work"; }
  void AnswerWith(int status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
  }
  // Keys of the work that came, in order.
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
    }
    reply({.status = status});
  }

  SystemClock clock_;
  SystemRandom random_;
  mutable std::mutex mutex_;
  int status_ = 200;
  std::vector<std::string> keys_;
  std::string last_body_;
  std::unique_ptr<http::Server> server_;
};

class WorkTest : public ::testing::Test {
 protected:
  std::string Mention(const std::string& event_id) {
    return R"({"type":"event_callback","team_id":")" + ids_.team + R"(","event_id":")" + event_id +
           R"(","event":{"type":"app_mention","user":")" + ids_.user + R"(","channel":")" +
           ids_.channel + R"(","ts":"1700000000.000100","text":"hi"}})";
  }

  Receiver receiver_;
  FrontDoor door_{[this](api::ServiceOptions* options) { options->work_url = receiver_.url(); }};
  const FrontDoor::Ids ids_ = door_.real_ids();
};

// Spec: 004-40
TEST_F(WorkTest, IsAcknowledgedBeforeTheWorkIsDoneAndTheWorkGoesOn) {
  receiver_.AnswerWith(503);
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  // Acknowledged and stored, while the work is as far from done as it can be.
  EXPECT_EQ(door_.InboxSize(), 1u);
  EXPECT_FALSE(door_.service().WorkOnce());
  receiver_.AnswerWith(200);
  ASSERT_TRUE(door_.service().WorkOnce());
  const std::vector<std::string> keys = receiver_.keys();
  ASSERT_GE(keys.size(), 2u);
  EXPECT_THAT(keys.back(), HasSubstr("app_mention:"));
  ASSERT_TRUE(door_.service().WorkOnce());
  EXPECT_EQ(receiver_.keys().size(), keys.size()) << "done work was handed out again";
}

TEST_F(WorkTest, HandsOverTheEventAsSlackSentIt) {
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  ASSERT_TRUE(door_.service().WorkOnce());
  EXPECT_THAT(receiver_.last_body(), HasSubstr(R"("kind":"mention")"));
  EXPECT_THAT(receiver_.last_body(), HasSubstr(R"("event":)" + Mention("Ev1")));
}

// A receiver that is away for an hour must not use up the tries of all that came meanwhile.
TEST_F(WorkTest, CountsNoFailureWhileTheReceiverIsAway) {
  receiver_.AnswerWith(503);
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(door_.service().WorkOnce());
  receiver_.AnswerWith(200);
  EXPECT_TRUE(door_.service().WorkOnce());
  EXPECT_EQ(door_.CounterOf("tidemark_work_delivered_total"), 1);
}

TEST_F(WorkTest, GivesUpWhatTheReceiverRefusesTooOften) {
  receiver_.AnswerWith(422);
  EXPECT_EQ(door_.Send(Mention("Ev1")).status, 200);
  int rounds = 0;
  while (!door_.service().WorkOnce() && rounds < 20) ++rounds;
  EXPECT_EQ(receiver_.keys().size(), 5u);
}

TEST_F(WorkTest, StartsNoneForTheBotsOwnMessages) {
  EXPECT_EQ(
      door_
          .Send(FrontDoor::Message(
              "Ev1", ids_, R"(,"subtype":"file_share","bot_id":"B0OWN","files":[{"id":"F1"}])"))
          .status,
      200);
  ASSERT_TRUE(door_.service().WorkOnce());
  EXPECT_THAT(receiver_.keys(), IsEmpty());
}

TEST(ContentAdviceTest, ReportsTextThatWasSeenBeforeAndHandlesItAllTheSame) {
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
