// `tidemark doctor` with a simulated Slack: it names what is wrong, and what to do.
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "servers/demo/pretend_slack.h"
#include "slack/app.h"
#include "tests/programs/serve_fixture.h"
#include "tests/support/offset_clock.h"

namespace tidemark::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DoctorCommandTest : public ServeFixture {
 protected:
  // Starts a pretend Slack whose clock is ahead by `offset`, and whose token has these scopes.
  void StartPretendSlack(std::chrono::seconds offset = std::chrono::seconds(0),
                         Words scopes = AllScopes()) {
    their_clock_ = std::make_unique<OffsetClock>(&clock_, offset);
    slack_ = demo::PretendSlack::Start(
                 {.bot_token = Secret(std::string(kDemoToken)), .scopes = std::move(scopes)},
                 demo::MakeWorkspace({}), {.clock = their_clock_.get(), .random = &random_})
                 .value();
  }

  static Words AllScopes() {
    Words scopes;
    for (const slack::Scope& scope : slack::RequiredScopes()) scopes.emplace_back(scope.name);
    return scopes;
  }

  // Runs the doctor with the pretend Slack, and with these additional variables and arguments.
  Outcome Examine(const Words& more = {}, const Words& arguments = {}) const {
    Words environment = SlackAt(slack_->api_url());
    environment.insert(environment.end(), more.begin(), more.end());
    Words words = {"doctor"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return Run(words, environment);
  }

  std::unique_ptr<OffsetClock> their_clock_;
  std::unique_ptr<demo::PretendSlack> slack_;
};

// The line of a subject.
std::string Finding(const Outcome& outcome, const std::string& subject) {
  for (const std::string& line : LinesOf(outcome.out)) {
    if (line.find("  " + subject + ": ") != std::string::npos) return line;
  }
  return "nothing about " + subject + " in:\n" + outcome.out + outcome.err;
}

std::string WordAfter(const std::string& text, const std::string& before) {
  const size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.find_first_of(" \"\n", begin) - begin);
}

// Review: E9
TEST_F(DoctorCommandTest, WarnsOfADataFolderThatOthersCanEnter) {
  StartPretendSlack();
  Serve();
  EXPECT_EQ(StopServer(), kOk);
  EXPECT_THAT(Finding(Examine(), "permissions"), HasSubstr("only its user can read"));
  std::filesystem::permissions(path("tidemark-data"), std::filesystem::perms(0755));
  EXPECT_THAT(Finding(Examine(), "permissions"), HasSubstr("chmod 700"));
}

// After the user did what the doctor says, it finds nothing wrong. The Slack is `tidemark demo`.
TEST_F(DoctorCommandTest, FindsNothingWrongAfterItsAdviceWasFollowed) {
  BackgroundProgram demo({.arguments = {"demo", "--listen", own_host_ + ":0", "--to",
                                        "http://" + own_host_ + ":1/slack/events"},
                          .folder = folder_.path()});
  const auto api_url = demo.AwaitError("TIDEMARK_SLACK_API_URL=");
  ASSERT_TRUE(api_url) << demo.err();
  Words environment = SlackAt(*api_url);
  const Outcome first = Run({"doctor"}, environment);
  EXPECT_EQ(first.exit_code, kOk) << first.out;
  EXPECT_THAT(Finding(first, "bot id"), StartsWith("warning"));
  EXPECT_THAT(Finding(first, "store"), StartsWith("warning"));
  EXPECT_THAT(Finding(first, "API tokens"), StartsWith("warning"));

  environment.push_back("SLACK_BOT_ID=" + WordAfter(Finding(first, "bot id"), "slack.bot-id = \""));
  environment.emplace_back("TIDEMARK_DEDUP_WINDOW=48h");
  CreateToken("ci");
  Serve({}, environment);
  EXPECT_EQ(StopServer(), kOk);
  const Outcome second = Run({"doctor"}, environment);
  EXPECT_EQ(second.exit_code, kOk);
  // Whether the disk is encrypted depends on the machine.
  EXPECT_THAT(LinesOf(second.out),
              Each(AnyOf(StartsWith("ok "), HasSubstr("  encryption at rest: "))));
  EXPECT_THAT(Finding(second, "encryption at rest"), HasSubstr("encrypt"));
  EXPECT_THAT(Finding(second, "store"), HasSubstr("can be opened; 7 tables"));
}

// The server needs both secrets.
TEST_F(DoctorCommandTest, ReportsAMissingSecretAndAMissingToken) {
  StartPretendSlack();
  const Outcome outcome = Run({"doctor"}, {"TIDEMARK_SLACK_API_URL=" + slack_->api_url()});
  EXPECT_EQ(outcome.exit_code, kNotMet);
  EXPECT_THAT(Finding(outcome, "signing secret"),
              AllOf(StartsWith("problem"), HasSubstr("slack.signing-secret is not set")));
  EXPECT_THAT(Finding(outcome, "bot token"),
              AllOf(StartsWith("problem"), HasSubstr("slack.bot-token is not set")));
}

// A newcomer must not wait for messages that nobody keeps.
TEST_F(DoctorCommandTest, SaysThatTheArchiveIsOff) {
  const Outcome outcome = Run({"doctor"}, {"TIDEMARK_ARCHIVE_CONSENT=false",
                                           "TIDEMARK_SLACK_API_URL=http://" + own_host_ + ":1"});
  EXPECT_THAT(Finding(outcome, "archive"),
              AllOf(StartsWith("warning"), HasSubstr("archive.consent = true")));
}

