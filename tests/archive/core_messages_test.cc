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
  EXPECT_EQ(world.Post(Posted(kTs, "hello")), ArchiveOutcome::kStored);
  const item::Item row = world.Row("message#T1X#C1X", kTs);
  EXPECT_EQ(TextIn(row, "type"), "message");
  EXPECT_EQ(TextIn(row, "text"), "hello");
  EXPECT_FALSE(row.Contains("deleted"));
  EXPECT_EQ(world.Rows().size(), 1U);
}

// A field that the event lacks is not in the row.
// Spec: 001-16
TEST(MessageRowTest, HasNoAttributeThatTheEventLacks) {
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

TEST(MessageRowTest, HasEveryFieldOfTheEvent) {
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
TEST(MessageRowTest, WithoutAThreadHasNoParent) {
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

// A reply that is also sent to the channel is one message. The root in it is another message.
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
              ArchiveOutcome::kNotKept);
  }
  EXPECT_TRUE(world.Rows().empty());
}

// Also when a join is changed or deleted afterwards.
TEST(MessageRowTest, ChangesOfAJoinAreNotKept) {
  ArchiveWorld world;
  const std::string join = Inner(kTs, "x", R"(,"subtype":"channel_join")");
  EXPECT_EQ(world.Post(Changed(kEditEvent, join, join)), ArchiveOutcome::kNotKept);
  EXPECT_EQ(world.Post(Deleted(kEditEvent, kTs, join)), ArchiveOutcome::kNotKept);
  EXPECT_TRUE(world.Rows().empty());
}

// Slack adds subtypes without notice and asks apps to show them as messages.
// Spec: 001-22
TEST(MessageRowTest, AnUnknownSubtypeIsAMessage) {
  ArchiveWorld world;
  for (const char* subtype : {"bot_message", "me_message", "file_share", "of_next_year"}) {
    ArchiveWorld fresh;
    EXPECT_EQ(fresh.Post(Posted(kTs, "x", fmt::format(R"(,"subtype":"{}")", subtype))),
              ArchiveOutcome::kStored);
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
TEST(MessageRowTest, KeepsTheListedFieldsOfFiles) {
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

// A file of another workspace comes as a stub first. A stub never replaces what is known.
TEST(MessageRowTest, AFileStubReplacesNothing) {
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
  EXPECT_EQ(world.Post(Edit()), ArchiveOutcome::kStored);
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

TEST(EditTest, KeepsTheEarlierBodyAsAVersion) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Edit());
  item::Item version = world.VersionRow(kTs, kTs);
  EXPECT_EQ(TextIn(version, "raw_event"), Posted(kTs, "one"));
  version.Erase("raw_event");
  EXPECT_EQ(version, (item::Item{{"itemId", std::string("meta#T1X#versions#C1X#") + kTs},
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
TEST(EditTest, AnOlderEditThatArrivesLateBecomesAVersion) {
  ArchiveWorld world;
  world.Post(Changed("1620000020.000300", Inner(kTs, "three", Edited("1620000020.000000")),
                     Inner(kTs, "two", Edited(kEdit))));
  EXPECT_EQ(world.Post(Edit()), ArchiveOutcome::kStored);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "three");
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "updated_ts"), "1620000020.000000");
  EXPECT_FALSE(world.VersionRow(kTs, kEdit).Contains("inferred"));
}

// Spec: 001-28
TEST(EditTest, SurvivesTheOriginalArrivingLate) {
  ArchiveWorld world;
  world.Post(Edit());
  world.Post(Delete());
  // What the file processor wrote in the meantime.
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

// Slack gives the time of an edit in whole seconds: it may be before the post.
// Review: A1
TEST(EditTest, WithinTheSecondOfThePostIsTheNewestBody) {
  ArchiveWorld world;
  world.Post(Posted("1620000000.583369", "thinking"));
  world.Post(Changed("1620000000.900000",
                     Inner("1620000000.583369", "done", Edited("1620000000.000000")),
                     Inner("1620000000.583369", "thinking")));
  EXPECT_EQ(TextIn(world.MessageRow("1620000000.583369"), "text"), "done");
  EXPECT_EQ(TextIn(world.VersionRow("1620000000.583369", "1620000000.583369"), "text"), "thinking");
}

// The second edit has the time of the first one.
// Review: A1
TEST(EditTest, OfTwoWithinASecondTheLaterIsTheNewestBody) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Changed("1620000010.200000", Inner(kTs, "two", Edited(kEdit)), Inner(kTs, "one")));
  world.Post(Changed("1620000011.100000", Inner(kTs, "three", Edited(kEdit)),
                     Inner(kTs, "two", Edited(kEdit))));
  world.Post(Changed("1620000011.500000", Inner(kTs, "four", Edited("1620000011.000000")),
                     Inner(kTs, "three", Edited(kEdit))));
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "four");
  EXPECT_EQ(TextIn(world.VersionRow(kTs, kEdit), "text"), "two");
  EXPECT_EQ(TextIn(world.VersionRow(kTs, "1620000011.100000"), "text"), "three");
}

// The event of the first edit did not arrive: only the next event shows its text, as what was
// before. All of them are of one second, and of the second of the post.
// Review: A1
TEST(EditTest, WithinASecondThatIsOnlyInThePreviousMessageIsKept) {
  const std::string ts = "1620000000.100000";
  const std::string edited = Edited("1620000000.000000");
  const std::string second =
      Changed("1620000000.300000", Inner(ts, "three", edited), Inner(ts, "two", edited));
  for (const bool is_post_first : {true, false}) {
    ArchiveWorld world;
    if (is_post_first) world.Post(Posted(ts, "one"));
    world.Post(second);
    if (!is_post_first) world.Post(Posted(ts, "one"));
    EXPECT_EQ(TextIn(world.MessageRow(ts), "text"), "three");
    EXPECT_EQ(TextIn(world.VersionRow(ts, "1620000000.000000"), "text"), "two");
    EXPECT_EQ(TextIn(world.VersionRow(ts, ts), "text"), "one");
  }
  // The same in the event of the deletion.
  for (const bool is_post_first : {true, false}) {
    ArchiveWorld world;
    if (is_post_first) world.Post(Posted(ts, "one"));
    world.Post(Deleted("1620000030.000300", ts, Inner(ts, "two", edited)));
    if (!is_post_first) world.Post(Posted(ts, "one"));
    EXPECT_EQ(TextIn(world.MessageRow(ts), "text"), "two");
    EXPECT_EQ(TextIn(world.VersionRow(ts, ts), "text"), "one");
  }
}

// Review: A12
TEST(EditTest, ALinkPreviewAfterTwoEditsWithinASecondKeepsBoth) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Changed("1620000010.200000", Inner(kTs, "two", Edited(kEdit)), Inner(kTs, "one")));
  world.Post(Changed("1620000010.400000", Inner(kTs, "three", Edited(kEdit)),
                     Inner(kTs, "two", Edited(kEdit))));
  const std::string preview = R"(,"attachments":[{"id":1,"from_url":"https://example.com/"}])";
  world.Post(Changed("1620000010.600000", Inner(kTs, "three", Edited(kEdit) + preview),
                     Inner(kTs, "three", Edited(kEdit))));
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "three");
  EXPECT_EQ(TextIn(world.VersionRow(kTs, kEdit), "text"), "two");
}

