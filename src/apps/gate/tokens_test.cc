#include "apps/gate/tokens.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace tidemark::gate {

slack::TeamId Team(const char* id) { return slack::TeamId::Parse(id).value(); }
Secret Token(const char* text) { return Secret(std::string(text)); }

TEST(FixedTokensTest, ATeamsOwnTokenComesBeforeTheOneForAll) {
  std::map<std::string, Secret> by_team;
  by_team.emplace("T01", Token("xoxb-one"));
  FixedTokens tokens(Token("xoxb-all"), std::move(by_team));
  EXPECT_TRUE(tokens.Find(Team("T01"))->token == Token("xoxb-one"));
  EXPECT_TRUE(tokens.Find(Team("T02"))->token == Token("xoxb-all"));
}

TEST(FixedTokensTest, WithoutATokenThereIsNone) {
  FixedTokens tokens(std::nullopt, {});
  EXPECT_FALSE(tokens.Find(Team("T01")));
}

// Rows carry the generation: it must tell tokens apart, and not be one.
TEST(FixedTokensTest, TheGenerationChangesWithTheTokenAndDoesNotShowIt) {
  Credential one = *FixedTokens(Token("xoxb-one"), {}).Find(Team("T01"));
  Credential same = *FixedTokens(Token("xoxb-one"), {}).Find(Team("T02"));
  Credential two = *FixedTokens(Token("xoxb-two"), {}).Find(Team("T01"));
  EXPECT_EQ(one.generation, same.generation);
  EXPECT_NE(one.generation, two.generation);
  EXPECT_EQ(one.generation.size(), 16U);
  EXPECT_EQ(one.generation.find("xoxb"), std::string::npos);
}

struct FileTokensTest : testing::Test {
  void Write(const char* text) { std::ofstream(path) << text; }
  std::string Now() {
    clock.Advance(std::chrono::seconds(1));
    return std::string(tokens->Find(Team("T01"))->token.Reveal());
  }
  void Open() { tokens = FileTokens::Open(path, &clock, &logger).value(); }

  TempFolder folder;
  const std::string path = folder.path() + "/token";
  ManualClock clock;
  std::ostringstream log;
  Logger logger{{}, clock, &log};
  std::unique_ptr<FileTokens> tokens;
};

// Who rotates a token by hand writes the file, and need not restart anything.
// Spec: 001-73
TEST_F(FileTokensTest, ATokenIsRotatedWithoutARestart) {
  Write("xoxb-first\n");
  Open();
  const std::string generation = tokens->Find(Team("T01"))->generation;
  EXPECT_EQ(Now(), "xoxb-first");
  Write("xoxb-second-one\n");
  EXPECT_EQ(Now(), "xoxb-second-one");
  EXPECT_NE(tokens->Find(Team("T02"))->generation, generation);
}

// An editor empties a file before it writes it.
TEST_F(FileTokensTest, WhileTheFileHoldsNoTokenTheOneOfBeforeCounts) {
  Write("xoxb-canary");
  Open();
  Write("");
  EXPECT_EQ(Now(), "xoxb-canary");
  std::filesystem::remove(path);
  EXPECT_EQ(Now(), "xoxb-canary");
  Write("xoxb-next");
  EXPECT_EQ(Now(), "xoxb-next");
  EXPECT_NE(log.str().find("was not read again"), std::string::npos);
  EXPECT_EQ(log.str().find("canary"), std::string::npos);
}

TEST_F(FileTokensTest, NeedsATokenAtFirst) {
  EXPECT_FALSE(FileTokens::Open(path, &clock, &logger));
  Write("two words");
  EXPECT_FALSE(FileTokens::Open(path, &clock, &logger));
}

}  // namespace tidemark::gate
