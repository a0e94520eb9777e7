#include "servers/api/api_tokens.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/threads.h"

namespace tidemark::api {
namespace {

class ApiTokensTest : public ::testing::Test {
 protected:
  std::string Create(const std::string& name) {
    return CreateToken(path_, name, clock_, random_).value();
  }
  std::optional<std::string> Ask(TokenFile& tokens, const std::string& token) {
    const std::string header = "Bearer " + token;
    const auto caller = tokens.Authenticate({header});
    return caller ? std::optional(caller->name) : std::nullopt;
  }
  std::string FileText() {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  TempFolder folder_;
  const std::string path_ = folder_.path() + "/tokens";
  ManualClock clock_;
  SystemRandom random_;
  std::ostringstream log_;
  Logger logger_{{}, clock_, &log_};
};

TEST_F(ApiTokensTest, AcceptsACreatedToken) {
  const std::string token = Create("ci");
  TokenFile tokens(path_, clock_, logger_);
  EXPECT_EQ(Ask(tokens, token), "ci");
}

// A loop asks, and must not wait for the disk.
TEST_F(ApiTokensTest, IsNotReadByCallersOnceAnotherThreadRefreshesIt) {
  const std::string token = Create("ci");
  TokenFile tokens(path_, clock_, logger_);
  tokens.Refresh();
  std::filesystem::remove(path_);
  clock_.Advance(std::chrono::hours(1));
  EXPECT_EQ(Ask(tokens, token), "ci") << "a caller has read the file";
  tokens.Refresh();
  EXPECT_EQ(Ask(tokens, token), std::nullopt);
}

// An attacker who reads the file must not get access.
TEST_F(ApiTokensTest, KeepsAHashAndNotTheToken) {
  const std::string token = Create("ci");
  EXPECT_EQ(FileText().find(token), std::string::npos);
  EXPECT_EQ(FileText().find(token.substr(token.rfind('_') + 1)), std::string::npos);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(ApiTokensTest, RefusesEverythingElse) {
  const std::string token = Create("ci");
  TokenFile tokens(path_, clock_, logger_);
  std::string wrong_end = token;
  wrong_end.back() = wrong_end.back() == '0' ? '1' : '0';
  EXPECT_EQ(Ask(tokens, wrong_end), std::nullopt);
  EXPECT_EQ(Ask(tokens, token + "0"), std::nullopt);
  EXPECT_EQ(Ask(tokens, token.substr(0, token.size() - 1)), std::nullopt);
  EXPECT_EQ(Ask(tokens, ""), std::nullopt);
  EXPECT_EQ(Ask(tokens, "tm_"), std::nullopt);
  EXPECT_EQ(Ask(tokens, "tm_" + std::string(100'000, '0')), std::nullopt);
  EXPECT_EQ(tokens.Authenticate({}), std::nullopt);
  EXPECT_EQ(tokens.Authenticate({token}), std::nullopt);
  const std::string header = "Bearer " + token;
  EXPECT_EQ(tokens.Authenticate({header, header}), std::nullopt);
}

TEST_F(ApiTokensTest, RefusesEveryTokenWithoutAFile) {
  const std::string token = CreateToken(path_ + "-other", "ci", clock_, random_).value();
  TokenFile tokens(path_, clock_, logger_);
  EXPECT_EQ(Ask(tokens, token), std::nullopt);
}

// A running server notices new and revoked tokens without a restart.
TEST_F(ApiTokensTest, NoticesNewAndRevokedTokensWithinASecond) {
  TokenFile tokens(path_, clock_, logger_);
  EXPECT_EQ(Ask(tokens, "tm_000000000000_0"), std::nullopt);
  const std::string token = Create("ci");
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Ask(tokens, token), "ci");
  ASSERT_TRUE(RevokeToken(path_, "ci"));
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Ask(tokens, token), std::nullopt);
}

// The hash of a valid token is not computed in every request, but again after the file was read.
TEST_F(ApiTokensTest, ATokenWhoseHashWasReplacedIsRefusedWithinASecond) {
  TokenFile tokens(path_, clock_, logger_);
  const std::string token = Create("ci");
  const TokenEntry entry = ListTokens(path_)->front();
  EXPECT_EQ(Ask(tokens, token), "ci");
  std::ofstream(path_) << entry.id << " ci " << std::string(64, '0') << " 1\n";
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Ask(tokens, token), std::nullopt);
}

TEST_F(ApiTokensTest, ListsInOrderAndRevokesByName) {
  Create("a");
  Create("b");
  ASSERT_TRUE(RevokeToken(path_, "a"));
  const auto entries = ListTokens(path_).value();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries.front().name, "b");
  EXPECT_EQ(entries.front().created_at, clock_.NowSeconds());
  EXPECT_EQ(RevokeToken(path_, "a").error().code, ErrorCode::kNotFound);
}

TEST_F(ApiTokensTest, RefusesNamesThatAreTakenOrWouldBreakTheFile) {
  Create("a");
  EXPECT_EQ(CreateToken(path_, "a", clock_, random_).error().code, ErrorCode::kInUse);
  for (const char* name : {"", "two words", "line\nend", "ä"}) {
    EXPECT_EQ(CreateToken(path_, name, clock_, random_).error().code, ErrorCode::kInvalid) << name;
  }
}

TEST_F(ApiTokensTest, SaysWhereTheFileIsDamaged) {
  Create("a");
  std::ofstream(path_, std::ios::app) << "half a line\n";
  const auto entries = ListTokens(path_);
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(entries.error().message.find("tokens:2"), std::string::npos);
}

// A malformed line, such as a half-written one, must not shut every caller out without a word.
// Review: F12
TEST_F(ApiTokensTest, ADamagedLineLeavesTheOtherTokensAndIsLoggedOnce) {
  const std::string token = Create("a");
  std::ofstream(path_, std::ios::app) << "half a line\n";
  TokenFile tokens(path_, clock_, logger_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Ask(tokens, token), "a");
    clock_.Advance(std::chrono::seconds(1));
  }
  const std::string log = log_.str();
  const size_t first = log.find("tokens:2");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("tokens:2", first + 1), std::string::npos) << log;
}

// A process without a free descriptor cannot open the file. The test uses a link to itself, which
// cannot be opened either.
// Review: F12
TEST_F(ApiTokensTest, AFileThatCannotBeReadKeepsTheTokensOfTheLastReading) {
  const std::string token = Create("a");
  TokenFile tokens(path_, clock_, logger_);
  EXPECT_EQ(Ask(tokens, token), "a");
  std::filesystem::remove(path_);
  std::filesystem::create_symlink(path_, path_);  // ELOOP: it is there and cannot be opened.
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Ask(tokens, token), "a");
  EXPECT_NE(log_.str().find("cannot be read"), std::string::npos) << log_.str();
  std::filesystem::remove(path_);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Ask(tokens, token), std::nullopt);
}