// Users often paste the client secret or a token instead.
TEST_F(DoctorCommandTest, WarnsAboutASecretThatDoesNotLookLikeSlacks) {
  StartPretendSlack();
  const Outcome outcome = Examine({"TIDEMARK_SLACK_SIGNING_SECRET=xoxb-not-a-secret"});
  EXPECT_THAT(Finding(outcome, "signing secret"), StartsWith("warning"));
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("xoxb-not-a-secret")));
}

// The app may have been created by hand, or for an older version that needed fewer scopes.
TEST_F(DoctorCommandTest, NamesMissingAndUnneededScopes) {
  Words scopes = AllScopes();
  std::erase(scopes, "users:read");
  scopes.emplace_back("chat:write");
  StartPretendSlack(std::chrono::seconds(0), std::move(scopes));
  const Outcome outcome = Examine();
  EXPECT_EQ(outcome.exit_code, kNotMet);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("problem  scopes: missing: users:read ("),
                                 HasSubstr("not needed, please remove: chat:write")));
}

// A revoked token, and a Slack that does not answer.
TEST_F(DoctorCommandTest, ReportsSlacksAnswerAboutTheToken) {
  StartPretendSlack();
  slack_->RevokeToken();
  const Outcome revoked = Examine();
  EXPECT_EQ(revoked.exit_code, kNotMet);
  EXPECT_THAT(Finding(revoked, "bot token"),
              AllOf(StartsWith("problem"), HasSubstr("token of slack.bot-token (token_revoked)")));
  slack_->Stop();
  const Outcome away = Examine();
  EXPECT_EQ(away.exit_code, kNotMet);
  EXPECT_THAT(Finding(away, "bot token"),
              AllOf(StartsWith("problem"), HasSubstr("check slack.api-url, the network")));
  EXPECT_THAT(Finding(away, "clock"),
              AllOf(StartsWith("warning"), HasSubstr("did not return a time")));
}

// Signatures are valid for five minutes, and leases for less.
TEST_F(DoctorCommandTest, ComparesTheClockWithSlacks) {
  StartPretendSlack();
  EXPECT_THAT(Finding(Examine(), "clock"), StartsWith("ok "));
  StartPretendSlack(std::chrono::seconds(30));
  const Outcome behind = Examine();
  EXPECT_EQ(behind.exit_code, kOk);
  EXPECT_THAT(Finding(behind, "clock"),
              AllOf(StartsWith("warning"), HasSubstr("s behind Slack's")));
  StartPretendSlack(std::chrono::seconds(-600));
  const Outcome ahead = Examine();
  EXPECT_EQ(ahead.exit_code, kNotMet);
  EXPECT_THAT(Finding(ahead, "clock"), AllOf(StartsWith("problem"), HasSubstr("ahead of Slack's")));
}

// Six hours are less than the day in which Slack may send an event again.
TEST_F(DoctorCommandTest, WarnsAboutAWindowThatIsTooShort) {
  StartPretendSlack();
  const Outcome outcome = Examine({"TIDEMARK_DEDUP_WINDOW=6h"});
  EXPECT_EQ(outcome.exit_code, kOk) << outcome.out;
  EXPECT_THAT(Finding(outcome, "dedup window"),
              AllOf(StartsWith("warning"), HasSubstr("set dedup.window to")));
  EXPECT_THAT(Finding(Examine({"TIDEMARK_DEDUP_WINDOW=27h"}), "dedup window"), StartsWith("ok "));
}

// It is fine if the server uses the folder, also at another address than that of the settings.
TEST_F(DoctorCommandTest, RecognisesTheServerThatUsesTheFolder) {
  StartPretendSlack();
  Serve();
  const Outcome running = Examine({"TIDEMARK_LISTEN=" + address_});
  EXPECT_EQ(running.exit_code, kOk) << running.out;
  EXPECT_THAT(Finding(running, "store"),
              AllOf(StartsWith("ok "), HasSubstr("the server at " + url() + " uses ")));
  const Words elsewhere = {"TIDEMARK_LISTEN=" + own_host_ + ":1"};
  const Outcome unknown = Examine(elsewhere);
  EXPECT_EQ(unknown.exit_code, kOk) << unknown.out;
  EXPECT_THAT(Finding(unknown, "store"),
              AllOf(StartsWith("warning"), HasSubstr("probably a server"),
                    HasSubstr("name the server with --server URL")));
  EXPECT_THAT(Finding(Examine(elsewhere, {"--server", url()}), "store"),
              AllOf(StartsWith("ok "), HasSubstr("the server at " + url() + " uses ")));
  EXPECT_THAT(Examine(elsewhere, {"--server", address_}).err,
              HasSubstr("type --server http://" + address_));
}

// It finds settings with which the server would not start.
TEST_F(DoctorCommandTest, ReportsSettingsThatTheServerWouldRefuse) {
  StartPretendSlack();
  const Outcome outcome = Examine({"TIDEMARK_SERVER_WORKERS=0"});
  EXPECT_EQ(outcome.exit_code, kNotMet);
  EXPECT_THAT(Finding(outcome, "settings"),
              AllOf(StartsWith("problem"), HasSubstr("server.workers must be between")));
}

}  // namespace
}  // namespace tidemark::testing
