#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/gate/tokens.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "servers/demo/pretend_slack.h"
#include "tests/support/temp_folder.h"

namespace tidemark::gate {
namespace {

using demo::FailureKind;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kFirstAccess[] = "xoxe.xoxb-canary-first";
constexpr char kFirstRefresh[] = "xoxe-canary-first";
constexpr char kClientSecret[] = "canary-client-secret";
constexpr EpochSeconds kStart = 1'700'000'000;
constexpr EpochSeconds kLife = 12 * 3600;

slack::TeamId Team() { return slack::TeamId::Parse("T01").value(); }

class RotatingTokensTest : public ::testing::Test {
 protected:
  RotatingTokensTest() {
    slack_ = demo::PretendSlack::Start({.bot_token = Secret(std::string(kFirstAccess)),
                                        .refresh_token = Secret(std::string(kFirstRefresh)),
                                        .client_id = "1.2",
                                        .client_secret = Secret(std::string(kClientSecret))},
                                       demo::MakeWorkspace({.users = 2, .channels = 2}),
                                       {.clock = &system_clock_, .random = &random_})
                 .value();
    web_api_ = std::make_unique<slack::WebApi>(slack::WebApiOptions{.url = slack_->api_url()},
                                               &client_, &clock_, &sleeper_, nullptr);
    std::filesystem::create_directory(folder_.path() + "/tokens");
    Write({.access_token = Secret(std::string(kFirstAccess)),
           .refresh_token = Secret(std::string(kFirstRefresh)),
           .expires_at = kStart + kLife});
  }

  // No secret of before or after is in the log, whatever happened.
  ~RotatingTokensTest() override {
    EXPECT_THAT(log_.str(), Not(HasSubstr("canary")));
    EXPECT_THAT(log_.str(), Not(HasSubstr("pretend")));
    EXPECT_THAT(slack_->faults(), IsEmpty());
  }

  void Write(const slack::TokenPair& pair) { ASSERT_TRUE(slack::WriteTokenPair(path_, pair)); }
  slack::TokenPair OnDisk() const { return slack::ReadTokenPair(path_).value(); }
  std::unique_ptr<RotatingTokens> Open() {
    return RotatingTokens::Open({.file = path_,
                                 .client_id = "1.2",
                                 .client_secret = Secret(std::string(kClientSecret))},
                                web_api_.get(), &clock_, &logger_)
        .value();
  }
  static std::string TokenOf(const RotatingTokens& tokens) {
    return std::string(tokens.Find(Team())->token.Reveal());
  }
  // Whether Slack takes the token that is given out.
  bool IsGood(const RotatingTokens& tokens) {
    const auto answer =
        web_api_->TestAuth(tokens.Find(Team())->token, Deadline::After(clock_, seconds(10)));
    return std::holds_alternative<slack::AuthTest>(answer);
  }
  uint64_t refreshes() const { return slack_->calls(demo::kRefresh); }
  void EnterTheMargin() { clock_.Advance(seconds(kLife) - hours(4)); }
  void RetryLater() { clock_.Advance(seconds(61)); }

