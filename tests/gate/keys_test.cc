// The cache keys of triples, and ids that are refused before anything else happens.
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "apps/gate/existence.h"
#include "base/random.h"
#include "tests/gate/gate_stage.h"

namespace tidemark::gate {

using namespace testing;

// Spec: 000-01
TEST(CacheKeyTest, JoinsTeamUserAndChannelInThisOrder) {
  EXPECT_EQ(CacheKey(Triple("U01234567", "C01234567", "T01234567")).value(),
            "T01234567#U01234567#C01234567");
}

// Short ids of different lengths would collide if they were joined without a separator.
// Spec: 000-02
TEST(CacheKeyTest, DiffersBetweenTriples) {
  SeededRandom random(7);
  auto id = [&](char prefix) {
    std::string text(1, prefix);
    for (uint64_t i = random.Below(3) + 2; i > 0; --i) text += "UCT1"[random.Below(4)];
    return text;
  };
  std::set<std::tuple<std::string, std::string, std::string>> triples;
  std::set<std::string> keys;
  for (int i = 0; i < 20'000; ++i) {
    auto [team, user, channel] = std::tuple(id('T'), id('U'), id('C'));
    if (random.Below(5) == 0) user.clear();
    if (random.Below(5) == 0) channel.clear();
    triples.insert({team, user, channel});
    keys.insert(CacheKey(Triple(user, channel, team)).value());
  }
  EXPECT_EQ(keys.size(), triples.size());
}

// Otherwise an id that contains the separator would be read as two ids.
// Spec: 000-03
TEST(CacheKeyTest, RefusesMalformedIdsBeforeAskingSlack) {
  for (const std::string bad : {"u01234567", "U0123 567", "U0123#567", "U0123_567"}) {
    for (const std::string field : {"team_id", "user_id", "channel_id"}) {
      GateStage stage;
      slack::EventCallback callback = Message();
      std::string& id = field == "team_id"   ? callback.team_id
                        : field == "user_id" ? callback.event.user
                                             : callback.event.channel;
      id = bad;
      id[0] = field == "team_id" ? 'T' : field == "user_id" ? 'U' : 'C';
      if (bad[0] == 'u') id[3] = 'x';
      Verdict verdict = stage.gate->CheckExistence(callback, "request-1");
      EXPECT_EQ(verdict, Refused(Reason::kBadId)) << id;
      EXPECT_NE(verdict.detail.find(field), std::string::npos) << verdict.detail;
      EXPECT_EQ(stage.reads + stage.writes + stage.slack.sets(), 0) << id;
    }
  }
  EXPECT_EQ(slack::TeamId::Parse("").error().code, ErrorCode::kInvalid);
  EXPECT_NE(slack::UserId::Parse("").error().message.find("user_id"), std::string::npos);
}

// Spec: 000-04
TEST(CacheKeyTest, RefusesIdsOfAnotherKind) {
  for (auto [team, user, channel] :
       {std::tuple("C01234567", kUser, kChannel), std::tuple(kTeam, "C01234567", kChannel),
        std::tuple(kTeam, kUser, "U01234567")}) {
    GateStage stage;
    slack::EventCallback callback = Message();
    callback.team_id = team;
    callback.event.user = user;
    callback.event.channel = channel;
    EXPECT_EQ(stage.gate->CheckExistence(callback, ""), Refused(Reason::kBadId));
    EXPECT_EQ(stage.reads + stage.writes + stage.slack.sets(), 0);
  }
  for (const char* id : {"T01234567", "E01234567"}) EXPECT_TRUE(slack::TeamId::Parse(id)) << id;
  for (const char* id : {"U01234567", "W01234567"}) EXPECT_TRUE(slack::UserId::Parse(id)) << id;
  for (const char* id : {"C01234567", "G01234567", "D01234567"}) {
    EXPECT_TRUE(slack::ChannelId::Parse(id)) << id;
  }
}

// Each id is within its own limit; together they are too long.
// Spec: 000-05
TEST(CacheKeyTest, RefusesAKeyOfMoreThanAHundredCharacters) {
  auto id = [](char prefix, size_t length) { return prefix + std::string(length - 1, '1'); };
  Subject longest = Triple(id('U', 33), id('C', 33), id('T', 32));
  EXPECT_EQ(CacheKey(longest).value().size(), 100U);
  Subject too_long = Triple(id('U', 33), id('C', 33), id('T', 33));
  EXPECT_EQ(CacheKey(too_long).error().code, ErrorCode::kInvalid);

  Stage stage;
  EXPECT_EQ(stage.existence->Check(longest), Allowed(Reason::kVerified));
  int sets = stage.slack.sets();
  EXPECT_EQ(stage.existence->Check(too_long), Refused(Reason::kBadId));
  EXPECT_EQ(stage.slack.sets(), sets);
}

// Spec: 000-06
TEST(CacheKeyTest, WithoutAUserTheMiddleIsEmpty) {
  Stage stage;
  EXPECT_EQ(stage.existence->Check(Triple("", kChannel)), Allowed(Reason::kVerified));
  EXPECT_TRUE(stage.Row("T01234567##C01234567"));
  // A full key has a user between its separators, so it never has two side by side.
  EXPECT_EQ(CacheKey(Triple()).value().find("##"), std::string::npos);
  // The partial verdict says nothing about the user.
  EXPECT_EQ(stage.existence->Check(Triple()).reason, Reason::kVerified);
}

TEST(CacheKeyTest, RefusesAMissingUserWhenPartialChecksAreOff) {
  Stage stage({.existence = {.partial = false}});
  EXPECT_EQ(stage.existence->Check(Triple("", kChannel)), Refused(Reason::kNoIds));
  EXPECT_EQ(stage.existence->Check(Triple(kUser, "")), Refused(Reason::kNoIds));
  EXPECT_EQ(stage.existence->Check(Triple()), Allowed(Reason::kVerified));
}

// Accepting such events would bypass the existence check.
// Spec: 000-07
TEST(CacheKeyTest, RefusesAnEventWithoutIds) {
  GateStage stage;
  slack::EventCallback callback{.event = {.type = "message"}};
  EXPECT_EQ(stage.gate->CheckExistence(callback, "request-1"), Refused(Reason::kNoIds));
  EXPECT_FALSE(stage.Row("##"));
  EXPECT_TRUE(stage.AllRows(std::string(kDefaultCacheTable)).empty());
  EXPECT_EQ(stage.slack.sets(), 0);
}

}  // namespace tidemark::gate
