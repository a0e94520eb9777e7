// Exports with private parts, several teams, and all kinds of faults.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/archive/import_world.h"
#include "tests/support/faulty_tables.h"

namespace tidemark::archive {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr const char* kDay = "general/2021-06-01.json";

::testing::Matcher<const std::vector<Problem>&> HasProblem(const std::string& file,
                                                           const std::string& reason) {
  return Contains(::testing::AllOf(Field(&Problem::file, HasSubstr(file)),
                                   Field(&Problem::reason, HasSubstr(reason))));
}

// Each bad row is skipped and reported with its file. The others are imported.
TEST(ImportFaultsTest, BadRowsAreReportedAndSkipped) {
  struct Case {
    const char* row;
    const char* reason;
  };
  const Case cases[] = {
      {R"({"type":"message","text":"x","ts":"yesterday"})", "ts"},
      {R"({"type":"message","text":"x"})", "ts"},
      {R"({"type":"message","text":"x","ts":1620000000.0001})", "ts"},
      {R"("just a text")", "not an object"},
      {R"({"type":"message","text":"x)", ""},
      {R"({"type":"message",,"text":"x"})", "not JSON"},
      {"{\"type\":\"message\",\"text\":\"\xFF\xFE\",\"ts\":\"1622500000.000100\"}", "UTF-8"},
  };
  for (const Case& one : cases) {
    ExportTexts texts = SmallExport();
    texts[kDay] = std::string("[") + one.row +
                  R"(, {"type":"message","user":"U1X","text":"good","ts":"1622500001.000100"}])";
    ImportWorld world;
    const ImportReport report = world.Import(texts);
    EXPECT_GE(report.problems, 1u) << one.row;
    EXPECT_THAT(report.examples, HasProblem(kDay, one.reason)) << one.row;
    EXPECT_GE(report.messages.stored_new, 3u) << one.row;
    // An open quotation mark spoils the rest of its file. All other faults spoil one row.
    if (report.unreadable_files == 0) {
      EXPECT_EQ(TextIn(world.MessageRow("1622500001.000100"), "text"), "good") << one.row;
    }
  }
}

// Nothing is gained by storing the rows of such a transaction one by one.
TEST(ImportFaultsTest, ARowThatTheStoreCallsInvalidEndsTheImport) {
  const TempFolder folder;
  WriteFolder(SmallExport(), folder.path());
  ImportWorld world;
  testing::FaultyTables faulty(&world.tables_);
  faulty.cancel = [] { return tables::CancellationCode::kValidationError; };
  ImportParts parts = world.parts();
  parts.tables = &faulty;
  ImportProgress progress;
  const auto report = ImportExport(folder.path(), {}, parts, &progress);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kInternal);
  EXPECT_THAT(report.error().message, HasSubstr("the store refused a row of the archive"));
  EXPECT_EQ(world.MessageRow("1620000000.000100"), item::Item());
}

// Some programs for Windows write backslashes between the folders of a zip file.
// Review: A10
TEST(ImportFaultsTest, AZipWithBackslashesIsImported) {
  ExportTexts texts;
  for (const auto& [name, text] : SmallExport()) {
    std::string there = name;
    std::ranges::replace(there, '/', '\\');
    texts[there] = text;
  }
  const TempFolder folder;
  WriteZip(texts, folder.path() + "/export.zip");
  ImportWorld world;
  EXPECT_EQ(world.ImportPath(folder.path() + "/export.zip").messages.stored_new, 3u);
}

// A text that no row has room for is a problem, each time, and its time is not complete.
// Review: A10
TEST(ImportFaultsTest, AMessageThatIsTooLargeIsReportedEachTime) {
  ExportTexts texts = SmallExport();
  texts[kDay] = R"([{"type":"message","user":"U1X","text":")" + std::string(500'000, 'x') +
                R"(","ts":"1622500001.000100"},)"
                R"({"type":"message","user":"U1X","text":"next","ts":"1622500002.000100"}])";
  ImportWorld world;
  for (int i = 0; i < 2; ++i) {
    const ImportReport report = world.Import(texts);
    EXPECT_EQ(report.bad, 1u);
    EXPECT_THAT(report.examples, HasProblem(kDay, "1622500001.000100"));
    EXPECT_EQ(report.MessageCount(), 4u);
  }
  bool is_lost = false;
  for (const item::Item& row : world.Rows()) is_lost |= TextIn(row, "kind") == "lost";
  EXPECT_TRUE(is_lost);
}

