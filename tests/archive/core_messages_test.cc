// What each kind of message event does to the rows.
#include <string>

#include "tests/archive/archive_world.h"

namespace tidemark::archive {
namespace {

constexpr const char* kTs = "1620000000.000200";
constexpr const char* kEdit = "1620000010.000000";
constexpr const char* kEditEvent = "1620000010.000300";

std::string Edit(std::string_view text = "two") {
  return Changed(kEditEvent, Inner(kTs, text, Edited(kEdit)), Inner(kTs, "one"));
}
std::string Delete() { return Deleted("1620000030.000300", kTs, Inner(kTs, "one")); }

// Spec: 001-11, 001-21
TEST(MessageRowTest, IsKeyedByTeamChannelAndTime) {
  ArchiveWorld world;
  EXPECT_EQ(world.Post(Posted(kTs, "hello")), Outcome::kStored);
  const item::Item row = world.Row("message#T1X#C1X", kTs);
  EXPECT_EQ(TextIn(row, "type"), "message");
  EXPECT_EQ(TextIn(row, "text"), "hello");
  EXPECT_FALSE(row.Contains("deleted"));
  EXPECT_EQ(world.Rows().size(), 1U);
}

// What the event lacks the row lacks too.
// Spec: 001-16
TEST(MessageRowTest, HasWhatTheEventHadAndNoMore) {
  ArchiveWorld world({.raw_events = false});
  world.Post(R"({"type":"message","channel":"C1X","channel_type":"channel","ts":")" +
             std::string(kTs) + R"(","event_ts":"1620000000.000200"})");
  EXPECT_EQ(world.MessageRow(kTs), (item::Item{{"itemId", "message#T1X#C1X"},
                                               {"timestamp", kTs},
                                               {"type", "message"},
                                               {"team_id", "T1X"},
                                               {"channel_id", "C1X"},
                                               {"ts", kTs}}));
}

TEST(MessageRowTest, HasAllThatTheEventHad) {
  ArchiveWorld world;
  const std::string event = Posted(kTs, "",
                                   R"(,"thread_ts":"1620000000.000100","bot_id":"B1X",)"
                                   R"("username":"robot","files":[{"id":"F1"}])");
  world.Post(event);
  const item::Item row = world.MessageRow(kTs);
  EXPECT_EQ(MaybeTextIn(row, "text"), "");
  EXPECT_EQ(TextIn(row, "user"), "U1X");
  EXPECT_EQ(TextIn(row, "thread_ts"), "1620000000.000100");
  EXPECT_EQ(TextIn(row, "bot_id"), "B1X");
  EXPECT_EQ(TextIn(row, "username"), "robot");
  EXPECT_EQ(TextIn(row, "raw_event"), event);
  EXPECT_EQ(*row.Find("files"), item::Value(item::List{item::Map{{"id", "F1"}}}));
}

size_t CountInThread(ArchiveWorld& world, const std::string& thread_ts) {
  const auto page = world.tables().Query({.table = "SlackArchive",
                                          .index = std::string(kThreadIndex),
                                          .key_condition = "parent = :parent",
                                          .values = {{":parent", "thread#T1X#" + thread_ts}}});
  EXPECT_TRUE(page.has_value());
  return page->items.size();
}

// Spec: 001-18
TEST(MessageRowTest, WithoutAThreadIsInNoThread) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "alone"));
  EXPECT_FALSE(world.MessageRow(kTs).Contains("parent"));
  EXPECT_EQ(CountInThread(world, kTs), 0U);
}

// Spec: 001-19
TEST(MessageRowTest, ARootIsInItsThreadAndInItsChannel) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "root", fmt::format(R"(,"thread_ts":"{}")", kTs)));
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "parent"), std::string("thread#T1X#") + kTs);
  EXPECT_EQ(CountInThread(world, kTs), 1U);
}

// Spec: 001-20
TEST(MessageRowTest, AReplyIsInTheThreadOfItsRoot) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "reply", R"(,"thread_ts":"1620000000.000100")"));
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "parent"), "thread#T1X#1620000000.000100");
  EXPECT_EQ(CountInThread(world, "1620000000.000100"), 1U);
}