  ManualClock clock_{kStart};
  SystemClock system_clock_;
  SeededRandom random_{1};
  ManualSleeper sleeper_{&clock_};
  http::CurlClient client_{{}, &clock_, &sleeper_};
  std::ostringstream log_;
  Logger logger_{{.level = LogLevel::kDebug}, clock_, &log_};
  TempFolder folder_;
  const std::string path_ = folder_.path() + "/tokens/pair.json";
  std::unique_ptr<demo::PretendSlack> slack_;
  std::unique_ptr<slack::WebApi> web_api_;
};

TEST_F(RotatingTokensTest, BeforeTheMarginNothingIsAsked) {
  const auto tokens = Open();
  clock_.Advance(seconds(kLife) - hours(4) - seconds(1));
  tokens->Step();
  EXPECT_EQ(refreshes(), 0u);
  EXPECT_EQ(TokenOf(*tokens), kFirstAccess);
}

// Spec: 001-73
TEST_F(RotatingTokensTest, ATokenInsideItsMarginIsRefreshed) {
  const auto tokens = Open();
  EnterTheMargin();
  tokens->Step();
  EXPECT_EQ(refreshes(), 1u);
  EXPECT_NE(TokenOf(*tokens), kFirstAccess);
  EXPECT_TRUE(IsGood(*tokens));
  // And not again before the next margin; then with the new refresh token.
  tokens->Step();
  EXPECT_EQ(refreshes(), 1u);
  clock_.Advance(seconds(kLife) - hours(4));
  tokens->Step();
  EXPECT_EQ(refreshes(), 2u);
  EXPECT_TRUE(IsGood(*tokens));
}

// The next process goes on with what is on disk.
// Spec: 001-73
TEST_F(RotatingTokensTest, TheNewPairIsOnDisk) {
  const auto tokens = Open();
  EnterTheMargin();
  tokens->Step();
  const slack::TokenPair pair = OnDisk();
  EXPECT_EQ(pair.access_token.Reveal(), TokenOf(*tokens));
  EXPECT_TRUE(pair.refresh_token == slack_->refresh_token());
  EXPECT_EQ(pair.expires_at, clock_.NowSeconds() + kLife);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(TokenOf(*Open()), TokenOf(*tokens));
}

// Spec: 001-73
TEST_F(RotatingTokensTest, AFailedRefreshKeepsThePairAndIsTriedAgain) {
  const auto tokens = Open();
  EnterTheMargin();
  slack_->Fail(demo::kRefresh, {.kind = FailureKind::kServerError});
  slack_->Fail(demo::kRefresh, {.kind = FailureKind::kGarbage});
  slack_->Fail(demo::kRefresh, {.kind = FailureKind::kError, .error = "internal_error"});
  for (uint64_t tries = 1; tries <= 3; ++tries) {
    tokens->Step();
    tokens->Step();  // Too early.
    EXPECT_EQ(refreshes(), tries);
    EXPECT_EQ(OnDisk().refresh_token.Reveal(), kFirstRefresh);
    EXPECT_EQ(TokenOf(*tokens), kFirstAccess);
    RetryLater();
  }
  tokens->Step();
  EXPECT_NE(TokenOf(*tokens), kFirstAccess);
  EXPECT_TRUE(IsGood(*tokens));
  EXPECT_THAT(log_.str(), HasSubstr("the bot token was not refreshed"));
}

// Slack has exchanged it and we do not know to what: what we have is used for as long as it holds,
// and a pair that somebody installs is taken.
// Spec: 001-73
TEST_F(RotatingTokensTest, ALostReplyKeepsTheOldRefreshToken) {
  const auto tokens = Open();
  EnterTheMargin();
  slack_->Fail(demo::kRefresh, {.kind = FailureKind::kLostReply});
  tokens->Step();
  EXPECT_EQ(OnDisk().refresh_token.Reveal(), kFirstRefresh);
  RetryLater();
  tokens->Step();
  EXPECT_EQ(refreshes(), 2u);
  EXPECT_EQ(OnDisk().refresh_token.Reveal(), kFirstRefresh);
  EXPECT_TRUE(IsGood(*tokens));
  EXPECT_THAT(log_.str(), HasSubstr("invalid_refresh_token"));
  Write({.access_token = Secret("xoxe.xoxb-1-pretend-1"),
         .refresh_token = slack_->refresh_token(),
         .expires_at = clock_.NowSeconds() + kLife});
  clock_.Advance(seconds(1));
  EXPECT_EQ(TokenOf(*tokens), "xoxe.xoxb-1-pretend-1");
}

// A full disk must not cost the pair that Slack gave: it is given once.
// Spec: 001-73
TEST_F(RotatingTokensTest, WhatCannotBeSavedIsSavedLater) {
  const auto tokens = Open();
  EnterTheMargin();
  // Where the new file would be written there is a folder.
  std::filesystem::create_directories(path_ + ".new/in-the-way");
  tokens->Step();
  EXPECT_EQ(OnDisk().refresh_token.Reveal(), kFirstRefresh);
  EXPECT_EQ(TokenOf(*tokens), kFirstAccess);
  EXPECT_TRUE(IsGood(*tokens));
  std::filesystem::remove_all(path_ + ".new");
  RetryLater();
  tokens->Step();
  EXPECT_EQ(refreshes(), 1u);
  EXPECT_TRUE(OnDisk().refresh_token == slack_->refresh_token());
  EXPECT_NE(TokenOf(*tokens), kFirstAccess);
  EXPECT_TRUE(IsGood(*tokens));
}

// Two processes on one file: one refreshes, both have the new token.
TEST_F(RotatingTokensTest, ProcessesThatShareAFileRefreshItOnce) {
  const auto first = Open();
  const auto second = Open();
  EnterTheMargin();
  {
    const auto busy = slack::TokenFileLock::Take(path_);
    ASSERT_TRUE(busy && *busy);
    first->Step();
    EXPECT_EQ(refreshes(), 0u);
  }
  first->Step();
  second->Step();
  EXPECT_EQ(refreshes(), 1u);
  clock_.Advance(seconds(1));
  EXPECT_EQ(TokenOf(*second), TokenOf(*first));
}

// A folder that the program may not write in would end the token in silence.
// Spec: 001-73
TEST_F(RotatingTokensTest, ALockThatCannotBeMadeIsSaidAndTriedAgain) {
  const auto tokens = Open();
  EnterTheMargin();
  std::filesystem::create_directory(path_ + ".lock");
  tokens->Step();
  tokens->Step();  // Too early.
  EXPECT_EQ(refreshes(), 0u);
  const std::string log = log_.str();
  const size_t said = log.find("the bot token was not refreshed");
  EXPECT_NE(said, std::string::npos) << log;
  EXPECT_EQ(log.find("the bot token was not refreshed", said + 1), std::string::npos) << log;
  EXPECT_THAT(log, HasSubstr("pair.json.lock"));
  std::filesystem::remove(path_ + ".lock");
  RetryLater();
  tokens->Step();
  EXPECT_EQ(refreshes(), 1u);
  EXPECT_TRUE(IsGood(*tokens));
}

// The generation follows the token: what was verified with another is verified anew.
TEST_F(RotatingTokensTest, TheGenerationChangesWithTheToken) {
  const auto tokens = Open();
  const std::string before = tokens->Find(Team())->generation;
  EnterTheMargin();
  tokens->Step();
  EXPECT_NE(tokens->Find(Team())->generation, before);
}

TEST_F(RotatingTokensTest, NeedsAFileAndAClient) {
  const auto open = [&](RotatingTokensOptions options) {
    const auto tokens = RotatingTokens::Open(std::move(options), web_api_.get(), &clock_, &logger_);
    return tokens ? std::string() : tokens.error().message;
  };
  EXPECT_THAT(open({.file = path_}), HasSubstr("slack.client-id"));
  RotatingTokensOptions options{
      .file = path_ + ".none", .client_id = "1.2", .client_secret = Secret("x")};
  EXPECT_THAT(open(options), HasSubstr("cannot be read"));
  options.file = path_;
  ::chmod(path_.c_str(), 0640);
  EXPECT_THAT(open(options), HasSubstr("chmod 600"));
}

}  // namespace
}  // namespace tidemark::gate
