// What each kind of channel event does to the channel's row.
#include <string>

#include "tests/archive/archive_world.h"

namespace tidemark::archive {
namespace {

std::string At(int second) { return fmt::format("16200000{:02}.000000", second); }

std::string Event(std::string_view type, int second,
                  std::string_view more = R"(,"channel":"C1X")") {
  return fmt::format(R"({{"type":"{}","event_ts":"{}"{}}})", type, At(second), more);
}
std::string Created(int second, std::string_view name) {
  return Event("channel_created", second,
               fmt::format(R"(,"channel":{{"id":"C1X","name":"{}","is_private":false}})", name));
}
std::string Rename(int second, std::string_view name) {
  return Event("channel_rename", second,
               fmt::format(R"(,"channel":{{"id":"C1X","name":"{}"}})", name));
}
// A message by Slack about the channel, such as "set the topic".
std::string Notice(std::string_view subtype, int second, std::string_view more = "",
                   std::string_view channel_type = "channel") {
  return fmt::format(R"({{"type":"message","subtype":"{}","channel":"C1X","channel_type":"{}",)"
                     R"("user":"U1X","ts":"{}","text":"did something"{}}})",
                     subtype, channel_type, At(second), more);
}

item::Value Names(std::vector<std::string> names) { return item::List(names.begin(), names.end()); }

class ChannelRowTest : public ::testing::Test {
 protected:
  // The only row of a channel in the table.
  item::Item Row() {
    auto rows = world.Rows();
    std::erase_if(rows, [](const item::Item& row) { return TextIn(row, "type") != "channel"; });
    EXPECT_EQ(rows.size(), 1U);
    return rows.empty() ? item::Item() : rows.front();
  }
  ArchiveWorld world;
};

// Spec: 001-12, 001-33
TEST_F(ChannelRowTest, OfANewChannelHasItsNameAndVisibility) {
  EXPECT_EQ(world.Post(Created(1, "general")), ArchiveOutcome::kStored);
  const item::Item row = Row();
  EXPECT_EQ(TextIn(row, "itemId"), "channel#T1X#C1X");
  EXPECT_EQ(TextIn(row, "timestamp"), At(1));
  EXPECT_EQ(TextIn(row, "type"), "channel");
  EXPECT_EQ(TextIn(row, "name"), "general");
  EXPECT_EQ(*row.Find("names_history"), Names({"general"}));
  EXPECT_EQ(TextIn(row, "visibility"), "public");
  EXPECT_EQ(TextIn(row, "raw_event"), Created(1, "general"));
}

// Spec: 001-34
TEST_F(ChannelRowTest, ARenameIsTheFirstInTheHistory) {
  world.Post(Created(1, "general"));
  world.Post(Rename(2, "town-square"));
  EXPECT_EQ(TextIn(Row(), "name"), "town-square");
  EXPECT_EQ(*Row().Find("names_history"), Names({"town-square", "general"}));
  EXPECT_EQ(TextIn(Row(), "timestamp"), At(1));
  EXPECT_EQ(TextIn(Row(), "last_event_ts"), At(2));
  EXPECT_EQ(TextIn(Row(), "raw_event"), Rename(2, "town-square"));
}

// Spec: 001-35
TEST_F(ChannelRowTest, OfTwentyFiveNamesKeepsTheNewestTwenty) {
  std::vector<std::string> expected;
  for (int i = 1; i <= 25; ++i) {
    world.PostOfPublic(Rename(i, fmt::format("name-{}", i)));
    if (i > 5) expected.insert(expected.begin(), fmt::format("name-{}", i));
  }
  EXPECT_EQ(*Row().Find("names_history"), Names(expected));
  EXPECT_EQ(TextIn(Row(), "name"), "name-25");
}

// Slack may send a rename twice, as an event and as a message: the limit is on names.
TEST_F(ChannelRowTest, TwentyFiveNamesSentTwiceStillLeaveTwenty) {
  for (int i = 1; i <= 25; ++i) {
    world.Post(Rename(2 * i, fmt::format("name-{}", i)));
    world.Post(Notice("channel_name", 2 * i + 1, fmt::format(R"(,"name":"name-{}")", i)));
  }
  const item::Item row = Row();
  const auto* names = row.Find("names_history")->As<item::List>();
  EXPECT_EQ(names->size(), 20U);
  EXPECT_EQ(names->back(), item::Value("name-6"));
}

// Spec: 001-36
TEST_F(ChannelRowTest, TheSameRenameTwiceCountsOnce) {
  world.Post(Created(1, "general"));
  world.Post(Rename(2, "town-square"));
  const auto rows = world.Rows();
  EXPECT_EQ(world.Post(Rename(2, "town-square")), ArchiveOutcome::kUnchanged);
  EXPECT_EQ(world.Rows(), rows);
  world.Post(Notice("channel_name", 3, R"(,"name":"town-square","old_name":"general")"));
  EXPECT_EQ(*Row().Find("names_history"), Names({"town-square", "general"}));
}

// Spec: 001-37
TEST_F(ChannelRowTest, RenamesAreInTheOrderOfTheirEvents) {
  world.PostOfPublic(Rename(3, "third"));
  world.PostOfPublic(Rename(2, "second"));
  EXPECT_EQ(TextIn(Row(), "name"), "third");
  EXPECT_EQ(*Row().Find("names_history"), Names({"third", "second"}));
  EXPECT_EQ(TextIn(Row(), "raw_event"), Rename(3, "third"));
}

// Spec: 001-38
TEST_F(ChannelRowTest, ARenameOfAnUnknownChannelMakesItsRow) {
  EXPECT_EQ(world.PostOfPublic(Rename(2, "general")), ArchiveOutcome::kStored);
  EXPECT_EQ(TextIn(Row(), "timestamp"), At(2));
  EXPECT_EQ(TextIn(Row(), "name"), "general");
  EXPECT_EQ(TextIn(Row(), "visibility"), "public");
}

// Spec: 001-39
TEST_F(ChannelRowTest, OfADeletedChannelIsKept) {
  world.Post(Created(1, "general"));
  world.Post(Event("channel_deleted", 2));
  EXPECT_TRUE(IsTrueIn(Row(), "deleted"));
  EXPECT_EQ(TextIn(Row(), "name"), "general");
}

// Spec: 001-40
TEST_F(ChannelRowTest, ArchivedIsTrueThenAbsent) {
  world.Post(Created(1, "general"));
  world.Post(Event("channel_archive", 2));
  EXPECT_TRUE(IsTrueIn(Row(), "archived"));
  world.Post(Event("channel_unarchive", 3));
  EXPECT_FALSE(Row().Contains("archived"));
  // The earlier archive event arrives late.
  world.Post(Notice("channel_archive", 2));
  EXPECT_FALSE(Row().Contains("archived"));
}

// Spec: 001-41
TEST_F(ChannelRowTest, UnarchivingAChannelThatWasNotArchivedIsNotAnError) {
  world.Post(Created(1, "general"));
  EXPECT_EQ(world.Post(Event("channel_unarchive", 3)), ArchiveOutcome::kStored);
  EXPECT_FALSE(Row().Contains("archived"));
}

std::string IdChanged(int second, std::string_view from, std::string_view to) {
  return Event("channel_id_changed", second,
               fmt::format(R"(,"old_channel_id":"{}","new_channel_id":"{}")", from, to));
}

// Spec: 001-42, 001-14
TEST_F(ChannelRowTest, UnderANewIdStartsWithTheStateOfTheOldId) {
  world.Post(Created(1, "general"));
  world.Post(Rename(2, "town-square"));
  world.Post(Notice("channel_topic", 3, R"(,"topic":"news")"));
  world.Post(Notice("channel_purpose", 4, R"(,"purpose":"all")"));
  world.Post(Event("channel_archive", 5));
  const item::Item old_row = Row();
  world.Post(IdChanged(6, "C1X", "C2X"));
  EXPECT_EQ(world.Row("channel#T1X#C1X", At(1)), old_row);
  const item::Item row = world.Row("channel#T1X#C2X", At(6));
  EXPECT_EQ(TextIn(row, "prev_channel_id"), "C1X");
  for (const char* name :
       {"name", "names_history", "visibility", "topic", "purpose", "archived", "changed_at"}) {
    ASSERT_TRUE(row.Contains(name)) << name;
    EXPECT_EQ(*row.Find(name), *old_row.Find(name)) << name;
  }
  EXPECT_EQ(TextIn(world.Row("meta#T1X#moved#C1X", At(6)), "channel_id"), "C2X");
  const auto rows = world.Rows();
  EXPECT_EQ(world.Post(IdChanged(6, "C1X", "C2X")), ArchiveOutcome::kUnchanged);
  EXPECT_EQ(world.Rows(), rows);
}

// Spec: 001-43
TEST_F(ChannelRowTest, UnderANewIdOfAnUnknownChannelHasNoName) {
  EXPECT_EQ(world.Post(IdChanged(6, "G1X", "C2X")), ArchiveOutcome::kStored);
  const item::Item row = world.Row("channel#T1X#C2X", At(6));
  EXPECT_EQ(TextIn(row, "prev_channel_id"), "G1X");
  for (const char* name : {"name", "names_history", "visibility", "was_public"}) {
    EXPECT_FALSE(row.Contains(name)) << name;
  }
}

// A channel without a row may have messages: it is kept under the new id.
TEST_F(ChannelRowTest, UnderANewIdOfAChannelWithMessagesIsKept) {
  world.Post(Posted("1620000000.000100", "x"));
  world.Post(IdChanged(6, "C1X", "C2X"));
  EXPECT_EQ(world.Post(R"({"type":"message","channel":"C2X","channel_type":"group","user":"U1X",)"
                       R"("ts":"1620000010.000100","text":"y"})"),
            ArchiveOutcome::kStored);
}

// Spec: 001-44
TEST_F(ChannelRowTest, TopicAndPurposeComeByEventOrByMessage) {
  world.Post(Notice("channel_topic", 1, R"(,"topic":"news")"));
  world.Post(Event("channel_purpose", 2, R"(,"channel":"C1X","purpose":"all")"));
  EXPECT_EQ(TextIn(Row(), "topic"), "news");
  EXPECT_EQ(TextIn(Row(), "purpose"), "all");
  world.Post(Event("channel_topic", 3, R"(,"channel":"C1X","topic":"")"));
  world.Post(Notice("channel_purpose", 4, R"(,"purpose":"")"));
  EXPECT_EQ(MaybeTextIn(Row(), "topic"), "");
  EXPECT_EQ(MaybeTextIn(Row(), "purpose"), "");
  EXPECT_EQ(world.Post(Notice("channel_topic", 5)), ArchiveOutcome::kIncomplete);
}

// Spec: 001-45
TEST_F(ChannelRowTest, IsPrivateThenPublicAgain) {
  world.Post(Created(1, "general"));
  world.Post(Notice("channel_convert_to_private", 2, "", "group"));
  EXPECT_EQ(TextIn(Row(), "visibility"), "private");
  EXPECT_TRUE(IsTrueIn(Row(), "was_public"));
  world.Post(Notice("channel_convert_to_public", 3));
  EXPECT_EQ(TextIn(Row(), "visibility"), "public");
  EXPECT_FALSE(Row().Contains("was_public"));
}

// Two listeners, or another program, may each have created a row.
// Spec: 001-46
TEST_F(ChannelRowTest, OfSeveralTheNewestEventOfEachFieldCounts) {
  const auto put = [&](const std::string& timestamp, const std::string& name) {
    ASSERT_TRUE(world.tables().Put({.table = "SlackArchive",
                                    .item = {{"itemId", "channel#T1X#C1X"},
                                             {"timestamp", timestamp},
                                             {"type", "channel"},
                                             {"name", name},
                                             {"visibility", "public"}}}));
  };
  put(At(5), "fifth");
  put(At(3), "third");
  EXPECT_EQ(world.ChannelState().name(), "fifth");
  world.Post(Rename(4, "fourth"));
  EXPECT_EQ(world.ChannelState().name(), "fifth");
  EXPECT_EQ(world.ChannelState().names_history(),
            (std::vector<std::string>{"fifth", "fourth", "third"}));
  // The newest row has everything; the older one is as it was.
  EXPECT_EQ(*world.Row("channel#T1X#C1X", At(5)).Find("names_history"),
            Names({"fifth", "fourth", "third"}));
  EXPECT_EQ(TextIn(world.Row("channel#T1X#C1X", At(3)), "name"), "third");
  EXPECT_EQ(world.Post(Rename(4, "fourth")), ArchiveOutcome::kUnchanged);
}

TEST_F(ChannelRowTest, ConcurrentListenersLoseNoRename) {
  world.Post(Created(1, "general"));
  Plan first = world.PlanOf(Rename(2, "second"));
  Plan second = world.PlanOf(Rename(3, "third"));
  EXPECT_TRUE(world.Write(std::move(second)));
  EXPECT_FALSE(world.Write(std::move(first)));
  world.Post(Rename(2, "second"));
  EXPECT_EQ(*Row().Find("names_history"), Names({"third", "second", "general"}));
}

// People see these notices in the channel. They also tell of earlier topics and names.
// Review: A12
TEST_F(ChannelRowTest, ANoticeIsAMessageToo) {
  int second = 0;
  for (const auto& [subtype, more] : std::vector<std::pair<const char*, const char*>>{
           {"channel_topic", R"(,"topic":"first")"},
           {"channel_topic", R"(,"topic":"second")"},
           {"channel_purpose", R"(,"purpose":"all")"},
           {"channel_name", R"(,"name":"lobby","old_name":"general")"},
           {"channel_archive", ""},
           {"channel_unarchive", ""},
           {"channel_convert_to_private", ""}}) {
    EXPECT_EQ(world.Post(Notice(subtype, ++second, more)), ArchiveOutcome::kStored);
    const item::Item row = world.MessageRow(At(second));
    EXPECT_EQ(TextIn(row, "subtype"), subtype);
    EXPECT_EQ(TextIn(row, "text"), "did something");
  }
  EXPECT_EQ(TextIn(Row(), "topic"), "second");
  EXPECT_NE(TextIn(world.MessageRow(At(1)), "raw_event").find("first"), std::string::npos);
  const auto rows = world.Rows();
  EXPECT_EQ(world.Post(Notice("channel_archive", 5)), ArchiveOutcome::kUnchanged);
  EXPECT_EQ(world.Rows(), rows);
}

TEST_F(ChannelRowTest, ANoticeOfAPrivateChannelIsNotKept) {
  EXPECT_EQ(world.Post(Notice("group_topic", 1, R"(,"topic":"news")", "group")),
            ArchiveOutcome::kNotPublic);
  EXPECT_TRUE(world.Rows().empty());
}

// Review: A12
TEST_F(ChannelRowTest, ANoticeCanBeDeleted) {
  world.Post(Notice("channel_topic", 1, R"(,"topic":"news")"));
  world.Post(Deleted(At(5), At(1), Inner(At(1), "x", R"(,"subtype":"channel_topic")")));
  EXPECT_TRUE(IsTrueIn(world.MessageRow(At(1)), "deleted"));
  EXPECT_EQ(TextIn(Row(), "topic"), "news");
}

}  // namespace
}  // namespace tidemark::archive
