// What an import stores, and how it is joined with events.
#include <algorithm>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/archive/reader.h"
#include "tests/archive/import_world.h"

namespace tidemark::archive {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRoot = "1620000000.000100";
constexpr const char* kImportExportEdited = "1620090000.000300";

std::string JsonOf(const std::vector<item::Item>& rows) {
  std::string text;
  for (const item::Item& row : rows) text += item::ToJson(row) + "\n";
  return text;
}

// What readers see of messages: not how often a row was written, nor the text that it was read
// from, which an export and an event have in different forms.
std::vector<item::Item> Shown(std::vector<item::Item> rows) {
  std::vector<item::Item> shown;
  for (item::Item& row : rows) {
    const std::string type = TextIn(row, "type");
    if (type != "message" && type != "version" && type != "reaction") continue;
    row.Erase("revision");
    row.Erase("raw_event");
    shown.push_back(std::move(row));
  }
  return shown;
}

TEST(ImportTest, StoresWhatTheExportHas) {
  ImportWorld world;
  const ImportReport report = world.Import(SmallExport());
  EXPECT_EQ(report.files, 2u);
  EXPECT_EQ(report.messages.stored_new, 3u);
  EXPECT_EQ(report.messages.reactions, 2u);
  EXPECT_EQ(report.users, 2u);
  EXPECT_EQ(report.channels, 1u);
  EXPECT_EQ(report.problems, 0u);
  EXPECT_EQ(report.teams, std::vector<std::string>{"T1X"});

  const item::Item root = world.MessageRow(kRoot);
  EXPECT_EQ(TextIn(root, "text"), "root");
  EXPECT_EQ(TextIn(root, "parent"), std::string("thread#T1X#") + kRoot);
  const item::Item edited = world.MessageRow(kImportExportEdited);
  EXPECT_EQ(TextIn(edited, "updated_ts"), "1620090060.000000");
  EXPECT_EQ(TextIn(world.ChannelRow(), "name"), "general");
  EXPECT_EQ(TextIn(world.ChannelRow(), "topic"), "all of it");
  EXPECT_EQ(TextIn(world.ChannelRow(), "visibility"), "public");
  EXPECT_EQ(TextIn(world.Row("meta#T1X#user#U1X", "1500000001.000000"), "real_name"), "Ann");
  EXPECT_EQ(TextIn(world.Row("meta#T1X#reactions#C1X", std::string(kRoot) + "#tada#U2X"), "user"),
            "U2X");
  const auto names = world.index_.All(*slack::TeamId::Parse("T1X"));
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(names->at("C1X"), "general");
}

TEST(ImportTest, ZipAndFolderGiveTheSameRows) {
  ImportWorld from_folder;
  from_folder.Import(SmallExport());
  ImportWorld from_zip;
  const TempFolder folder;
  WriteZip(SmallExport(), folder.path() + "/export.zip");
  from_zip.ImportPath(folder.path() + "/export.zip");
  EXPECT_EQ(from_folder.Rows(), from_zip.Rows());
}

TEST(ImportTest, ASecondImportChangesNothing) {
  ImportWorld world;
  world.Import(SmallExport());
  const auto rows = world.Rows();
  world.test_.clock.Advance(std::chrono::hours(1));
  const ImportReport again = world.Import(SmallExport());
  EXPECT_EQ(again.messages.stored_new, 0u);
  EXPECT_EQ(again.messages.updated, 0u);
  EXPECT_EQ(again.messages.unchanged, 3u);
  EXPECT_EQ(again.messages.reactions, 0u);
  EXPECT_EQ(world.Rows(), rows);
}

TEST(ImportTest, ADryRunWritesNothingAndCountsWhatItWouldWrite) {
  ImportWorld world;
  const auto before = world.Rows();
  const ImportReport report = world.Import(SmallExport(), {.mode = ImportMode::kDryRun});
  EXPECT_EQ(report.messages.stored_new, 3u);
  EXPECT_EQ(world.Rows(), before);
}

// Links in exports contain a token. It is a secret and must not be stored.
TEST(ImportTest, KeepsNoTokenOfALink) {
  ImportWorld world;
  world.Import(SmallExport());
  EXPECT_THAT(JsonOf(world.Rows()), HasSubstr("https://files.slack.com/a.pdf"));
  EXPECT_THAT(JsonOf(world.Rows()), Not(HasSubstr("xoxe")));
}

// Events about the messages of the small export, older and newer than the export.
const std::vector<std::string>& LiveEvents() {
  static const std::vector<std::string> events = {
      R"({"type":"message","channel":"C1X","channel_type":"channel","user":"U1X","text":"root",)"
      R"("ts":"1620000000.000100","event_ts":"1620000000.000100"})",
      R"({"type":"message","channel":"C1X","channel_type":"channel","user":"U1X","text":"old",)"
      R"("ts":"1620090000.000300","event_ts":"1620090000.000300"})",
      R"({"type":"message","subtype":"message_changed","channel":"C1X","channel_type":"channel",)"
      R"("ts":"1620099999.000000","event_ts":"1620099999.000000","message":{"type":"message",)"
      R"("user":"U1X","text":"newest","ts":"1620090000.000300",)"
      R"("edited":{"user":"U1X","ts":"1620099999.000000"}},"previous_message":{"type":"message",)"
      R"("user":"U1X","text":"new text","ts":"1620090000.000300",)"
      R"("edited":{"user":"U1X","ts":"1620090060.000000"}}})",
      R"({"type":"message","subtype":"message_deleted","channel":"C1X","channel_type":"channel",)"
      R"("ts":"1620100000.000000","event_ts":"1620100000.000000",)"
      R"("deleted_ts":"1620000001.000200"})",
      R"({"type":"reaction_removed","user":"U2X","reaction":"tada","event_ts":"1620100001.000000",)"
      R"("item":{"type":"message","channel":"C1X","ts":"1620000000.000100"}})"};
  return events;
}

// Whenever the import runs among the events, readers see the same in the end.
TEST(ImportTest, JoinsEventsInAnyOrder) {
  std::optional<std::string> expected;
  for (size_t before = 0; before <= LiveEvents().size(); ++before) {
    ImportWorld world;
    // The channel is public by an event too, so that its reactions are kept before the import.
    world.Post(R"({"type":"channel_created","event_ts":"1500000000.000000",)"
               R"("channel":{"id":"C1X","name":"general","is_private":false}})");
    for (size_t i = 0; i < LiveEvents().size(); ++i) {
      if (i == before) world.Import(SmallExport());
      world.Post(LiveEvents()[i]);
    }
    if (before == LiveEvents().size()) world.Import(SmallExport());
    const std::string rows = JsonOf(Shown(world.Rows()));
    if (!expected) expected = rows;
    EXPECT_EQ(rows, *expected) << before << " events before the import";
    const item::Item edited = world.MessageRow(kImportExportEdited);
    EXPECT_EQ(TextIn(edited, "text"), "newest");
    EXPECT_TRUE(IsTrueIn(world.MessageRow("1620000001.000200"), "deleted"));
  }
}

// An export has a bot's message as it was last, without a sign that the bot changed it. The events
// know what it said before.
// Review: A12
TEST(ImportTest, ABotsSilentEditDoesNotReplaceTheOriginal) {
  const std::string ts = "1620180002.000100";
  const auto message = [&](std::string_view text) {
    return fmt::format(
        R"({{"type":"message","subtype":"bot_message","bot_id":"B1X","text":"{}","ts":"{}"}})",
        text, ts);
  };
  ExportTexts texts = SmallExport();
  texts["general/2021-05-05.json"] = "[" + message("done") + "]";
  const std::string posted =
      fmt::format(R"({{"type":"message","subtype":"bot_message","bot_id":"B1X","channel":"C1X",)"
                  R"("channel_type":"channel","text":"thinking","ts":"{0}","event_ts":"{0}"}})",
                  ts);
  const std::string changed = fmt::format(
      R"({{"type":"message","subtype":"message_changed","channel":"C1X","channel_type":"channel",)"
      R"("ts":"1620180009.000000","event_ts":"1620180009.000000","message":{},)"
      R"("previous_message":{}}})",
      message("done"), message("thinking"));
  for (size_t before = 0; before <= 2; ++before) {
    ImportWorld world;
    if (before == 0) world.Import(texts);
    world.Post(posted);
    if (before == 1) world.Import(texts);
    world.Post(changed);
    if (before == 2) world.Import(texts);
    EXPECT_EQ(TextIn(world.MessageRow(ts), "text"), "done") << before;
    EXPECT_EQ(TextIn(world.Row("meta#T1X#versions#C1X#" + ts, ts), "text"), "thinking") << before;
  }
}

// A list shows the state at the time of the export. An event has an exact time and wins.
TEST(ImportTest, EventsOfAChannelOutweighTheList) {
  for (const bool live_first : {true, false}) {
    ImportWorld world;
    if (!live_first) world.Import(SmallExport());
    world.Post(R"({"type":"channel_rename","event_ts":"1630000000.000000",)"
               R"("channel":{"id":"C1X","name":"lobby","created":1500000000}})",
               ToldChannel::kPublic);
    if (live_first) world.Import(SmallExport());
    EXPECT_EQ(TextIn(world.ChannelRow(), "name"), "lobby");
    EXPECT_EQ(TextIn(world.ChannelRow(), "topic"), "all of it");
  }
}

// Joins and leaves are left out, as for events. Topics change the channel, and are messages.
TEST(ImportTest, TreatsSubtypesAsEventsDo) {
  ExportTexts texts = SmallExport();
  texts["general/2021-05-05.json"] =
      R"([{"type":"message","subtype":"channel_join","user":"U1X","text":"joined",)"
      R"("ts":"1620180000.000100"},)"
      R"({"type":"message","subtype":"channel_topic","user":"U1X","topic":"newer",)"
      R"("text":"set","ts":"1620180001.000100"},)"
      R"({"type":"message","subtype":"bot_message","bot_id":"B1X","text":"kept",)"
      R"("ts":"1620180002.000100"},)"
      R"({"type":"message","subtype":"brand_new","user":"U1X","text":"kept",)"
      R"("ts":"1620180003.000100"}])";
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.left_out, 2u);
  EXPECT_EQ(report.messages.stored_new, 5u);
  EXPECT_TRUE(world.MessageRow("1620180000.000100").empty());
  EXPECT_EQ(TextIn(world.MessageRow("1620180001.000100"), "text"), "set");
  EXPECT_EQ(TextIn(world.ChannelRow(), "topic"), "newer");
}