// A poll counts in its blocks, an approval in its attachments: the text stays the same.
// Review: A5
TEST(EditTest, OfBlocksOrAttachmentsAloneIsANewBody) {
  for (const char* part : {"blocks", "attachments"}) {
    ArchiveWorld world;
    const auto poll = [&](int votes) {
      return fmt::format(R"(,"bot_id":"B1X","{}":[{{"id":1,"text":"votes: {}"}}])", part, votes);
    };
    world.Post(Posted(kTs, "poll", poll(0)));
    const std::string change =
        Changed(kEditEvent, Inner(kTs, "poll", poll(1)), Inner(kTs, "poll", poll(0)));
    EXPECT_EQ(world.Post(change), ArchiveOutcome::kStored);
    EXPECT_EQ(TextIn(world.MessageRow(kTs), "updated_ts"), kEditEvent);
    EXPECT_EQ(TextIn(world.MessageRow(kTs), "raw_event"), change);
    EXPECT_EQ(TextIn(world.VersionRow(kTs, kTs), "raw_event"), Posted(kTs, "poll", poll(0)));
  }
}

// A link preview changes a message without an edit.
TEST(EditTest, ALinkPreviewIsNotAnEdit) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  const std::string preview =
      Changed(kEditEvent,
              Inner(kTs, "one", R"(,"attachments":[{"id":1,"from_url":"https://example.com/"}])"),
              Inner(kTs, "one"));
  EXPECT_EQ(world.Post(preview), ArchiveOutcome::kStored);
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

TEST(EditTest, WithoutAPreviousMessageIsAnEditAtTheTimeOfItsEvent) {
  ArchiveWorld world;
  world.Post(Changed(kEditEvent, Inner(kTs, "two"), ""));
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "updated_ts"), kEditEvent);
}

// When enterprise keys are withdrawn, Slack shows a text of its own.
TEST(EditTest, AMessageThatSlackCannotDecryptKeepsItsBody) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  const std::string denied = fmt::format(
      R"({{"subtype":"ekm_access_denied","user":"UREVOKEDU","ts":"{}","text":"hidden"}})", kTs);
  EXPECT_EQ(world.Post(Changed(kEditEvent, denied, Inner(kTs, "one"))), ArchiveOutcome::kUnchanged);
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
  EXPECT_EQ(world.Post(Deleted("1620000030.000300", kTs, "")), ArchiveOutcome::kStored);
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

// The deletion is the last chance to keep a message that was never seen.
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