// The list has the name of the day of the export. The rename before it is older.
// Review: A10
TEST(ImportFaultsTest, TheNameInTheListIsTheNewest) {
  ExportTexts texts = SmallExport();
  ImportWorld world;
  world.Post(R"({"type":"channel_rename","channel":{"id":"C1X","name":"lobby"},)"
             R"("event_ts":"1600000000.000000"})",
             ToldChannel::kPublic);
  world.Import(texts);
  EXPECT_EQ(TextIn(world.ChannelRow(), "name"), "general");
  // A rename after the export is newer.
  world.Post(R"({"type":"channel_rename","channel":{"id":"C1X","name":"hall"},)"
             R"("event_ts":"1630000000.000000"})");
  EXPECT_EQ(TextIn(world.ChannelRow(), "name"), "hall");
}

// Review: A10
TEST(ImportFaultsTest, FilesInsideTheExportAreCounted) {
  ExportTexts texts = SmallExport();
  texts["__uploads/F1X/a.pdf"] = "PDF";
  texts["general/attachments/F2X-b.txt"] = "text";
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.attachments, 2u);
  EXPECT_EQ(report.first_attachment, "__uploads/F1X/a.pdf");
  EXPECT_EQ(report.problems, 0u);
}

// What was read before the stop is stored and listed. The next import adds the rest.
// Review: A10
TEST(ImportFaultsTest, AStoppedImportSaysWhereAndGoesOn) {
  ImportWorld world;
  int asked = 0;
  const ImportReport stopped =
      world.Import(SmallExport(), {.is_stopped = [&] { return ++asked > 1; }});
  EXPECT_TRUE(stopped.is_stopped);
  EXPECT_EQ(stopped.files, 1u);
  EXPECT_EQ(stopped.total_files, 2u);
  EXPECT_EQ(stopped.last_file, "general/2021-05-03.json");
  EXPECT_EQ(world.parts()
                .index
                ->Find({.team = slack::TeamId::Parse("T1X").value(),
                        .channel = slack::ChannelId::Parse("C1X").value()})
                .value(),
            "general");
  for (const item::Item& row : world.Rows()) EXPECT_NE(TextIn(row, "kind"), "imported");
  const ImportReport rest = world.Import(SmallExport());
  EXPECT_FALSE(rest.is_stopped);
  EXPECT_EQ(rest.messages.stored_new, 1u);
  EXPECT_EQ(rest.messages.unchanged, 2u);
}

// Unusual rows that are valid messages.
TEST(ImportFaultsTest, OddRowsAreKept) {
  ExportTexts texts = SmallExport();
  texts[kDay] =
      "\xEF\xBB\xBF[\n"
      R"({"type":"message","text":"nobody wrote this","ts":"1622500000.000100"},)"
      R"({"type":"message","user":"U9X","text":"<@UNOBODY> <#Cwrong|x> <!oops",)"
      R"("ts":"1622500001.000100"},)"
      R"({"type":"message","user":"U1X","ts":"1622500002.000100","blocks":[]},)"
      R"({"type":"message","user":"U1X","text":"half \ud83d a pair","ts":"1622500003.000100"},)"
      R"({"type":"message","user":"U1X","text":"old file","ts":"1622500004.000100",)"
      R"("file":{"id":"F9X","name":"b"}},)"
      R"({"type":"message","user":null,"text":null,"files":"none","reactions":{},)"
      R"("ts":"1622500005.000100"}])";
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.problems, 0u);
  EXPECT_EQ(report.messages.stored_new, 9u);
  EXPECT_TRUE(world.MessageRow("1622500004.000100").Contains("files"));
}

// A row may be repeated in the file of the next day.
TEST(ImportFaultsTest, ARowTwiceIsOneMessage) {
  ExportTexts texts = SmallExport();
  texts["general/2021-05-06.json"] = texts["general/2021-05-03.json"];
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.messages.stored_new, 3u);
  EXPECT_EQ(report.messages.unchanged, 2u);
  EXPECT_EQ(report.messages.reactions, 2u);
}

TEST(ImportFaultsTest, AFolderWithoutAListedConversationIsLeftOut) {
  ExportTexts texts = SmallExport();
  texts["unlisted/2021-05-03.json"] = texts["general/2021-05-03.json"];
  texts["unlisted/2021-05-04.json"] = texts["general/2021-05-04.json"];
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.files, 2u);
  EXPECT_EQ(report.problems, 1u);
  EXPECT_THAT(report.examples, HasProblem("unlisted", "no list has"));
}