// A scope of a later version must not become a token for everything.
// Review: F9
TEST_F(ApiTokensTest, RefusesATokenWithAnUnknownScope) {
  const std::string token = Create("a");
  std::string line = FileText();
  line.pop_back();
  std::ofstream(path_) << line << " archive\n";
  TokenFile tokens(path_, clock_, logger_);
  EXPECT_EQ(Ask(tokens, token), std::nullopt);
}

// Review: F9
TEST_F(ApiTokensTest, KnowsWhichTokenIsForMetricsOnly) {
  const std::string token =
      CreateToken(path_, "prometheus", clock_, random_, TokenScope::kMetrics).value();
  Create("ci");
  TokenFile tokens(path_, clock_, logger_);
  const std::string header = "Bearer " + token;
  EXPECT_EQ(tokens.Authenticate({header}),
            (Caller{.name = "prometheus", .scope = TokenScope::kMetrics}));
  EXPECT_EQ(ListTokens(path_)->back().scope, TokenScope::kEverything);
}

// Review: F14
TEST_F(ApiTokensTest, TheSchemeHasNoCase) {
  const std::string token = Create("ci");
  TokenFile tokens(path_, clock_, logger_);
  const std::string header = "bearer " + token;
  EXPECT_TRUE(tokens.Authenticate({header}).has_value());
}

// A token that was printed must be in the file.
TEST_F(ApiTokensTest, KeepsAllTokensThatAreCreatedAtTheSameTime) {
  constexpr int kThreads = 8;
  testing::RunThreads(kThreads, [&](int thread) {
    SystemRandom random;
    EXPECT_TRUE(CreateToken(path_, "t" + std::to_string(thread), clock_, random));
  });
  EXPECT_EQ(ListTokens(path_)->size(), static_cast<size_t>(kThreads));
}

}  // namespace
}  // namespace tidemark::api