// A reply that the channel shows too is one message; the root that it carries is another's.
TEST(MessageRowTest, ABroadcastIsAReplyWhoseRootIsIgnored) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "see",
                    R"(,"subtype":"thread_broadcast","thread_ts":"1620000000.000100",)"
                    R"("root":{"ts":"1620000000.000100","text":"other"})"));
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "subtype"), "thread_broadcast");
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "parent"), "thread#T1X#1620000000.000100");
  EXPECT_EQ(world.Rows().size(), 1U);
}

// Spec: 001-22
TEST(MessageRowTest, JoinsAndLeavesAreNotKept) {
  ArchiveWorld world;
  for (const char* subtype : {"channel_join", "channel_leave", "group_join", "group_leave"}) {
    EXPECT_EQ(world.Post(Posted(kTs, "x", fmt::format(R"(,"subtype":"{}")", subtype))),
              Outcome::kNotKept);
  }
  EXPECT_TRUE(world.Rows().empty());
}

// Also when one of them is changed or deleted afterwards.
TEST(MessageRowTest, WhatHappensToAJoinIsNotKeptEither) {
  ArchiveWorld world;
  const std::string join = Inner(kTs, "x", R"(,"subtype":"channel_join")");
  EXPECT_EQ(world.Post(Changed(kEditEvent, join, join)), Outcome::kNotKept);
  EXPECT_EQ(world.Post(Deleted(kEditEvent, kTs, join)), Outcome::kNotKept);
  EXPECT_TRUE(world.Rows().empty());
}

// Slack adds subtypes without notice, and says that they are to be shown as messages.
// Spec: 001-22
TEST(MessageRowTest, AnUnknownSubtypeIsAMessage) {
  ArchiveWorld world;
  for (const char* subtype : {"bot_message", "me_message", "file_share", "of_next_year"}) {
    ArchiveWorld fresh;
    EXPECT_EQ(fresh.Post(Posted(kTs, "x", fmt::format(R"(,"subtype":"{}")", subtype))),
              Outcome::kStored);
    EXPECT_EQ(TextIn(fresh.MessageRow(kTs), "subtype"), subtype);
  }
}

constexpr const char* kFile =
    R"({"id":"F1","name":"a.png","title":"A","mimetype":"image/png","filetype":"png","size":12,)"
    R"("url_private":"https://files.slack.com/a","mode":"hosted","is_external":false,)"
    R"("created":1620000000,"user":"U1X","thumb_64":"https://files.slack.com/t","permalink":"p",)"
    R"("url_private_download":"https://files.slack.com/d"})";

// The archive has no client to download with: its parts are tables, a clock, a log and counters.
// Spec: 001-23, 001-24
TEST(MessageRowTest, KeepsOfFilesTheFieldsOfTheList) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "x", fmt::format(R"(,"subtype":"file_share","files":[{}])", kFile)));
  EXPECT_EQ(*world.MessageRow(kTs).Find("files"),
            item::Value(item::List{item::Map{{"id", "F1"},
                                             {"name", "a.png"},
                                             {"title", "A"},
                                             {"mimetype", "image/png"},
                                             {"filetype", "png"},
                                             {"size", item::Number::FromInt(12)},
                                             {"url_private", "https://files.slack.com/a"},
                                             {"mode", "hosted"},
                                             {"created", item::Number::FromInt(1620000000)},
                                             {"user", "U1X"}}}));
  EXPECT_FALSE(world.MessageRow(kTs).Contains("files_s3"));
  EXPECT_EQ(world.Rows().size(), 1U);
}

// A file of another workspace is announced by a stub first; what is known of it stays known.
TEST(MessageRowTest, AFileThatIsOnlyAnnouncedReplacesNothing) {
  ArchiveWorld world;
  const std::string files = fmt::format(R"(,"files":[{}])", kFile);
  const std::string stub = R"(,"files":[{"id":"F1","name":"z","mode":"file_access"},{"id":"F0"}])";
  world.Post(Posted(kTs, "x", files));
  world.Post(Changed(kEditEvent, Inner(kTs, "x", stub), Inner(kTs, "x", files)));
  const auto list = DecodeFiles(*world.MessageRow(kTs).Find("files"));
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].id, "F0");
  EXPECT_EQ(list[1].name, "a.png");
}