TEST(ImportFaultsTest, BadListsAndUsersAreReported) {
  ExportTexts texts = SmallExport();
  texts["channels.json"].insert(1, R"({"id":"nonsense","name":"x"}, 7, )");
  texts["users.json"].insert(1, R"({"name":"no id"}, )");
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.messages.stored_new, 3u);
  EXPECT_THAT(report.examples, HasProblem("channels.json", "channel_id"));
  EXPECT_THAT(report.examples, HasProblem("channels.json", "not an object"));
  EXPECT_THAT(report.examples, HasProblem("users.json", "valid id"));
}

TEST(ImportFaultsTest, UsersMayBeMissing) {
  ExportTexts texts = SmallExport();
  texts.erase("users.json");
  texts[kDay] = R"([{"type":"message","team":"T1X","text":"x","ts":"1622500001.000100"}])";
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.users, 0u);
  EXPECT_EQ(report.teams, std::vector<std::string>{"T1X"});
}

TEST(ImportFaultsTest, WithoutATeamTheErrorAsksForOne) {
  ExportTexts texts = SmallExport();
  texts.erase("users.json");
  const TempFolder folder;
  WriteFolder(texts, folder.path());
  ImportWorld world;
  const auto refused = world.TryImport(folder.path());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("--team"));
  EXPECT_TRUE(world.Rows().empty());
  EXPECT_EQ(world.ImportPath(folder.path(), {.teams = {"T1X"}}).messages.stored_new, 3u);
}

// A file that was cut off: its rows are imported, and its day is not marked as covered.
TEST(ImportFaultsTest, ACutFileCoversNothing) {
  ExportTexts texts = SmallExport();
  texts[kDay] = R"([{"type":"message","text":"x","ts":"1622500001.000100"}, {"type":)";
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.unreadable_files, 1u);
  EXPECT_EQ(report.messages.stored_new, 4u);
  const auto marks =
      world.ledger_.Marks({*slack::TeamId::Parse("T1X"), *slack::ChannelId::Parse("C1X")});
  ASSERT_EQ(marks->size(), 1u);
  EXPECT_EQ(marks->front().to->text(), "1620090000.000300") << "the days before it are whole";
}

TEST(ImportFaultsTest, ADayWithABadRowIsNotCovered) {
  ExportTexts texts = SmallExport();
  texts[kDay] = R"([{"type":"message","text":"x","ts":"1622500001.000100"},{"text":"no time"}])";
  ImportWorld world;
  world.Import(texts);
  const auto marks =
      world.ledger_.Marks({*slack::TeamId::Parse("T1X"), *slack::ChannelId::Parse("C1X")});
  ASSERT_EQ(marks->size(), 1u);
  EXPECT_EQ(marks->front().to->text(), "1620090000.000300");
}

// Slack's exports may have a message in the files of two days.
TEST(ImportFaultsTest, ADryRunCountsARepeatedMessageOnce) {
  ExportTexts texts = SmallExport();
  texts["general/2021-05-05.json"] = texts["general/2021-05-04.json"];
  ImportWorld world;
  const ImportReport planned = world.Import(texts, {.mode = ImportMode::kDryRun});
  EXPECT_TRUE(world.Rows().empty());
  const ImportReport done = world.Import(texts);
  for (const ImportReport* report : {&planned, &done}) {
    EXPECT_EQ(report->messages.stored_new, 3u);
    EXPECT_EQ(report->messages.unchanged, 1u);
    EXPECT_EQ(report->messages.reactions, 2u);
  }
}

// ---- Zip files ----

