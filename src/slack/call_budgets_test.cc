#include "slack/call_budgets.h"

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark::slack {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct CallBudgetsTest : ::testing::Test {
  static Secret Token(std::string text = "xoxb-one") { return Secret(std::move(text)); }
  bool Take(ApiMethod method = ApiMethod::kUsersInfo) { return budgets.Take(Token(), method); }

  ManualClock clock;
  CallBudgets budgets{{3, 3, 3, 3, 3}, 2, &clock};
};

TEST_F(CallBudgetsTest, AllowsTheBudgetInAnyMinute) {
  EXPECT_TRUE(Take());
  clock.Advance(seconds(30));
  EXPECT_TRUE(Take());
  EXPECT_TRUE(Take());
  EXPECT_FALSE(Take());
  clock.Advance(milliseconds(29'999));
  EXPECT_FALSE(Take());
  clock.Advance(milliseconds(1));
  EXPECT_TRUE(Take()) << "the first call is a minute old";
  EXPECT_FALSE(Take()) << "the other two are not";
}

// Slack limits each method and each workspace on its own.
TEST_F(CallBudgetsTest, CountsMethodsAndTokensApart) {
  while (Take()) {
  }
  EXPECT_TRUE(Take(ApiMethod::kTeamInfo));
  EXPECT_TRUE(budgets.Take(Token("xoxb-two"), ApiMethod::kUsersInfo));
}

TEST_F(CallBudgetsTest, PausesAsLongAsAsked) {
  budgets.Rest(Token(), ApiMethod::kUsersInfo, seconds(30));
  budgets.Rest(Token(), ApiMethod::kUsersInfo, seconds(5));
  EXPECT_FALSE(Take());
  EXPECT_TRUE(Take(ApiMethod::kTeamInfo));
  clock.Advance(milliseconds(29'999));
  EXPECT_FALSE(Take());
  clock.Advance(milliseconds(1));
  EXPECT_TRUE(Take());
}

// Setting the wall clock must not change a budget.
TEST_F(CallBudgetsTest, IgnoresTheWallClock) {
  while (Take()) {
  }
  clock.SetNow(2'000'000'000);
  EXPECT_FALSE(Take());
}

// A token with recent calls is not forgotten to make room; an idle one is.
TEST_F(CallBudgetsTest, LimitsTheNumberOfTokens) {
  EXPECT_TRUE(budgets.Take(Token("one"), ApiMethod::kUsersInfo));
  budgets.Rest(Token("two"), ApiMethod::kUsersInfo, seconds(90));
  EXPECT_FALSE(budgets.Take(Token("three"), ApiMethod::kUsersInfo));
  clock.Advance(seconds(60));
  EXPECT_TRUE(budgets.Take(Token("three"), ApiMethod::kUsersInfo));
  EXPECT_FALSE(budgets.Take(Token("two"), ApiMethod::kUsersInfo)) << "it still rests";
  EXPECT_FALSE(budgets.Take(Token("four"), ApiMethod::kUsersInfo));
}

TEST_F(CallBudgetsTest, NamesMethodsAsSlackDoes) {
  EXPECT_EQ(ToString(ApiMethod::kTeamInfo), "team.info");
  EXPECT_EQ(ToString(ApiMethod::kUsersInfo), "users.info");
  EXPECT_EQ(ToString(ApiMethod::kConversationsInfo), "conversations.info");
  EXPECT_EQ(ToString(ApiMethod::kFilesInfo), "files.info");
  EXPECT_EQ(ToString(ApiMethod::kAuthTest), "auth.test");
  EXPECT_EQ(ToString(ApiMethod::kConversationsList), "conversations.list");
  EXPECT_EQ(ToString(ApiMethod::kUsersList), "users.list");
}

}  // namespace
}  // namespace tidemark::slack