// Spec: 001-25
TEST(EditTest, ChangesTheRowOfTheOriginal) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one", R"(,"thread_ts":"1620000000.000100","files":[{"id":"F1"}])"));
  const item::Item before = world.MessageRow(kTs);
  EXPECT_EQ(world.Post(Edit()), Outcome::kStored);
  item::Item row = world.MessageRow(kTs);
  EXPECT_EQ(TextIn(row, "text"), "two");
  EXPECT_EQ(TextIn(row, "updated_ts"), kEdit);
  EXPECT_EQ(TextIn(row, "raw_event"), Edit());
  EXPECT_EQ(TextIn(row, "edited_by"), "U1X");
  for (const char* name : {"user", "thread_ts", "parent", "files", "ts", "type"}) {
    EXPECT_EQ(*row.Find(name), *before.Find(name)) << name;
  }
  EXPECT_TRUE(world.Row("message#T1X#C1X", kEdit).empty());
}

TEST(EditTest, KeepsTheBodyOfBeforeAsAVersion) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Edit());
  EXPECT_EQ(world.VersionRow(kTs, kTs),
            (item::Item{{"itemId", std::string("meta#T1X#versions#C1X#") + kTs},
                        {"timestamp", kTs},
                        {"type", "version"},
                        {"team_id", "T1X"},
                        {"channel_id", "C1X"},
                        {"ts", kTs},
                        {"text", "one"}}));
}

// Spec: 001-26
TEST(EditTest, OfAnUnknownMessageMakesAWholeRow) {
  ArchiveWorld world;
  world.Post(Edit());
  const item::Item row = world.MessageRow(kTs);
  EXPECT_EQ(TextIn(row, "text"), "two");
  EXPECT_EQ(TextIn(row, "user"), "U1X");
  EXPECT_EQ(TextIn(row, "updated_ts"), kEdit);
  EXPECT_FALSE(row.Contains("stub"));
  EXPECT_EQ(TextIn(world.VersionRow(kTs, kTs), "text"), "one");
  EXPECT_TRUE(IsTrueIn(world.VersionRow(kTs, kTs), "inferred"));
}

// Spec: 001-27
TEST(EditTest, AnOlderOneThatComesLateIsAVersion) {
  ArchiveWorld world;
  world.Post(Changed("1620000020.000300", Inner(kTs, "three", Edited("1620000020.000000")),
                     Inner(kTs, "two", Edited(kEdit))));
  EXPECT_EQ(world.Post(Edit()), Outcome::kStored);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "three");
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "updated_ts"), "1620000020.000000");
  EXPECT_FALSE(world.VersionRow(kTs, kEdit).Contains("inferred"));
}

// Spec: 001-28
TEST(EditTest, SurvivesTheOriginalThatComesLate) {
  ArchiveWorld world;
  world.Post(Edit());
  world.Post(Delete());
  // What the file processor wrote meanwhile.
  const auto reply = world.tables().Update(
      {.table = "SlackArchive",
       .key = KeyOf("message#T1X#C1X", kTs),
       .update = "ADD files_s3 :uris",
       .values = {{":uris", item::StringSet({"s3://slack-archive/slack/T1X/C1X/1/F1"})}}});
  ASSERT_TRUE(reply.has_value());
  item::Item before = world.MessageRow(kTs);
  world.Post(Posted(kTs, "one"));
  item::Item after = world.MessageRow(kTs);
  EXPECT_EQ(TextIn(after, "text"), "two");
  EXPECT_TRUE(IsTrueIn(after, "deleted"));
  before.Erase("revision");
  after.Erase("revision");
  EXPECT_EQ(after, before);
  EXPECT_FALSE(world.VersionRow(kTs, kTs).Contains("inferred"));
}

// Link previews change a message without anybody editing it.
TEST(EditTest, ALinkPreviewIsNone) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  const std::string preview =
      Changed(kEditEvent, Inner(kTs, "one", R"(,"attachments":[{"id":1}])"), Inner(kTs, "one"));
  EXPECT_EQ(world.Post(preview), Outcome::kStored);
  const item::Item row = world.MessageRow(kTs);
  EXPECT_FALSE(row.Contains("updated_ts"));
  EXPECT_EQ(TextIn(row, "event_ts"), kEditEvent);
  EXPECT_EQ(TextIn(row, "raw_event"), preview);
  EXPECT_EQ(world.Rows().size(), 1U);
}

