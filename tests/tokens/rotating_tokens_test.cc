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
#include "tests/support/manual_time.h"
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
                                               &client_, runtime());
    std::filesystem::create_directory(folder_.path() + "/tokens");
    Write({.access_token = Secret(std::string(kFirstAccess)),
           .refresh_token = Secret(std::string(kFirstRefresh)),
           .expires_at = kStart + kLife});
  }

  // No test may log an old or a new token.
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
                                web_api_.get(), runtime())
        .value();
  }
  static std::string TokenOf(const RotatingTokens& tokens) {
    return std::string(tokens.Find(Team())->token.Reveal());
  }
  // Whether Slack accepts the current token.
  bool IsGood(const RotatingTokens& tokens) {
    const auto answer =
        web_api_->TestAuth(tokens.Find(Team())->token, Deadline::After(clock_, seconds(10)));
    return std::holds_alternative<slack::AuthTest>(answer);
  }
  Runtime runtime() {
    return {.clock = clock_,
            .random = random_,
            .sleeper = sleeper_,
            .logger = logger_,
            .metrics = metrics_};
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
  Metrics metrics_;
  TempFolder folder_;
  const std::string path_ = folder_.path() + "/tokens/pair.json";
  std::unique_ptr<demo::PretendSlack> slack_;
  std::unique_ptr<slack::WebApi> web_api_;
};

TEST_F(RotatingTokensTest, DoesNotRefreshBeforeTheMargin) {
  const auto tokens = Open();
  clock_.Advance(seconds(kLife) - hours(4) - seconds(1));
  tokens->Step();
  EXPECT_EQ(refreshes(), 0u);
  EXPECT_EQ(TokenOf(*tokens), kFirstAccess);
}

// Spec: 001-73
TEST_F(RotatingTokensTest, RefreshesATokenWithinTheMargin) {
  const auto tokens = Open();
  EnterTheMargin();
  tokens->Step();
  EXPECT_EQ(refreshes(), 1u);
  EXPECT_NE(TokenOf(*tokens), kFirstAccess);
  EXPECT_TRUE(IsGood(*tokens));
  // Not again before the next margin; then with the new refresh token.
  tokens->Step();
  EXPECT_EQ(refreshes(), 1u);
  clock_.Advance(seconds(kLife) - hours(4));
  tokens->Step();
  EXPECT_EQ(refreshes(), 2u);
  EXPECT_TRUE(IsGood(*tokens));
}

// The next process continues with the pair on disk.
// Spec: 001-73
TEST_F(RotatingTokensTest, WritesTheNewPairToDisk) {
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
TEST_F(RotatingTokensTest, KeepsThePairAfterAFailedRefreshAndTriesAgain) {
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
  EXPECT_THAT(log_.str(), HasSubstr("the bot token could not be refreshed"));
}

// Slack has exchanged the pair, but we did not get the new one. The old access token is used until
// it expires, and a pair that an operator installs is used. Spec: 001-73
TEST_F(RotatingTokensTest, KeepsTheOldRefreshTokenAfterALostReply) {
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

// A full disk must not lose the new pair: Slack gives it only once.
// Spec: 001-73
TEST_F(RotatingTokensTest, SavesThePairLaterWhenWritingFails) {
  const auto tokens = Open();
  EnterTheMargin();
  // A folder has the name of the new file, so it cannot be written.
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

// Two processes share the file: one refreshes, and both use the new token.
TEST_F(RotatingTokensTest, RefreshesOnceWhenProcessesShareTheFile) {
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

// If the folder is not writable, the token would expire without a warning.
// Spec: 001-73
TEST_F(RotatingTokensTest, ReportsALockFileThatCannotBeCreatedAndTriesAgain) {
  const auto tokens = Open();
  EnterTheMargin();
  std::filesystem::create_directory(path_ + ".lock");
  tokens->Step();
  tokens->Step();  // Too early.
  EXPECT_EQ(refreshes(), 0u);
  const std::string log = log_.str();
  const size_t said = log.find("the bot token could not be refreshed");
  EXPECT_NE(said, std::string::npos) << log;
  EXPECT_EQ(log.find("the bot token could not be refreshed", said + 1), std::string::npos) << log;
  EXPECT_THAT(log, HasSubstr("pair.json.lock"));
  std::filesystem::remove(path_ + ".lock");
  RetryLater();
  tokens->Step();
  EXPECT_EQ(refreshes(), 1u);
  EXPECT_TRUE(IsGood(*tokens));
}

// Rows that were verified with another token must not be used.
TEST_F(RotatingTokensTest, TheGenerationChangesWithTheToken) {
  const auto tokens = Open();
  const std::string before = tokens->Find(Team())->generation;
  EnterTheMargin();
  tokens->Step();
  EXPECT_NE(tokens->Find(Team())->generation, before);
}

TEST_F(RotatingTokensTest, NeedsAFileAndClientCredentials) {
  const auto open = [&](RotatingTokensOptions options) {
    const auto tokens = RotatingTokens::Open(std::move(options), web_api_.get(), runtime());
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