// Of a deleted root only the deletion is stored, and nothing of Slack's placeholder text.
TEST(ImportTest, ATombstoneIsADeletedStub) {
  ExportTexts texts = SmallExport();
  texts["general/2021-05-05.json"] =
      R"([{"type":"message","subtype":"tombstone","user":"USLACKBOT","hidden":true,)"
      R"("text":"This message was deleted.","ts":"1620180000.000100",)"
      R"("thread_ts":"1620180000.000100"}])";
  ImportWorld world;
  world.Import(texts);
  const item::Item stub = world.MessageRow("1620180000.000100");
  EXPECT_TRUE(IsTrueIn(stub, "deleted"));
  EXPECT_TRUE(IsTrueIn(stub, "stub"));
  EXPECT_THAT(item::ToJson(stub), Not(HasSubstr("This message")));
  // The time in an event is earlier, and counts.
  world.Post(R"({"type":"message","subtype":"message_deleted","channel":"C1X",)"
             R"("channel_type":"channel","ts":"1620190000.000000","event_ts":"1620190000.000000",)"
             R"("deleted_ts":"1620180000.000100"})");
  EXPECT_EQ(TextIn(world.MessageRow("1620180000.000100"), "deleted_ts"), "1620190000.000000");
}

// A reaction that an event removed or added stays as the event says.
TEST(ImportTest, ALiveReactionOutweighsTheSnapshot) {
  ImportWorld world;
  world.Import(SmallExport());
  world.Post(LiveEvents().back());
  world.Import(SmallExport());
  const item::Item row = world.Row("meta#T1X#reactions#C1X", std::string(kRoot) + "#tada#U2X");
  EXPECT_TRUE(IsTrueIn(row, "removed"));
}

