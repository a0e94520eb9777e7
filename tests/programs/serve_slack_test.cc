// What Slack sends to the built program, with settings of the program.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "servers/demo/pretend_slack.h"
#include "servers/demo/sender.h"
#include "tests/programs/serve_fixture.h"

namespace tidemark::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What Slack sends, as the settings of the running program make the server see it.
class ServeSlackTest : public ServeFixture {
 protected:
  int Send(const std::string& body, const std::string& secret = kDemoSecret) {
    const demo::SenderOptions options{.url = url() + "/slack/events",
                                      .signing_secret = Secret(std::string(secret))};
    return client_
        .Send(demo::MakeDelivery(options, body, {.timestamp = std::to_string(clock_.NowSeconds())}),
              Deadline::After(clock_, seconds(30)))
        .response.status;
  }
  // An event about the message 1700000000.000100 in a public channel of the pretend workspace.
  std::string Event(const std::string& id, const std::string& more) const {
    return fmt::format(
        R"({{"type":"event_callback","team_id":"{}","api_app_id":"A1","event_id":"{}",)"
        R"("event_time":1700000000,"event":{{"type":"message","channel":"{}",)"
        R"("channel_type":"channel","event_ts":"1700000000.000100",{}}}}})",
        workspace_.team.id, id, Channel(), more);
  }
  std::string Posted(const std::string& id) const {
    return Event(
        id, fmt::format(R"("user":"{}","text":"a secret text","ts":"1700000000.000100")", User()));
  }
  std::string User() const {
    const auto is_person = [](const demo::User& user) {
      return !user.deactivated && user.bot_id.empty() && user.id != demo::kSlackbot;
    };
    return std::ranges::find_if(workspace_.users, is_person)->id;
  }
  std::string Channel() const {
    const auto is_public = [](const demo::Channel& channel) {
      return !channel.archived && channel.kind == demo::ChannelKind::kPublic;
    };
    return std::ranges::find_if(workspace_.channels, is_public)->id;
  }
  void StartSlack(demo::PretendSlack::Options options) {
    slack_ = demo::PretendSlack::Start(std::move(options), workspace_,
                                       {.clock = &clock_, .random = &random_})
                 .value();
  }

  const demo::Workspace workspace_ = demo::MakeWorkspace({.seed = 1});
  std::unique_ptr<demo::PretendSlack> slack_;
};

// While a secret is rotated, Slack may sign with either.
TEST_F(ServeSlackTest, AcceptsThePreviousSigningSecretToo) {
  const std::string challenge = R"({"type":"url_verification","challenge":"c"})";
  Serve({}, {"SLACK_SIGNING_SECRET=the-new-one",
             std::string("TIDEMARK_SLACK_PREVIOUS_SIGNING_SECRET=") + kDemoSecret});
  EXPECT_EQ(Send(challenge, "the-new-one"), 200);
  EXPECT_EQ(Send(challenge), 200);
  EXPECT_EQ(Send(challenge, "one-before-both"), 401);
}

// With slack.token-file the server refreshes the token itself, and keeps the new pair in the file.
TEST_F(ServeSlackTest, RefreshesTheTokenOfTheTokenFile) {
  StartSlack({.bot_token = Secret("xoxe.xoxb-long-ago"),
              .refresh_token = Secret("xoxe-first"),
              .client_id = "1.2",
              .client_secret = Secret("of-the-app")});
  std::ofstream(path("pair.json"))
      << R"({"access_token":"xoxe.xoxb-long-ago","refresh_token":"xoxe-first","expires_at":1})";
  std::filesystem::permissions(
      path("pair.json"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Serve({"--slack-token-file", "pair.json", "--slack-client-id", "1.2", "--slack-api-url",
         slack_->api_url()},
        {std::string("SLACK_SIGNING_SECRET=") + kDemoSecret, "SLACK_CLIENT_SECRET=of-the-app"});
  ASSERT_TRUE(server_->AwaitError("the bot token was refreshed")) << server_->err();
  EXPECT_THAT(ReadFile(path("pair.json")), Not(HasSubstr("xoxe-first")));
  EXPECT_THAT(ReadFile(path("pair.json")), HasSubstr(slack_->refresh_token().Reveal()));
  EXPECT_EQ(Send(Posted("Ev1")), 200);
  EXPECT_EQ(StopServer(), kOk);
  EXPECT_THAT(Do({"tables", "scan", "SlackArchive"}), HasSubstr("a secret text"));
}

// With archive.deleted = purge nothing of a deleted text is left in the folder's tables.
TEST_F(ServeSlackTest, PurgesTheTextOfADeletedMessage) {
  StartSlack({.bot_token = Secret(std::string(kDemoToken))});
  Serve({"--archive-deleted", "purge", "--archive-purge-after", "0s"}, SlackAt(slack_->api_url()));
  EXPECT_EQ(Send(Posted("Ev1")), 200);
  EXPECT_EQ(Send(Event("Ev2", R"("subtype":"message_deleted","ts":"1700000009.000100",)"
                              R"("deleted_ts":"1700000000.000100")")),
            200);
  // The server looks for deleted messages when it starts, and then every hour.
  EXPECT_EQ(StopServer(), kOk);
  Serve();
  const std::string token = CreateToken("reader");
  const Deadline deadline = Deadline::After(clock_, seconds(60));
  while (!deadline.HasPassed() &&
         Ask("/metrics", token).body.find("\ntidemark_archive_purged_total 1\n") ==
             std::string::npos) {
  }
  EXPECT_EQ(StopServer(), kOk);
  EXPECT_THAT(Do({"archive", "message", Channel(), "1700000000.000100"}),
              AllOf(HasSubstr("1700000000.000100"), Not(HasSubstr("a secret text"))));
  EXPECT_THAT(Do({"tables", "scan", "SlackArchive"}),
              AllOf(HasSubstr("1700000000.000100"), Not(HasSubstr("a secret text"))));
}

}  // namespace
}  // namespace tidemark::testing
