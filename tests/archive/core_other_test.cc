// Reactions, pins, people, teams, emoji and coverage: the rows beside messages and channels.
#include <string>

#include "tests/archive/archive_world.h"

namespace tidemark::archive {
namespace {

constexpr const char* kTs = "1620000000.000200";

std::string At(int second) { return fmt::format("16200000{:02}.000000", second); }

class OtherRowsTest : public ::testing::Test {
 protected:
  // Makes the channel one that is kept.
  OtherRowsTest() { world.Post(Posted(kTs, "x")); }

  std::string Reaction(std::string_view type, int second, std::string_view name = "+1") {
    return fmt::format(R"({{"type":"reaction_{}","user":"U1X","reaction":"{}","event_ts":"{}",)"
                       R"("item":{{"type":"message","channel":"C1X","ts":"{}"}}}})",
                       type, name, At(second), kTs);
  }
  std::string Pin(std::string_view type, int second) {
    return fmt::format(R"({{"type":"pin_{}","user":"U1X","channel_id":"C1X","event_ts":"{}",)"
                       R"("item":{{"type":"message","message":{{"ts":"{}"}}}}}})",
                       type, At(second), kTs);
  }
  std::string User(int second, std::string_view display_name, std::string_view more = "") {
    return fmt::format(R"({{"type":"user_change","event_ts":"{}","user":{{"id":"U1X","name":"ann",)"
                       R"("real_name":"Ann","deleted":false,"is_bot":false,)"
                       R"("profile":{{"display_name":"{}","fields":[],)"
                       R"("image_192":"https://a/192"}}{}}}}})",
                       At(second), display_name, more);
  }
  size_t RowsOf(const std::string& item_id) {
    const auto page = world.tables().Query(
        {.table = "SlackArchive", .key_condition = "itemId = :id", .values = {{":id", item_id}}});
    return page->items.size();
  }
  ArchiveWorld world;
};

// Spec: 001-14
TEST_F(OtherRowsTest, AReactionIsARowThatTheNewestEventWins) {
  const std::string key = std::string(kTs) + "#+1#U1X";
  EXPECT_EQ(world.Post(Reaction("added", 1)), Outcome::kStored);
  EXPECT_EQ(world.Row("meta#T1X#reactions#C1X", key),
            (item::Item{{"itemId", "meta#T1X#reactions#C1X"},
                        {"timestamp", key},
                        {"type", "reaction"},
                        {"ts", kTs},
                        {"reaction", "+1"},
                        {"user", "U1X"},
                        {"event_ts", At(1)}}));
  EXPECT_EQ(world.Post(Reaction("removed", 3)), Outcome::kStored);
  EXPECT_EQ(world.Post(Reaction("added", 2)), Outcome::kUnchanged);
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#reactions#C1X", key), "removed"));
  EXPECT_EQ(world.Post(Reaction("added", 4)), Outcome::kStored);
  EXPECT_FALSE(world.Row("meta#T1X#reactions#C1X", key).Contains("removed"));
}

TEST_F(OtherRowsTest, ReactionsToFilesAreNotKept) {
  EXPECT_EQ(world.Post(R"({"type":"reaction_added","user":"U1X","reaction":"a",)"
                       R"("event_ts":"1620000001.000000","item":{"type":"file","file":"F1"}})"),
            Outcome::kNotKept);
}

TEST_F(OtherRowsTest, ListenersThatRaceLoseNoReaction) {
  world.Post(Reaction("added", 1));
  Plan removed = world.PlanOf(Reaction("removed", 2));
  Plan added = world.PlanOf(Reaction("added", 3));
  EXPECT_TRUE(world.Write(std::move(added)));
  EXPECT_FALSE(world.Write(std::move(removed)));
}

// Spec: 001-14
TEST_F(OtherRowsTest, APinIsARowThatTheNewestEventWins) {
  world.Post(Pin("removed", 3));
  EXPECT_EQ(world.Post(Pin("added", 2)), Outcome::kUnchanged);
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#pins#C1X", kTs), "removed"));
  world.Post(Pin("added", 4));
  EXPECT_EQ(world.Row("meta#T1X#pins#C1X", kTs), (item::Item{{"itemId", "meta#T1X#pins#C1X"},
                                                             {"timestamp", kTs},
                                                             {"type", "pin"},
                                                             {"ts", kTs},
                                                             {"user", "U1X"},
                                                             {"event_ts", At(4)}}));
}

// A status changes many times a day, and is not shown.
TEST_F(OtherRowsTest, APersonHasANewRowWhenWhatIsShownChanges) {
  EXPECT_EQ(world.Post(User(1, "ann")), Outcome::kStored);
  EXPECT_EQ(world.Row("meta#T1X#user#U1X", At(1)), (item::Item{{"itemId", "meta#T1X#user#U1X"},
                                                               {"timestamp", At(1)},
                                                               {"type", "user"},
                                                               {"name", "ann"},
                                                               {"real_name", "Ann"},
                                                               {"display_name", "ann"},
                                                               {"avatar", "https://a/192"}}));
  EXPECT_EQ(world.Post(User(2, "ann", R"(,"status_text":"lunch")")), Outcome::kUnchanged);
  EXPECT_EQ(world.Post(User(4, "anna")), Outcome::kStored);
  EXPECT_EQ(world.Post(User(4, "anna")), Outcome::kUnchanged);
  // Late, and different from what was shown then.
  EXPECT_EQ(world.Post(User(3, "annie")), Outcome::kStored);
  EXPECT_EQ(RowsOf("meta#T1X#user#U1X"), 3U);
}

TEST_F(OtherRowsTest, APersonMayHaveLeft) {
  world.Post(R"({"type":"team_join","event_ts":"1620000001.000000",)"
             R"("user":{"id":"U2X","deleted":true,"is_bot":true,"profile":null}})");
  const item::Item row = world.Row("meta#T1X#user#U2X", At(1));
  EXPECT_TRUE(IsTrueIn(row, "deactivated"));
  EXPECT_TRUE(IsTrueIn(row, "is_bot"));
}

// Spec: 001-14
TEST_F(OtherRowsTest, ATeamAndItsEmojiAreRowsFromThenOn) {
  world.Post(R"({"type":"team_rename","name":"Acme","event_ts":"1620000001.000000"})");
  world.Post(R"({"type":"team_domain_change","domain":"acme","url":"https://acme.slack.com",)"
             R"("event_ts":"1620000002.000000"})");
  EXPECT_EQ(TextIn(world.Row("meta#T1X#team", At(1)), "name"), "Acme");
  EXPECT_EQ(TextIn(world.Row("meta#T1X#team", At(2)), "domain"), "acme");
  world.Post(R"({"type":"emoji_changed","subtype":"add","name":"parrot","value":"https://p",)"
             R"("event_ts":"1620000003.000000"})");
  world.Post(R"({"type":"emoji_changed","subtype":"rename","old_name":"parrot",)"
             R"("new_name":"bird","value":"https://p","event_ts":"1620000004.000000"})");
  const std::string remove = R"({"type":"emoji_changed","subtype":"remove","names":["bird","b"],)"
                             R"("event_ts":"1620000005.000000"})";
  world.Post(remove);
  EXPECT_EQ(world.Post(remove), Outcome::kUnchanged);
  EXPECT_EQ(TextIn(world.Row("meta#T1X#emoji#parrot", At(3)), "value"), "https://p");
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#emoji#parrot", At(4)), "removed"));
  EXPECT_EQ(TextIn(world.Row("meta#T1X#emoji#bird", At(4)), "value"), "https://p");
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#emoji#bird", At(5)), "removed"));
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#emoji#b", At(5)), "removed"));
}

std::string Member(std::string_view type, std::string_view user, std::string_view event_ts) {
  return fmt::format(R"({{"type":"member_{}_channel","user":"{}","channel":"C1X",)"
                     R"("channel_type":"C","event_ts":"{}"}})",
                     type, user, event_ts);
}

// Events of a channel come while the bot is in it: that is when the archive can be whole.
// Spec: 001-14
TEST_F(OtherRowsTest, CoverageBeginsAndEndsWithTheBot) {
  EXPECT_EQ(world.Post(Member("joined", "U1X", At(1))), Outcome::kNotKept);
  EXPECT_EQ(world.Post(Member("joined", "UBOT", At(1))), Outcome::kStored);
  EXPECT_EQ(world.Post(Member("joined", "UBOT", At(1))), Outcome::kUnchanged);
  EXPECT_EQ(world.Post(Member("left", "UBOT", At(2))), Outcome::kStored);
  EXPECT_EQ(world.Post(R"({"type":"channel_left","channel":"C1X","event_ts":")" + At(3) + R"("})"),
            Outcome::kStored);
  const item::Item began = world.Row("meta#T1X#coverage#C1X", At(1) + "#began");
  EXPECT_EQ(TextIn(began, "type"), "coverage");
  EXPECT_EQ(TextIn(began, "kind"), "began");
  EXPECT_EQ(TextIn(began, "from"), At(1));
  EXPECT_FALSE(world.Row("meta#T1X#coverage#C1X", At(2) + "#ended").empty());
  EXPECT_FALSE(world.Row("meta#T1X#coverage#C1X", At(3) + "#ended").empty());
}

TEST_F(OtherRowsTest, CoverageOfAllChannelsEndsWithTheApp) {
  const auto revoked = [](std::string_view tokens, int second) {
    return fmt::format(R"({{"type":"tokens_revoked","tokens":{},"event_ts":"{}"}})", tokens,
                       At(second));
  };
  EXPECT_EQ(world.Post(revoked(R"({"oauth":["U1X"],"bot":[]})", 1)), Outcome::kNotKept);
  EXPECT_EQ(world.Post(revoked(R"({"bot":["UBOT"]})", 2)), Outcome::kStored);
  EXPECT_EQ(world.Post(R"({"type":"app_uninstalled","event_ts":")" + At(3) + R"("})"),
            Outcome::kStored);
  EXPECT_FALSE(world.Row("meta#T1X#coverage", At(2) + "#ended").empty());
  EXPECT_FALSE(world.Row("meta#T1X#coverage", At(3) + "#ended").empty());
}

}  // namespace
}  // namespace tidemark::archive
