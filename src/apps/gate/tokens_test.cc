#include "apps/gate/tokens.h"

#include <utility>

#include <gtest/gtest.h>

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

}  // namespace tidemark::gate
