#include "servers/api/api_tokens.h"

#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

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
    return tokens.Authenticate({header});
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
};

TEST_F(ApiTokensTest, LetsInWhoShowsTheTokenThatWasMade) {
  const std::string token = Create("ci");
  TokenFile tokens(path_, clock_);
  EXPECT_EQ(Ask(tokens, token), "ci");
}

// The file may be read by somebody it was not meant for; it must not let him in.
TEST_F(ApiTokensTest, KeepsAHashAndNotTheToken) {
  const std::string token = Create("ci");
  EXPECT_EQ(FileText().find(token), std::string::npos);
  EXPECT_EQ(FileText().find(token.substr(token.rfind('_') + 1)), std::string::npos);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(ApiTokensTest, LetsInNobodyElse) {
  const std::string token = Create("ci");
  TokenFile tokens(path_, clock_);
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

TEST_F(ApiTokensTest, LetsInNobodyWithoutAFile) {
  const std::string token = CreateToken(path_ + "-other", "ci", clock_, random_).value();
  TokenFile tokens(path_, clock_);
  EXPECT_EQ(Ask(tokens, token), std::nullopt);
}

// A server that runs must not need a restart for a token to come or go.
TEST_F(ApiTokensTest, SeesTokensComeAndGoWithinASecond) {
  TokenFile tokens(path_, clock_);
  EXPECT_EQ(Ask(tokens, "tm_000000000000_0"), std::nullopt);
  const std::string token = Create("ci");
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Ask(tokens, token), "ci");
  ASSERT_TRUE(RevokeToken(path_, "ci"));
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

// A token that was printed and is not in the file is no token.
TEST_F(ApiTokensTest, LosesNoneOfSeveralThatAreMadeAtTheSameTime) {
  constexpr int kThreads = 8;
  testing::RunThreads(kThreads, [&](int thread) {
    SystemRandom random;
    EXPECT_TRUE(CreateToken(path_, "t" + std::to_string(thread), clock_, random));
  });
  EXPECT_EQ(ListTokens(path_)->size(), static_cast<size_t>(kThreads));
}

}  // namespace
}  // namespace tidemark::api