// A reply adds to its root what makes it one. Slack tells so by message_replied, and sends it
// without its subtype.
TEST(EditTest, AReplyGivesItsRootAThread) {
  for (const char* subtype : {R"("subtype":"message_replied",)", ""}) {
    ArchiveWorld world;
    world.Post(Posted(kTs, "root"));
    const std::string thread = fmt::format(R"(,"thread_ts":"{}")", kTs);
    world.Post(fmt::format(R"({{"type":"message",{0}"channel":"C1X","channel_type":"channel",)"
                           R"("ts":"{1}","event_ts":"{1}","message":{2}}})",
                           subtype, kEditEvent, Inner(kTs, "root", thread)));
    EXPECT_EQ(TextIn(world.MessageRow(kTs), "parent"), std::string("thread#T1X#") + kTs);
    EXPECT_FALSE(world.MessageRow(kTs).Contains("updated_ts"));
    EXPECT_EQ(world.Rows().size(), 1U);
  }
}

TEST(EditTest, WithoutAnythingOfBeforeIsOneAtItsEvent) {
  ArchiveWorld world;
  world.Post(Changed(kEditEvent, Inner(kTs, "two"), ""));
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "updated_ts"), kEditEvent);
}

// Enterprise keys that were withdrawn: Slack shows a text of its own.
TEST(EditTest, AMessageThatMayNoLongerBeReadKeepsItsBody) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  const std::string denied = fmt::format(
      R"({{"subtype":"ekm_access_denied","user":"UREVOKEDU","ts":"{}","text":"hidden"}})", kTs);
  EXPECT_EQ(world.Post(Changed(kEditEvent, denied, Inner(kTs, "one"))), Outcome::kUnchanged);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "one");
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "user"), "U1X");
}

// Spec: 001-29
TEST(DeletionTest, MarksTheRowAndKeepsAllOfIt) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one", R"(,"files":[{"id":"F1"}])"));
  item::Item before = world.MessageRow(kTs);
  world.Post(Delete());
  item::Item after = world.MessageRow(kTs);
  EXPECT_TRUE(IsTrueIn(after, "deleted"));
  EXPECT_EQ(TextIn(after, "deleted_ts"), "1620000030.000300");
  for (const item::Attribute& attribute : before) {
    ASSERT_TRUE(after.Contains(attribute.name)) << attribute.name;
    EXPECT_EQ(*after.Find(attribute.name), attribute.value) << attribute.name;
  }
  EXPECT_EQ(world.Rows().size(), 1U);
}

// Spec: 001-30
TEST(DeletionTest, OfAnUnknownMessageMakesAStubThatTheOriginalFills) {
  ArchiveWorld world;
  EXPECT_EQ(world.Post(Deleted("1620000030.000300", kTs, "")), Outcome::kStored);
  item::Item row = world.MessageRow(kTs);
  EXPECT_TRUE(IsTrueIn(row, "stub"));
  EXPECT_TRUE(IsTrueIn(row, "deleted"));
  EXPECT_EQ(TextIn(row, "type"), "message");
  EXPECT_EQ(TextIn(row, "channel_id"), "C1X");
  world.Post(Posted(kTs, "one"));
  row = world.MessageRow(kTs);
  EXPECT_FALSE(row.Contains("stub"));
  EXPECT_TRUE(IsTrueIn(row, "deleted"));
  EXPECT_EQ(TextIn(row, "text"), "one");
  EXPECT_EQ(TextIn(row, "user"), "U1X");
}

// The last chance to keep what was never seen.
TEST(DeletionTest, OfAnUnknownMessageKeepsWhatItShows) {
  ArchiveWorld world;
  world.Post(Delete());
  const item::Item row = world.MessageRow(kTs);
  EXPECT_EQ(TextIn(row, "text"), "one");
  EXPECT_TRUE(IsTrueIn(row, "inferred"));
  EXPECT_EQ(TextIn(row, "raw_event"), Delete());
  world.Post(Posted(kTs, "one"));
  EXPECT_FALSE(world.MessageRow(kTs).Contains("inferred"));
}

// Spec: 001-31
TEST(DeletionTest, IsNotUndoneByAnEdit) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Delete());
  world.Post(Edit());
  EXPECT_TRUE(IsTrueIn(world.MessageRow(kTs), "deleted"));
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "two");
}