class DamagedZipTest : public ::testing::Test {
 protected:
  DamagedZipTest() { WriteZip(SmallExport(), path_); }
  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void Overwrite(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  TempFolder folder_;
  std::string path_ = folder_.path() + "/export.zip";
  ImportWorld world_;
};

TEST_F(DamagedZipTest, ACutZipIsRefusedAndNothingIsStored) {
  Overwrite(Bytes().substr(0, Bytes().size() / 2));
  const auto report = world_.TryImport(path_);
  ASSERT_FALSE(report.has_value());
  EXPECT_THAT(report.error().message, HasSubstr("cannot be read as a zip file"));
  EXPECT_TRUE(world_.Rows().empty());
}

// Nothing of a file with a wrong checksum is imported.
TEST_F(DamagedZipTest, NothingOfADamagedFileIsStored) {
  std::string bytes = Bytes();
  bytes[bytes.find("reply\",\"ts\"")] = 'R';
  Overwrite(bytes);
  const ImportReport report = world_.ImportPath(path_);
  EXPECT_EQ(report.unreadable_files, 1u);
  EXPECT_EQ(report.messages.stored_new, 1u);
  EXPECT_THAT(report.examples, HasProblem("general/2021-05-03.json", "cannot be unpacked"));
}

TEST_F(DamagedZipTest, RefusesWhatIsNotAnExport) {
  WriteZip({{"letter.txt", "hello"}}, path_);
  const auto report = world_.TryImport(path_);
  ASSERT_FALSE(report.has_value());
  EXPECT_THAT(report.error().message, HasSubstr("not an export of Slack"));
  EXPECT_EQ(world_.TryImport(folder_.path() + "/none.zip").error().code, ErrorCode::kNotFound);
}

// ---- Private conversations ----

ExportTexts PrivateExport() {
  ExportTexts texts = SmallExport();
  texts["groups.json"] = R"([{"id":"G1X","name":"secret","created":1500000000}])";
  texts["dms.json"] = R"([{"id":"D1X","created":1500000000,"members":["U1X","U2X"]}])";
  texts["mpims.json"] = R"([{"id":"G2X","name":"mpdm-a--b--c-1","created":1500000000}])";
  for (const char* folder : {"secret", "D1X", "mpdm-a--b--c-1"}) {
    texts[std::string(folder) + "/2021-05-03.json"] =
        R"([{"type":"message","user":"U1X","text":"hush","ts":"1620000000.000100"}])";
  }
  return texts;
}

TEST(ImportPrivateTest, PrivateConversationsAreLeftOut) {
  ImportWorld world;
  const ImportReport report = world.Import(PrivateExport());
  EXPECT_EQ(report.private_left_out, 3u);
  EXPECT_EQ(report.messages.stored_new, 3u);
  for (const item::Item& row : world.Rows()) EXPECT_NE(TextIn(row, "text"), "hush");
}

// A channel in the list of public channels that says it is private counts as private.
TEST(ImportPrivateTest, AListedChannelThatSaysItIsPrivateIsPrivate) {
  ExportTexts texts = SmallExport();
  texts["channels.json"].insert(2, R"("is_private":true,)");
  ImportWorld world;
  EXPECT_EQ(world.Import(texts).messages.stored_new, 0u);
}

// With the option they are imported, and their later events are still not kept.
TEST(ImportPrivateTest, WithPrivateTheyAreKeptAsPrivate) {
  ImportWorld world;
  const ImportReport report = world.Import(PrivateExport(), {.with_private = true});
  EXPECT_EQ(report.messages.stored_new, 6u);
  EXPECT_EQ(TextIn(world.Row("message#T1X#D1X", "1620000000.000100"), "text"), "hush");
  const item::Item channel = world.ChannelRow("G1X");
  EXPECT_EQ(TextIn(channel, "visibility"), "private");
  EXPECT_FALSE(IsTrueIn(channel, "was_public"));
  EXPECT_EQ(world.Post(R"({"type":"message","channel":"G1X","channel_type":"group","user":"U1X",)"
                       R"("text":"later","ts":"1640000000.000100"})"),
            ArchiveOutcome::kNotPublic);
}

// ---- Enterprise Grid ----

TEST(ImportGridTest, EachWorkspaceHasItsOwnTeam) {
  ExportTexts texts;
  texts["org_users.json"] = R"([{"id":"U1X","team_id":"E1X","name":"ann"}])";
  for (const auto& [name, team] : {std::pair("acme", "T1X"), std::pair("beta", "T2X")}) {
    const std::string folder = fmt::format("teams/{}/", name);
    texts[folder + "channels.json"] = R"([{"id":"C1X","name":"general","created":1500000000}])";
    texts[folder + "general/2021-05-03.json"] = fmt::format(
        R"([{{"type":"message","user":"U1X","team":"{}","text":"{}","ts":"1620000000.000100"}}])",
        team, name);
  }
  ImportWorld world;
  const ImportReport report = world.Import(texts);
  EXPECT_EQ(report.teams, (std::vector<std::string>{"T1X", "T2X"}));
  EXPECT_EQ(TextIn(world.Row("message#T1X#C1X", "1620000000.000100"), "text"), "acme");
  EXPECT_EQ(TextIn(world.Row("message#T2X#C1X", "1620000000.000100"), "text"), "beta");

  ImportWorld told;
  told.Import(texts, {.teams = {"beta=T9X", "T8X"}});
  EXPECT_EQ(TextIn(told.Row("message#T8X#C1X", "1620000000.000100"), "text"), "acme");
  EXPECT_EQ(TextIn(told.Row("message#T9X#C1X", "1620000000.000100"), "text"), "beta");
}

}  // namespace
}  // namespace tidemark::archive
