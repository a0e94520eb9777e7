// What Slack's lists and look-ups change in the archive: names, without an event.
#include <string>

#include "apps/archive/people.h"
#include "apps/archive/read_event.h"
#include "tests/archive/archive_world.h"

namespace tidemark::archive {
namespace {

class ListedTest : public ::testing::Test {
 protected:
  static slack::Timestamp AtSecond(int second) {
    return slack::Timestamp::FromSeconds(1'620'000'000 + second);
  }
  ArchiveOutcome Store(const News& news) {
    return world.archive().StoreNews(slack::TeamId::Parse("T1X").value(), news).value();
  }
  ArchiveOutcome List(const slack::Conversation& conversation, int second) {
    return Store(NewsOf(conversation, AtSecond(second)).value());
  }
  ArchiveOutcome List(const slack::Person& person, int second) {
    return Store(NewsOf(person, AtSecond(second)));
  }
  std::vector<item::Item> RowsOf(const std::string& item_id) {
    std::vector<item::Item> rows = world.Rows();
    std::erase_if(rows, [&](const item::Item& row) { return TextIn(row, "itemId") != item_id; });
    return rows;
  }
  item::Item ChannelRow() {
    const auto rows = RowsOf("channel#T1X#C1X");
    return rows.empty() ? item::Item() : rows.front();
  }
  static std::string Rename(int second, std::string_view name) {
    return fmt::format(
        R"({{"type":"channel_rename","event_ts":"{}","channel":{{"id":"C1X","name":"{}"}}}})",
        AtSecond(second).text(), name);
  }

  ArchiveWorld world;
  const slack::Conversation general{
      .id = "C1X", .name = "general", .topic = "tides", .is_public = true};
};

// Review: A8
TEST_F(ListedTest, AChannelGetsItsName) {
  world.Post(Posted("1620000000.000100", "hello"));
  EXPECT_EQ(List(general, 1), ArchiveOutcome::kStored);
  EXPECT_EQ(TextIn(ChannelRow(), "name"), "general");
  EXPECT_EQ(TextIn(ChannelRow(), "topic"), "tides");
  EXPECT_EQ(TextIn(ChannelRow(), "visibility"), "public");
}

// Lists are read every few minutes and mostly say the same.
TEST_F(ListedTest, ARepetitionChangesNothing) {
  List(general, 1);
  const item::Item before = ChannelRow();
  EXPECT_EQ(List(general, 200), ArchiveOutcome::kUnchanged);
  EXPECT_EQ(ChannelRow(), before);
}

// The history of names has room for 40 changes: a name that is repeated is no change.
TEST_F(ListedTest, AnotherTopicIsNoChangeOfTheName) {
  world.PostOfPublic(Rename(1, "general"));
  const std::string raw = TextIn(ChannelRow(), "raw_event");
  slack::Conversation listed = general;
  for (int i = 2; i < 6; ++i) {
    listed.topic = fmt::format("tide {}", i);
    EXPECT_EQ(List(listed, i), ArchiveOutcome::kStored);
  }
  EXPECT_EQ(ChannelRow().Find("name_changes")->As<item::List>()->size(), 1u);
  EXPECT_EQ(TextIn(ChannelRow(), "topic"), "tide 5");
  EXPECT_EQ(TextIn(ChannelRow(), "raw_event"), raw) << "a list has no event";
}

// A list that was read before a rename and stored after it.
TEST_F(ListedTest, ALaterEventWins) {
  List(general, 1);
  world.Post(Rename(9, "harbour"));
  slack::Conversation listed = general;
  listed.topic = "another";
  List(listed, 8);
  EXPECT_EQ(TextIn(ChannelRow(), "name"), "harbour");
}

TEST_F(ListedTest, APrivateChannelThatWasNeverPublicIsNotKept) {
  EXPECT_EQ(List(slack::Conversation{.id = "C1X", .name = "secret"}, 1),
            ArchiveOutcome::kNotPublic);
  EXPECT_TRUE(world.Rows().empty());
}

// Review: A8
TEST_F(ListedTest, PeopleAreListedAsTheyAreNow) {
  EXPECT_EQ(List(slack::Person{.id = "U1X", .name = "ann", .real_name = "Ann Lee"}, 5),
            ArchiveOutcome::kStored);
  EXPECT_EQ(List(slack::Person{.id = "U1X", .name = "ann", .real_name = "Ann Lee"}, 9),
            ArchiveOutcome::kUnchanged);
  EXPECT_EQ(List(slack::Person{.id = "U1X", .name = "ann", .real_name = "Ann Hill"}, 10),
            ArchiveOutcome::kStored);
  // Late: it was read before the one above.
  List(slack::Person{.id = "U1X", .name = "ann", .real_name = "Ann Lee"}, 7);
  EXPECT_EQ(RowsOf("meta#T1X#user#U1X").size(), 2u);
  ASSERT_EQ(RowsOf("meta#T1X#people").size(), 1u);
  const People people(&world.tables(), world.archive().options().table);
  const auto team = slack::TeamId::Parse("T1X").value();
  EXPECT_EQ(people.Find(team, "U1X").value()->shown_name(), "Ann Hill");
  EXPECT_EQ(people.List(team, std::nullopt, 10).value().people.size(), 1u);
}

// A data folder of an earlier release has no rows of people as they are now.
TEST_F(ListedTest, AnEarlierReleasesPeopleHaveNames) {
  const std::string table = world.archive().options().table;
  ASSERT_TRUE(world.tables().Put({.table = table,
                                  .item = {{"itemId", "meta#T1X#user#U2X"},
                                           {"timestamp", "1620000000.000000"},
                                           {"type", "user"},
                                           {"display_name", "bob"}}}));
  const People people(&world.tables(), table);
  const auto names = people.NamesOf(slack::TeamId::Parse("T1X").value(), {"U2X", "U3X"}).value();
  EXPECT_EQ(names, (People::Names{{"U2X", "bob"}}));
}

TEST(MentionedInTest, FindsTheIdsOfUsers) {
  EXPECT_EQ(MentionedIn("hi <@U1X> and <@W2X|bob>, <#C3X|general> <@u4> <@"),
            (std::set<std::string>{"U1X", "W2X"}));
}

}  // namespace
}  // namespace tidemark::archive
