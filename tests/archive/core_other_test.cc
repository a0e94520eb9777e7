// Reactions, pins, people, teams, emoji and coverage: the rows beside messages and channels.
#include <string>

#include "tests/archive/archive_world.h"

namespace tidemark::archive {
namespace {

constexpr const char* kOtherTs = "1620000000.000200";

std::string AtOther(int second) { return fmt::format("16200000{:02}.000000", second); }

class OtherRowsTest : public ::testing::Test {
 protected:
  // Makes the channel public, so that it is kept.
  OtherRowsTest() { world.Post(Posted(kOtherTs, "x")); }

  std::string Reaction(std::string_view type, int second, std::string_view name = "+1") {
    return fmt::format(R"({{"type":"reaction_{}","user":"U1X","reaction":"{}","event_ts":"{}",)"
                       R"("item":{{"type":"message","channel":"C1X","ts":"{}"}}}})",
                       type, name, AtOther(second), kOtherTs);
  }
  std::string Pin(std::string_view type, int second) {
    return fmt::format(R"({{"type":"pin_{}","user":"U1X","channel_id":"C1X","event_ts":"{}",)"
                       R"("item":{{"type":"message","message":{{"ts":"{}"}}}}}})",
                       type, AtOther(second), kOtherTs);
  }
  std::string User(int second, std::string_view display_name, std::string_view more = "") {
    return fmt::format(R"({{"type":"user_change","event_ts":"{}","user":{{"id":"U1X","name":"ann",)"
                       R"("real_name":"Ann","deleted":false,"is_bot":false,)"
                       R"("profile":{{"display_name":"{}","fields":[],)"
                       R"("image_192":"https://a/192"}}{}}}}})",
                       AtOther(second), display_name, more);
  }
  size_t RowsOf(const std::string& item_id) {
    const auto page = world.tables().Query(
        {.table = "SlackArchive", .key_condition = "itemId = :id", .values = {{":id", item_id}}});
    return page->items.size();
  }
  ArchiveWorld world;
};

// Spec: 001-14
TEST_F(OtherRowsTest, TheNewestEventDecidesAboutAReaction) {
  const std::string key = std::string(kOtherTs) + "#+1#U1X";
  EXPECT_EQ(world.Post(Reaction("added", 1)), ArchiveOutcome::kStored);
  EXPECT_EQ(world.Row("meta#T1X#reactions#C1X", key),
            (item::Item{{"itemId", "meta#T1X#reactions#C1X"},
                        {"timestamp", key},
                        {"type", "reaction"},
                        {"ts", kOtherTs},
                        {"reaction", "+1"},
                        {"user", "U1X"},
                        {"event_ts", AtOther(1)}}));
  EXPECT_EQ(world.Post(Reaction("removed", 3)), ArchiveOutcome::kStored);
  EXPECT_EQ(world.Post(Reaction("added", 2)), ArchiveOutcome::kUnchanged);
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#reactions#C1X", key), "removed"));
  EXPECT_EQ(world.Post(Reaction("added", 4)), ArchiveOutcome::kStored);
  EXPECT_FALSE(world.Row("meta#T1X#reactions#C1X", key).Contains("removed"));
}

TEST_F(OtherRowsTest, ReactionsToFilesAreNotKept) {
  EXPECT_EQ(world.Post(R"({"type":"reaction_added","user":"U1X","reaction":"a",)"
                       R"("event_ts":"1620000001.000000","item":{"type":"file","file":"F1"}})"),
            ArchiveOutcome::kNotKept);
}

TEST_F(OtherRowsTest, ConcurrentListenersLoseNoReaction) {
  world.Post(Reaction("added", 1));
  Plan removed = world.PlanOf(Reaction("removed", 2));
  Plan added = world.PlanOf(Reaction("added", 3));
  EXPECT_TRUE(world.Write(std::move(added)));
  EXPECT_FALSE(world.Write(std::move(removed)));
}

// Spec: 001-14
TEST_F(OtherRowsTest, TheNewestEventDecidesAboutAPin) {
  world.Post(Pin("removed", 3));
  EXPECT_EQ(world.Post(Pin("added", 2)), ArchiveOutcome::kUnchanged);
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#pins#C1X", kOtherTs), "removed"));
  world.Post(Pin("added", 4));
  EXPECT_EQ(world.Row("meta#T1X#pins#C1X", kOtherTs), (item::Item{{"itemId", "meta#T1X#pins#C1X"},
                                                                  {"timestamp", kOtherTs},
                                                                  {"type", "pin"},
                                                                  {"ts", kOtherTs},
                                                                  {"user", "U1X"},
                                                                  {"event_ts", AtOther(4)}}));
}

// A status changes many times a day and is not kept.
TEST_F(OtherRowsTest, APersonGetsANewRowWhenWhatIsShownChanges) {
  EXPECT_EQ(world.Post(User(1, "ann")), ArchiveOutcome::kStored);
  EXPECT_EQ(world.Row("meta#T1X#user#U1X", AtOther(1)), (item::Item{{"itemId", "meta#T1X#user#U1X"},
                                                                    {"timestamp", AtOther(1)},
                                                                    {"type", "user"},
                                                                    {"name", "ann"},
                                                                    {"real_name", "Ann"},
                                                                    {"display_name", "ann"},
                                                                    {"avatar", "https://a/192"}}));
  EXPECT_EQ(world.Post(User(2, "ann", R"(,"status_text":"lunch")")), ArchiveOutcome::kUnchanged);
  EXPECT_EQ(world.Post(User(4, "anna")), ArchiveOutcome::kStored);
  EXPECT_EQ(world.Post(User(4, "anna")), ArchiveOutcome::kUnchanged);
  // Late, and different from the row of that time.
  EXPECT_EQ(world.Post(User(3, "annie")), ArchiveOutcome::kStored);
  EXPECT_EQ(RowsOf("meta#T1X#user#U1X"), 3U);
}

TEST_F(OtherRowsTest, APersonMayHaveLeft) {
  world.Post(R"({"type":"team_join","event_ts":"1620000001.000000",)"
             R"("user":{"id":"U2X","deleted":true,"is_bot":true,"profile":null}})");
  const item::Item row = world.Row("meta#T1X#user#U2X", AtOther(1));
  EXPECT_TRUE(IsTrueIn(row, "deactivated"));
  EXPECT_TRUE(IsTrueIn(row, "is_bot"));
}

// Spec: 001-14
TEST_F(OtherRowsTest, ATeamAndItsEmojiGetARowForEachChange) {
  world.Post(R"({"type":"team_rename","name":"Acme","event_ts":"1620000001.000000"})");
  world.Post(R"({"type":"team_domain_change","domain":"acme","url":"https://acme.slack.com",)"
             R"("event_ts":"1620000002.000000"})");
  EXPECT_EQ(TextIn(world.Row("meta#T1X#team", AtOther(1)), "name"), "Acme");
  EXPECT_EQ(TextIn(world.Row("meta#T1X#team", AtOther(2)), "domain"), "acme");
  world.Post(R"({"type":"emoji_changed","subtype":"add","name":"parrot","value":"https://p",)"
             R"("event_ts":"1620000003.000000"})");
  world.Post(R"({"type":"emoji_changed","subtype":"rename","old_name":"parrot",)"
             R"("new_name":"bird","value":"https://p","event_ts":"1620000004.000000"})");
  const std::string remove = R"({"type":"emoji_changed","subtype":"remove","names":["bird","b"],)"
                             R"("event_ts":"1620000005.000000"})";
  world.Post(remove);
  EXPECT_EQ(world.Post(remove), ArchiveOutcome::kUnchanged);
  EXPECT_EQ(TextIn(world.Row("meta#T1X#emoji#parrot", AtOther(3)), "value"), "https://p");
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#emoji#parrot", AtOther(4)), "removed"));
  EXPECT_EQ(TextIn(world.Row("meta#T1X#emoji#bird", AtOther(4)), "value"), "https://p");
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#emoji#bird", AtOther(5)), "removed"));
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#emoji#b", AtOther(5)), "removed"));
}

std::string Member(std::string_view type, std::string_view user, std::string_view event_ts) {
  return fmt::format(R"({{"type":"member_{}_channel","user":"{}","channel":"C1X",)"
                     R"("channel_type":"C","event_ts":"{}"}})",
                     type, user, event_ts);
}

// Slack sends the events of a channel only while the bot is a member: coverage follows that.
// Spec: 001-14
TEST_F(OtherRowsTest, CoverageBeginsAndEndsWithTheBot) {
  EXPECT_EQ(world.Post(Member("joined", "U1X", AtOther(1))), ArchiveOutcome::kNotKept);
  EXPECT_EQ(world.PostOfPublic(Member("joined", "UBOT", AtOther(1))), ArchiveOutcome::kStored);
  // From here on the mark shows that the channel was public. Slack cannot be asked after the end.
  EXPECT_EQ(world.Post(Member("joined", "UBOT", AtOther(1))), ArchiveOutcome::kUnchanged);
  EXPECT_EQ(world.Post(Member("left", "UBOT", AtOther(2))), ArchiveOutcome::kStored);
  EXPECT_EQ(
      world.Post(R"({"type":"channel_left","channel":"C1X","event_ts":")" + AtOther(3) + R"("})"),
      ArchiveOutcome::kStored);
  const item::Item began = world.Row("meta#T1X#coverage#C1X", AtOther(1) + "#began");
  EXPECT_EQ(TextIn(began, "type"), "coverage");
  EXPECT_EQ(TextIn(began, "kind"), "began");
  EXPECT_EQ(TextIn(began, "from"), AtOther(1));
  EXPECT_FALSE(world.Row("meta#T1X#coverage#C1X", AtOther(2) + "#ended").empty());
  EXPECT_FALSE(world.Row("meta#T1X#coverage#C1X", AtOther(3) + "#ended").empty());
}

TEST_F(OtherRowsTest, CoverageOfAllChannelsEndsWithTheApp) {
  const auto revoked = [](std::string_view tokens, int second) {
    return fmt::format(R"({{"type":"tokens_revoked","tokens":{},"event_ts":"{}"}})", tokens,
                       AtOther(second));
  };
  EXPECT_EQ(world.Post(revoked(R"({"oauth":["U1X"],"bot":[]})", 1)), ArchiveOutcome::kNotKept);
  EXPECT_EQ(world.Post(revoked(R"({"bot":["UBOT"]})", 2)), ArchiveOutcome::kStored);
  EXPECT_EQ(world.Post(R"({"type":"app_uninstalled","event_ts":")" + AtOther(3) + R"("})"),
            ArchiveOutcome::kStored);
  EXPECT_FALSE(world.Row("meta#T1X#coverage", AtOther(2) + "#ended").empty());
  EXPECT_FALSE(world.Row("meta#T1X#coverage", AtOther(3) + "#ended").empty());
}

}  // namespace
}  // namespace tidemark::archive
