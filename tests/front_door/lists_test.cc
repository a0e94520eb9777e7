// Slack's lists through the front door: names, people and emoji.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/front_door/workspace_stage.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using ListsTest = WorkspaceTest;

// Review: A8, A14
TEST_F(ListsTest, PeopleAndEmojiAreListed) {
  Open({.users = 30, .channels = 10, .archived = 1}, {.largest = 10});
  for (int i = 0; i < 5; ++i) Pass();
  std::string cursor;
  size_t found = 0;
  do {
    const auto page = JsonDocument::Parse(Get("/people?limit=20" + cursor)).value();
    found += page.root().Find("people")->Size();
    const std::string next = TextIn(page.root(), "cursor");
    cursor = next.empty() ? "" : "&cursor=" + next;
  } while (!cursor.empty());
  EXPECT_EQ(found, 32u) << "with the bot and Slackbot";
  EXPECT_THAT(Get("/people/" + people_[0].id), HasSubstr(people_[0].real_name));
  EXPECT_THAT(Get("/people/U0NOBODY"), HasSubstr("has nothing about user"));
  EXPECT_THAT(Get("/channels"), Not(HasSubstr(channels_[0].id))) << "without events, no channel";
  ASSERT_EQ(door_
                ->Send(FrontDoor::Callback(
                    "Ev1", {.team = team_},
                    R"({"type":"emoji_changed","subtype":"add","name":"tide",)"
                    R"("value":"https://e/1.png","event_ts":"1700000001.000100"})"))
                .status,
            200);
  EXPECT_EQ(Get("/emoji"), R"({"emoji":[{"name":"tide","value":"https://e/1.png"}]})");
  ASSERT_EQ(door_
                ->Send(FrontDoor::Callback(
                    "Ev2", {.team = team_},
                    R"({"type":"emoji_changed","subtype":"remove","names":["tide"],)"
                    R"("event_ts":"1700000002.000100"})"))
                .status,
            200);
  EXPECT_EQ(Get("/emoji"), R"({"emoji":[]})");
}

// The name of a channel that no list has yet comes from its look-up.
// Review: A8
TEST_F(ListsTest, ALookedUpChannelHasItsName) {
  Open({.users = 5, .channels = 3, .archived = 0}, {});
  ASSERT_EQ(Post(1), 200) << "before any list is read";
  door_->slack().Fail("conversations.list", {.kind = demo::FailureKind::kServerError}, 100);
  Pass();
  EXPECT_THAT(Get("/channels/" + Place(1).id), HasSubstr(Place(1).name));
  EXPECT_EQ(door_->slack().calls("conversations.info"), 1u);
}

// The first list was read while our clock was an hour ahead.
TEST_F(ListsTest, ANewNameIsShownOnceItsDateIsLater) {
  const EpochSeconds now = clock_.NowSeconds();
  clock_.SetNow(now + 3600);
  Open({.users = 5, .channels = 3, .archived = 0}, {});
  for (int i = 0; i < 3; ++i) Pass();
  ASSERT_THAT(Get("/people/" + people_[0].id), HasSubstr(people_[0].real_name));
  clock_.SetNow(now);
  demo::User renamed = people_[0];
  renamed.real_name = "Somebody Else";
  door_->slack().Apply({.users = {renamed}});
  for (const size_t n : {1, 2}) {
    clock_.Advance(std::chrono::seconds(2000));
    ASSERT_EQ(Post(n), 200);
    for (int i = 0; i < 3; ++i) Pass();
  }
  EXPECT_THAT(Get("/people/" + people_[0].id), HasSubstr("Somebody Else"));
}

const Secret kRightToken{std::string(FrontDoor::kBotToken)};
const Secret kWrongToken{std::string("xoxb-revoked")};

// A token that Slack refuses does not keep the lists of other teams from being read.
TEST_F(ListsTest, ARefusedTokenDoesNotHoldUpTheOthers) {
  const demo::Workspace workspace = demo::MakeWorkspace({});
  const auto team = slack::TeamId::Parse(workspace.team.id).value();
  FrontDoor door(
      [&](api::ServiceOptions* options) {
        options->bot_token = kWrongToken;
        options->team_tokens = {{team, kRightToken}};
      },
      FrontDoor::Surroundings{.workspace = workspace});
  ASSERT_TRUE(door.service().WorkOnce());
  EXPECT_EQ(door.slack().calls("users.list"), 1u);
}

// The lists would be read with the token of another team.
TEST_F(ListsTest, ATokenUnderTheWrongTeamIsAnError) {
  FrontDoor door([&](api::ServiceOptions* options) {
    options->bot_token = kWrongToken;
    options->team_tokens = {{slack::TeamId::Parse("T0OTHER").value(), kRightToken}};
  });
  ASSERT_TRUE(door.service().WorkOnce());
  EXPECT_EQ(door.slack().calls("users.list"), 0u);
  EXPECT_THAT(door.log(), HasSubstr("correct slack.bot-tokens"));
  EXPECT_THAT(door.log(), HasSubstr("team=" + door.real_ids().team));
}

}  // namespace
}  // namespace tidemark::testing