// Slack replaces a deleted root with a tombstone, which has a text and an author of its own.
TEST(DeletionTest, ATombstoneMeansDeletedAndIsNotABody) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Changed("1620000030.000300", Tombstone(kTs), Inner(kTs, "one")));
  item::Item row = world.MessageRow(kTs);
  EXPECT_TRUE(IsTrueIn(row, "deleted"));
  EXPECT_EQ(TextIn(row, "text"), "one");
  EXPECT_EQ(TextIn(row, "user"), "U1X");
  EXPECT_EQ(TextIn(row, "parent"), std::string("thread#T1X#") + kTs);
  EXPECT_EQ(world.Post(Deleted("1620000040.000300", kTs, Tombstone(kTs))),
            ArchiveOutcome::kUnchanged);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "deleted_ts"), "1620000030.000300");
}

// The policy removed the text. A late event must not bring it back.
TEST(DeletionTest, APurgedTextStaysPurged) {
  ArchiveWorld world;
  world.Post(Posted(kTs, "one"));
  world.Post(Delete());
  ASSERT_TRUE(world.tables().Update({.table = "SlackArchive",
                                     .key = KeyOf("message#T1X#C1X", kTs),
                                     .update = "SET purged = :true REMOVE #text, raw_event",
                                     .names = {{"#text", "text"}},
                                     .values = {{":true", true}}}));
  for (const std::string& event : {Posted(kTs, "one"), Edit(), Delete()}) {
    EXPECT_EQ(world.Post(event), ArchiveOutcome::kUnchanged);
  }
  EXPECT_FALSE(world.MessageRow(kTs).Contains("text"));
  EXPECT_EQ(world.Rows().size(), 1U);
}

// An event may quote other messages: its root, a message that is shared, one that is pinned. The
// quote would stay when that message is deleted.
// Review: A2
TEST(DeletionTest, NoRowHasACopyOfAnotherMessage) {
  const std::string quote =
      R"(,"attachments":[{"is_msg_unfurl":true,"channel_id":"C1X","ts":"1620000000.000100",)"
      R"("text":"secret","fallback":"secret","message_blocks":[{"x":"secret"}]},)"
      R"({"text":"own words"}])";
  const std::string root =
      R"(,"subtype":"thread_broadcast","thread_ts":"1620000000.000100",)"
      R"("root":{"ts":"1620000000.000100","text":"secret","files":[{"name":"secret.txt"}]})";
  const std::string item =
      R"(,"subtype":"pinned_item","item":{"type":"C","text":"secret","message":{"text":"secret"}})";
  for (const std::string& copy : {quote, root, item}) {
    ArchiveWorld world;
    world.Post(Posted(kTs, "one", copy));
    world.Post(
        Changed(kEditEvent, Inner(kTs, "two", Edited(kEdit) + copy), Inner(kTs, "one", copy)));
    EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "two");
    for (const item::Item& row : world.Rows()) {
      EXPECT_EQ(::testing::PrintToString(row).find("secret"), std::string::npos) << copy;
    }
    if (copy == quote) {
      EXPECT_NE(TextIn(world.MessageRow(kTs), "raw_event").find("own words"), std::string::npos);
    }
  }
}

// Spec: 001-32
TEST(RedeliveryTest, FourDeliveriesHaveTheEffectOfOne) {
  for (const std::string& event : {Posted(kTs, "one"), Edit(), Delete()}) {
    ArchiveWorld world;
    world.Post(event);
    const auto rows = world.Rows();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(world.Post(event), ArchiveOutcome::kUnchanged);
    EXPECT_EQ(world.Rows(), rows);
  }
}

// A ts is unique only within its channel.
TEST(MessageRowTest, TheSameTsInTwoChannelsIsTwoMessages) {
  ArchiveWorld world;
  std::string other = Posted(kTs, "other");
  other.replace(other.find("C1X"), 3, "C2X");
  world.Post(Posted(kTs, "one"));
  world.Post(other);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"), "one");
  EXPECT_EQ(TextIn(world.Row("message#T1X#C2X", kTs), "text"), "other");
}

// A text may be cut in the middle of an emoji and contain any character.
TEST(MessageRowTest, KeepsTextsWithAnyCharacters) {
  ArchiveWorld world;
  const std::string more = R"(,"text":"a\ud83d \u0000 \u202e\ud83d\udc68\u200d\ud83d\udc69")";
  std::string event = Posted(kTs, "x");
  event.replace(event.find(R"(,"text":"x")"), 11, more);
  EXPECT_EQ(world.Post(event), ArchiveOutcome::kStored);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "text"),
            std::string("a\xef\xbf\xbd ") + '\0' +
                " \xe2\x80\xae\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9");
}

TEST(MessageRowTest, UsesTheTimeOfTheEnvelopeWhenAChangeHasNone) {
  ArchiveWorld world;
  std::string event = Changed(kEditEvent, Inner(kTs, "two"), Inner(kTs, "one"));
  for (const char* name : {"ts", "event_ts"}) {
    const std::string field = fmt::format(R"("{}":"{}",)", name, kEditEvent);
    event.erase(event.find(field), field.size());
  }
  EXPECT_EQ(world.Post(event), ArchiveOutcome::kStored);
  EXPECT_EQ(TextIn(world.MessageRow(kTs), "updated_ts"), "1620000999.000000");
}

// Messages are read in the order of time, not in the order in which they were stored.
// Spec: 001-68
TEST(MessageRowTest, AreSortedByTime) {
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