// Slack names only some of the people when many reacted.
// Review: A14
TEST(ImportTest, KeepsHowManyPeopleReacted) {
  ImportWorld world;
  Reader reader({}, &world.tables_, &world.index_, &world.test_.clock);
  const auto reactions = [&] {
    const Place place{*slack::TeamId::Parse("T1X"), *slack::ChannelId::Parse("C1X")};
    return reader.Detail(place, *slack::Timestamp::Parse(kRoot)).value()->reactions;
  };
  const auto import = [&](int count) {
    ExportTexts texts = SmallExport();
    std::string& day = texts["general/2021-05-03.json"];
    const std::string two = R"("count":2)";
    day.replace(day.find(two), two.size(), fmt::format(R"("count":{})", count));
    world.Import(texts);
  };
  import(60);
  ASSERT_EQ(reactions().size(), 1u);
  EXPECT_EQ(reactions()[0].users.size(), 2u);
  EXPECT_EQ(reactions()[0].count, 60);
  import(61);
  import(59);
  EXPECT_EQ(reactions()[0].count, 61);
  world.Post(LiveEvents().back());  // One of the two takes it back.
  EXPECT_EQ(reactions()[0].users.size(), 1u);
  EXPECT_EQ(reactions()[0].count, 60);
}

// The list of channels names what is pinned. A removal that came as an event is newer.
TEST(ImportTest, PinsAreImported) {
  ExportTexts texts = SmallExport();
  texts["channels.json"] =
      R"([{"id":"C1X","name":"general","pins":[{"id":"1620000000.000100","type":"C",)"
      R"("created":1620000050,"user":"U2X","owner":"U1X"},{"id":"F1X","type":"F"}]}])";
  ImportWorld world;
  EXPECT_EQ(world.Import(texts).pins, 1u);
  const item::Item pin = world.Row("meta#T1X#pins#C1X", kRoot);
  EXPECT_EQ(TextIn(pin, "user"), "U2X");
  EXPECT_EQ(TextIn(pin, "event_ts"), "1620000050.000000");
  world.Post(R"({"type":"pin_removed","channel_id":"C1X","user":"U2X","item":{"type":"message",)"
             R"("message":{"ts":"1620000000.000100"}},"event_ts":"1620000060.000000"})");
  EXPECT_EQ(world.Import(texts).pins, 0u);
  EXPECT_TRUE(IsTrueIn(world.Row("meta#T1X#pins#C1X", kRoot), "removed"));
}

TEST(ImportTest, MarksWhatIsCovered) {
  ImportWorld world;
  world.Import(SmallExport());
  const Place place{*slack::TeamId::Parse("T1X"), *slack::ChannelId::Parse("C1X")};
  auto marks = world.ledger_.Marks(place);
  ASSERT_TRUE(marks.has_value());
  ASSERT_EQ(marks->size(), 1u);
  EXPECT_EQ(marks->front().kind, CoverageKind::kImported);
  EXPECT_EQ(marks->front().from.text(), kRoot);
  EXPECT_EQ(marks->front().to->text(), kImportExportEdited);

  // A later export begins at the same message and ends later.
  ExportTexts longer = SmallExport();
  longer["general/2021-06-01.json"] =
      R"([{"type":"message","user":"U1X","text":"later","ts":"1622500000.000100"}])";
  world.Import(longer);
  const auto coverage = world.ledger_.Of(place);
  ASSERT_TRUE(coverage.has_value());
  ASSERT_FALSE(coverage->empty());
  EXPECT_EQ(coverage->front().from.text(), kRoot);
  EXPECT_EQ(coverage->back().to->text(), "1622500000.000100");
}

}  // namespace
}  // namespace tidemark::archive
