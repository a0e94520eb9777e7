// `tidemark doctor` beside a pretend Slack: what is wrong is named, with what to do.
#include <filesystem>
#include <memory>
#include <string>
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
  // Whether Slack's clock is off by this much.
  void StartPretendSlack(std::chrono::seconds offset = std::chrono::seconds(0)) {
    their_clock_ = std::make_unique<OffsetClock>(&clock_, offset);
    slack_ = demo::PretendSlack::Start(
                 {.bot_token = Secret(std::string(kDemoToken)), .scopes = AllScopes()},
                 demo::MakeWorkspace({}), {.clock = their_clock_.get(), .random = &random_})
                 .value();
  }

  static Words AllScopes() {
    Words scopes;
    for (const slack::Scope& scope : slack::RequiredScopes()) scopes.emplace_back(scope.name);
    return scopes;
  }

  // The doctor beside the pretend Slack, with these variables besides.
  Outcome Examine(const Words& more = {}) const {
    Words environment = SlackAt(slack_->api_url());
    environment.insert(environment.end(), more.begin(), more.end());
    return Run({"doctor"}, environment);
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

// Who follows the doctor's advice ends with a clean bill, beside the demo as anybody runs it.
TEST_F(DoctorCommandTest, FindsNothingWrongOnceItsAdviceWasFollowed) {
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
  // The disk is as it is.
  EXPECT_THAT(LinesOf(second.out),
              Each(AnyOf(StartsWith("ok "), HasSubstr("  encryption at rest: "))));
  EXPECT_THAT(Finding(second, "encryption at rest"), HasSubstr("encrypt"));
  EXPECT_THAT(Finding(second, "store"), HasSubstr("opens; 6 tables"));
}

// The two secrets that nobody can do without.
TEST_F(DoctorCommandTest, MissesTheSecretAndTheToken) {
  StartPretendSlack();
  const Outcome outcome = Run({"doctor"}, {"TIDEMARK_SLACK_API_URL=" + slack_->api_url()});
  EXPECT_EQ(outcome.exit_code, kNotMet);
  EXPECT_THAT(Finding(outcome, "signing secret"),
              AllOf(StartsWith("problem"), HasSubstr("slack.signing-secret is not set")));
  EXPECT_THAT(Finding(outcome, "bot token"),
              AllOf(StartsWith("problem"), HasSubstr("slack.bot-token is not set")));
}

// The client secret and the app's token are pasted where they do not belong.
TEST_F(DoctorCommandTest, DoubtsASecretThatIsNoneOfSlacks) {
  StartPretendSlack();
  const Outcome outcome = Examine({"TIDEMARK_SLACK_SIGNING_SECRET=xoxb-not-a-secret"});
  EXPECT_THAT(Finding(outcome, "signing secret"), StartsWith("warning"));
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("xoxb-not-a-secret")));
}

// An app that was made by hand, or before a version that asks for more.
TEST_F(DoctorCommandTest, NamesTheScopesThatAreMissingAndThoseTooMany) {
  StartPretendSlack();
  Words scopes = AllScopes();
  std::erase(scopes, "users:read");
  scopes.emplace_back("chat:write");
  slack_->SetScopes(scopes);
  const Outcome outcome = Examine();
  EXPECT_EQ(outcome.exit_code, kNotMet);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("problem  scopes: missing: users:read ("),
                                 HasSubstr("better taken away: chat:write")));
}

// A token that was revoked, and a Slack that is not there.
TEST_F(DoctorCommandTest, SaysWhatSlackSaysOfTheToken) {
  StartPretendSlack();
  slack_->RevokeToken();
  const Outcome revoked = Examine();
  EXPECT_EQ(revoked.exit_code, kNotMet);
  EXPECT_THAT(Finding(revoked, "bot token"),
              AllOf(StartsWith("problem"), HasSubstr("token_revoked")));
  slack_->Stop();
  const Outcome away = Examine();
  EXPECT_EQ(away.exit_code, kNotMet);
  EXPECT_THAT(Finding(away, "bot token"), StartsWith("problem"));
  EXPECT_THAT(Finding(away, "clock"), AllOf(StartsWith("warning"), HasSubstr("gave no time")));
}

// Signatures are good for five minutes, and leases for less.
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

// Six hours are shorter than the day over which Slack may deliver again.
TEST_F(DoctorCommandTest, WarnsOfAWindowThatIsTooShort) {
  StartPretendSlack();
  const Outcome outcome = Examine({"TIDEMARK_DEDUP_WINDOW=6h"});
  EXPECT_EQ(outcome.exit_code, kOk) << outcome.out;
  EXPECT_THAT(Finding(outcome, "dedup window"),
              AllOf(StartsWith("warning"), HasSubstr("set dedup.window to")));
  EXPECT_THAT(Finding(Examine({"TIDEMARK_DEDUP_WINDOW=27h"}), "dedup window"), StartsWith("ok "));
}

// A running server is the normal case and no reason to worry; another holder of the folder is.
TEST_F(DoctorCommandTest, KnowsTheServerThatHasTheFolder) {
  StartPretendSlack();
  Serve();
  const Outcome running = Examine({"TIDEMARK_LISTEN=" + address_});
  EXPECT_EQ(running.exit_code, kOk) << running.out;
  EXPECT_THAT(Finding(running, "store"),
              AllOf(StartsWith("ok "), HasSubstr("in use by the server at " + address_)));
  const Outcome elsewhere = Examine({"TIDEMARK_LISTEN=" + own_host_ + ":1"});
  EXPECT_EQ(elsewhere.exit_code, kNotMet);
  EXPECT_THAT(Finding(elsewhere, "store"),
              AllOf(StartsWith("problem"), HasSubstr("another process has it open")));
}

// Settings with which the server would not start are found before it is tried.
TEST_F(DoctorCommandTest, SaysWhatTheServerWouldSayOfTheSettings) {
  StartPretendSlack();
  const Outcome outcome = Examine({"TIDEMARK_SERVER_WORKERS=0"});
  EXPECT_EQ(outcome.exit_code, kNotMet);
  EXPECT_THAT(Finding(outcome, "settings"),
              AllOf(StartsWith("problem"), HasSubstr("server.workers should be between")));
}

}  // namespace
}  // namespace tidemark::testing