// A root with replies is replaced by a tombstone, whose text and author are Slack's.
TEST(DeletionTest, ATombstoneIsOneAndNeverTheBody) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Changed("1620000030.000300", Tombstone(kTs), Inner(kTs, "one")));
  item::Item row = world.MessageRow(kTs);
  EXPECT_TRUE(IsTrueIn(row, "deleted"));
  EXPECT_EQ(TextIn(row, "text"), "one");
  EXPECT_EQ(TextIn(row, "user"), "U1X");
  EXPECT_EQ(TextIn(row, "parent"), std::string("thread#T1X#") + kTs);
  EXPECT_EQ(world.Post(Deleted("1620000040.000300", kTs, Tombstone(kTs))), Outcome::kUnchanged);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "deleted_ts"), "1620000030.000300");
}

// Policy removed the text; an event that comes late must not bring it back.
TEST(DeletionTest, WhatWasPurgedStaysPurged) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Delete());
  ASSERT_TRUE(world.tables().Update({.table = "SlackArchive",
                                     .key = KeyOf("message#T1X#C1X", kTs),
                                     .update = "SET purged = :true REMOVE #text, raw_event",
                                     .names = {{"#text", "text"}},
                                     .values = {{":true", true}}}));
  for (const std::string& event : {Posted(kTs, "one"), Edit(), Delete()}) {
    EXPECT_EQ(world.Post(event), Outcome::kUnchanged);
  }
  EXPECT_FALSE(world.MessageRow(kTs).Contains("text"));
  EXPECT_EQ(world.Rows().size(), 1U);
}

// Spec: 001-32
TEST(RedeliveryTest, FourDeliveriesAreAsOne) {
  for (const std::string& event : {Posted(kTs, "one"), Edit(), Delete()}) {
    ArchiveWorld world;
    world.Post(event);
    const auto rows = world.Rows();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(world.Post(event), Outcome::kUnchanged);
    EXPECT_EQ(world.Rows(), rows);
  }
}

// A ts is unique within its channel alone.
TEST(MessageRowTest, OneTimeInTwoChannelsIsTwoMessages) {
  ArchiveWorld world;
  std::string other = Posted(kTs, "other");
  other.replace(other.find("C1X"), 3, "C2X");
  world.Post(Posted(kTs, "one"));
  world.Post(other);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "one");
  EXPECT_EQ(TextIn(world.Row("message#T1X#C2X", kTs), "text"), "other");
}

// Texts are cut in the middle of an emoji, and hold what they like.
TEST(MessageRowTest, KeepsWhatTextsHold) {
  ArchiveWorld world;
  const std::string more = R"(,"text":"a\ud83d \u0000 \u202e\ud83d\udc68\u200d\ud83d\udc69")";
  std::string event = Posted(kTs, "x");
  event.replace(event.find(R"(,"text":"x")"), 11, more);
  EXPECT_EQ(world.Post(event), Outcome::kStored);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"),
            std::string("a\xef\xbf\xbd ") + '\0' +
                " \xe2\x80\xae\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9");
}

TEST(MessageRowTest, TakesTheEnvelopesTimeForAChangeThatHasNone) {
  ArchiveWorld world;
  std::string event = Changed(kEditEvent, Inner(kTs, "two"), Inner(kTs, "one"));
  for (const char* name : {"ts", "event_ts"}) {
    const std::string field = fmt::format(R"("{}":"{}",)", name, kEditEvent);
    event.erase(event.find(field), field.size());
  }
  EXPECT_EQ(world.Post(event), Outcome::kStored);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "updated_ts"), "1620000999.000000");
}

// Reading is by time whatever the order of storing; ranges and pages are the table's own.
// Spec: 001-68
TEST(MessageRowTest, AreInTheOrderOfTheirTimes) {
  ArchiveWorld world;
  for (const int i : {4, 1, 3, 0, 2}) {
    world.Post(Posted(fmt::format("1620000000.00000{}", i), "x"));
  }
  tables::QueryRequest request{.table = "SlackArchive",
                               .key_condition = "itemId = :id AND #t BETWEEN :from AND :to",
                               .names = {{"#t", "timestamp"}},
                               .values = {{":id", "message#T1X#C1X"},
                                          {":from", "1620000000.000001"},
                                          {":to", "1620000000.000003"}},
                               .limit = 2};
  std::string seen;
  do {
    const auto page = world.tables().Query(request);
    ASSERT_TRUE(page.has_value());
    for (const item::Item& row : page->items) seen += TextIn(row, "ts").back();
    request.start_after = page->last;
  } while (request.start_after);
  EXPECT_EQ(seen, "123");
}

}  // namespace
}  // namespace tidemark::archive
