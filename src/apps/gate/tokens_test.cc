#include "apps/gate/tokens.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_runtime.h"

namespace tidemark::gate {

slack::TeamId Team(const char* id) { return slack::TeamId::Parse(id).value(); }
Secret Token(const char* text) { return Secret(std::string(text)); }

TEST(FixedTokensTest, FindsTheSameTokenForEveryTeam) {
  const FixedTokens tokens(Token("xoxb-all"));
  EXPECT_TRUE(tokens.Find(Team("T01"))->token == Token("xoxb-all"));
  EXPECT_TRUE(tokens.Find(Team("T02"))->token == Token("xoxb-all"));
}

TEST(FixedTokensTest, FindsNothingWithoutAToken) {
  const FixedTokens tokens(std::nullopt);
  EXPECT_FALSE(tokens.Find(Team("T01")));
}

// Rows contain the generation, so it must distinguish tokens without revealing them.
TEST(FixedTokensTest, TheGenerationChangesWithTheTokenAndDoesNotShowIt) {
  Credential one = *FixedTokens(Token("xoxb-one")).Find(Team("T01"));
  Credential same = *FixedTokens(Token("xoxb-one")).Find(Team("T02"));
  Credential two = *FixedTokens(Token("xoxb-two")).Find(Team("T01"));
  EXPECT_EQ(one.generation, same.generation);
  EXPECT_NE(one.generation, two.generation);
  EXPECT_EQ(one.generation.size(), 16U);
  EXPECT_EQ(one.generation.find("xoxb"), std::string::npos);
}

// Review: F15
TEST(TeamTokensTest, ATeamHasItsOwnTokenAndOthersTheCommonOne) {
  const TeamTokens tokens({{Team("T01"), Token("xoxb-one")}},
                          std::make_unique<FixedTokens>(Token("xoxb-all")));
  EXPECT_TRUE(tokens.Find(Team("T01"))->token == Token("xoxb-one"));
  EXPECT_TRUE(tokens.Find(Team("T02"))->token == Token("xoxb-all"));
  EXPECT_EQ(tokens.All().size(), 2u);
  const TeamTokens alone({{Team("T01"), Token("xoxb-one")}},
                         std::make_unique<FixedTokens>(std::nullopt));
  EXPECT_FALSE(alone.Find(Team("T02"))) << "another team's token is not used";
}

struct FileTokensTest : ::testing::Test {
  void Write(const char* text) { std::ofstream(path) << text; }
  std::string Now() {
    clock.Advance(std::chrono::seconds(1));
    return std::string(tokens->Find(Team("T01"))->token.Reveal());
  }
  void Open() { tokens = FileTokens::Open(path, test.runtime()).value(); }

  TempFolder folder;
  const std::string path = folder.path() + "/token";
  tidemark::testing::TestRuntime test;
  ManualClock& clock = test.clock;
  std::unique_ptr<FileTokens> tokens;
};

// An operator who replaces the token writes the file. No restart is needed.
// Spec: 001-73
TEST_F(FileTokensTest, ReadsAReplacedTokenWithoutARestart) {
  Write("xoxb-first\n");
  Open();
  const std::string generation = tokens->Find(Team("T01"))->generation;
  EXPECT_EQ(Now(), "xoxb-first");
  Write("xoxb-second-one\n");
  EXPECT_EQ(Now(), "xoxb-second-one");
  EXPECT_NE(tokens->Find(Team("T02"))->generation, generation);
}

// An editor empties a file before it writes it.
TEST_F(FileTokensTest, KeepsThePreviousTokenWhileTheFileHasNone) {
  Write("xoxb-canary");
  Open();
  Write("");
  EXPECT_EQ(Now(), "xoxb-canary");
  std::filesystem::remove(path);
  EXPECT_EQ(Now(), "xoxb-canary");
  Write("xoxb-next");
  EXPECT_EQ(Now(), "xoxb-next");
  const std::string log = test.TakeLog();
  EXPECT_NE(log.find("could not be read again"), std::string::npos);
  EXPECT_EQ(log.find("canary"), std::string::npos);
}

TEST_F(FileTokensTest, NeedsATokenWhenItIsOpened) {
  EXPECT_FALSE(FileTokens::Open(path, test.runtime()));
  Write("two words");
  EXPECT_FALSE(FileTokens::Open(path, test.runtime()));
}

}  // namespace tidemark::gate
