// `tidemark archive …` from end to end: the built program on a folder, and beside a server.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/directory/directory_objects.h"
#include "tests/archive/import_world.h"
#include "tests/programs/serve_fixture.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRoot = "1620000000.000100";
constexpr const char* kEdited = "1620090000.000300";

class ArchiveCommandsTest : public ServeFixture {
 protected:
  ArchiveCommandsTest() { archive::WriteFolder(archive::SmallExport(), path("export")); }

  // Runs `tidemark archive …` on the folder "data".
  Outcome Archive(Words arguments) const {
    arguments.insert(arguments.begin(), "archive");
    return Run(arguments, {"TIDEMARK_DATA=data"});
  }
  std::string DoArchive(const Words& arguments) const {
    const Outcome outcome = Archive(arguments);
    EXPECT_EQ(outcome.exit_code, kOk) << outcome.err;
    return outcome.out;
  }
};

TEST_F(ArchiveCommandsTest, ImportSaysWhatItDid) {
  const std::string first = DoArchive({"import", "export"});
  EXPECT_EQ(NumberAt(first, "new"), 3);
  EXPECT_EQ(NumberAt(first, "problems"), 0);
  EXPECT_EQ(NumberAt(DoArchive({"import", "export"}), "unchanged"), 3);
  EXPECT_THAT(DoArchive({"import", "export", "--table"}),
              HasSubstr("0 new, 0 updated, 3 unchanged"));
}

TEST_F(ArchiveCommandsTest, ADryRunLeavesNoFolderBehind) {
  EXPECT_EQ(NumberAt(DoArchive({"import", "export", "--dry-run"}), "new"), 3);
  EXPECT_FALSE(std::filesystem::exists(path("data")));
}

// The same message in the files of two days, an edit of one, many reactions, a pin, a text that no
// row has room for, and rows that cannot be used.
TEST_F(ArchiveCommandsTest, ADryRunSaysWhatTheImportThenDoes) {
  const std::string row =
      R"({"type":"message","user":"U1X","text":"twice","ts":"1622500001.000100",)"
      R"("reactions":[{"name":"one","users":["U1X"],"count":3}]})";
  const std::string edited =
      R"({"type":"message","user":"U1X","text":"changed","ts":"1622500001.000100",)"
      R"("edited":{"user":"U1X","ts":"1622600000.000000"}})";
  const std::string large = R"({"type":"message","user":"U1X","text":")" +
                            std::string(500'000, 'x') + R"(","ts":"1622500005.000100"})";
  std::ofstream(path("export/general/2021-06-01.json")) << "[" << row << "," << large << "]";
  std::ofstream(path("export/general/2021-06-02.json")) << "[" << row << R"(,{"text":"no time"}])";
  std::ofstream(path("export/general/2021-06-03.json")) << "[" << edited << "]";
  std::ofstream(path("export/channels.json"))
      << R"([{"id":"C1X","name":"general","pins":[{"id":"1622500001.000100","user":"U1X",)"
         R"("type":"C","created":1622500100},{"id":"F1X","type":"F"}]}])";
  const auto numbers = [&](const Words& more) {
    Words arguments = {"import", "export"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Archive(arguments);
    EXPECT_EQ(outcome.exit_code, kNotMet) << outcome.err;
    std::string text;
    for (const char* const name : {"messages", "new", "updated", "unchanged", "left_out", "bad",
                                   "reactions_new", "pins_new", "users", "channels", "problems"}) {
      text += fmt::format("{} {}, ", name, NumberAt(outcome.out, name));
    }
    return text;
  };
  const std::string planned = numbers({"--dry-run"});
  EXPECT_EQ(planned, numbers({}));
  EXPECT_THAT(planned, HasSubstr("new 4, updated 1, unchanged 1,"));
  EXPECT_THAT(planned, HasSubstr("reactions_new 4, pins_new 1,"));
  // Beside an archive that has some of it.
  std::ofstream(path("export/general/2021-06-04.json"))
      << R"([{"type":"message","user":"U1X","text":"later","ts":"1622700000.000100"}])";
  const std::string more = numbers({"--dry-run"});
  EXPECT_EQ(more, numbers({}));
  EXPECT_THAT(more, HasSubstr("new 1, updated 0, unchanged 6,"));
  EXPECT_THAT(more, HasSubstr("reactions_new 0, pins_new 0,"));
  EXPECT_THAT(DoArchive({"message", "general", "1622500001.000100"}),
              HasSubstr(R"("pinned":true)"));
}

// slackdump's own formats are not those of Slack.
// Review: A10
TEST_F(ArchiveCommandsTest, ADumpOfSlackdumpIsRefusedWithAdvice) {
  std::filesystem::create_directories(path("dump"));
  std::ofstream(path("dump/C01234567.json"))
      << R"({"channel_id":"C01234567","name":"general","messages":[]})";
  const Outcome dump = Archive({"import", "dump"});
  EXPECT_EQ(dump.exit_code, kInvalid);
  EXPECT_THAT(dump.err, HasSubstr("C01234567.json"));
  EXPECT_THAT(dump.err, HasSubstr("slackdump export"));
  // With a list of channels it would look like an export without messages.
  std::ofstream(path("dump/channels.json")) << R"([{"id":"C01234567","name":"general"}])";
  EXPECT_EQ(Archive({"import", "dump", "--team", "T1X"}).exit_code, kInvalid);
  std::filesystem::create_directories(path("archive"));
  std::ofstream(path("archive/slackdump.sqlite")) << "SQLite";
  EXPECT_THAT(Archive({"import", "archive"}).err, HasSubstr("slackdump convert"));
}

// Coverage says only what was read: not the day of a row that could not be used, nor the time since
// an old message of which only an edit is in the export.
TEST_F(ArchiveCommandsTest, AnImportCoversOnlyWhatItCouldRead) {
  const auto message = [](const char* ts) {
    return fmt::format(R"({{"type":"message","user":"U1X","text":"x","ts":"{}"}})", ts);
  };
  const auto day = [&](const char* name) {
    return std::ofstream(path(std::string("export/general/") + name));
  };
  day("2021-06-01.json") << "[" << message("1622500001.000100") << R"(,{"text":"no time"}])";
  day("2021-06-02.json") << "[" << message("1622600001.000100") << "]";
  day("2021-06-03.json") << "[" << message("1622700001.000100") << ","
                         << message("1622700002.000100");
  day("2021-06-04.json") << "[" << message("1622800001.000100") << ","
                         << message("1622800002.000100") << "]";
  day("2021-06-05.json")
      << R"([{"type":"message","subtype":"message_changed","ts":"1622900001.000100","message":)"
         R"({"type":"message","user":"U1X","text":"x","ts":"1500000000.000100","edited":)"
         R"({"user":"U1X","ts":"1622900001.000000"}}}])";
  EXPECT_EQ(Archive({"import", "export"}).exit_code, kNotMet);
  EXPECT_EQ(
      LinesOf(DoArchive({"coverage", "general"})),
      (std::vector<std::string>{
          fmt::format(R"({{"from":"{}","to":"{}","certainty":"imported"}})", kRoot, kEdited),
          R"({"from":"1622800001.000100","to":"1622900001.000100","certainty":"imported"})"}));
}

TEST_F(ArchiveCommandsTest, AnImportThatCannotBeReadSaysSo) {
  std::ofstream(path("broken.zip")) << "PK nonsense";
  const Outcome broken = Archive({"import", "broken.zip"});
  EXPECT_EQ(broken.exit_code, kInvalid);
  EXPECT_THAT(broken.err, HasSubstr("zip"));
  EXPECT_EQ(Archive({"import", "nowhere.zip"}).exit_code, kInvalid);
  // A row that cannot be used: the exit code says so.
  // Review: A10
  std::ofstream(path("export/general/2021-06-01.json")) << R"([{"text":"no time"}])";
  EXPECT_EQ(Archive({"import", "export"}).exit_code, kNotMet);
  // A file of the export is cut off: the rest is imported, and the exit code says so.
  std::ofstream(path("export/general/2021-06-01.json")) << "[{";
  EXPECT_EQ(Archive({"import", "export"}).exit_code, kNotMet);
}

TEST_F(ArchiveCommandsTest, ReadsByNameAndById) {
  DoArchive({"import", "export"});
  EXPECT_THAT(DoArchive({"channels"}), HasSubstr(R"("name":"general")"));
  const auto by_name = LinesOf(DoArchive({"messages", "#general"}));
  ASSERT_EQ(by_name.size(), 3u);
  EXPECT_THAT(by_name[0], HasSubstr(kRoot));
  EXPECT_EQ(LinesOf(DoArchive({"messages", "C1X"})), by_name);
  EXPECT_EQ(LinesOf(DoArchive({"messages", "general", "--limit", "2"})).size(), 2u);
  EXPECT_THAT(LinesOf(DoArchive({"messages", "general", "--newest-first"}))[0], HasSubstr(kEdited));
  EXPECT_EQ(LinesOf(DoArchive({"messages", "general", "--from", "2021-05-04"})).size(), 1u);
  EXPECT_EQ(LinesOf(DoArchive({"messages", "general", "--to", "2021-05-03"})).size(), 2u);
  EXPECT_EQ(LinesOf(DoArchive({"thread", "general", kRoot})).size(), 2u);
  EXPECT_THAT(DoArchive({"coverage", "general"}), HasSubstr("imported"));
  EXPECT_EQ(NumberAt(DoArchive({"status"}), "teams"), 1);
}

TEST_F(ArchiveCommandsTest, ShowsAMessageWithAllThatIsKnown) {
  DoArchive({"import", "export"});
  EXPECT_THAT(DoArchive({"message", "general", kRoot}), HasSubstr(R"("tada")"));
  EXPECT_THAT(DoArchive({"message", "general", "p1620000000000100", "--table"}),
              HasSubstr("2021-05-03"));
  EXPECT_EQ(Archive({"message", "general", "1620000000.999999"}).exit_code, kNotMet);
}

// Review: A14
TEST_F(ArchiveCommandsTest, TakesAWholePermalink) {
  DoArchive({"import", "export"});
  const std::string root = "https://example.slack.com/archives/C1X/p1620000000000100";
  const std::string reply =
      "https://example.slack.com/archives/C1X/"
      "p1620000001000200?thread_ts=1620000000.000100&cid=C1X";
  const std::string shown = DoArchive({"message", "general", kRoot});
  EXPECT_EQ(DoArchive({"message", root}), shown);
  EXPECT_EQ(DoArchive({"message", "general", root}), shown);
  EXPECT_THAT(DoArchive({"message", reply}), HasSubstr(R"("text":"reply")"));
  EXPECT_EQ(DoArchive({"thread", reply}), DoArchive({"thread", "general", kRoot}));
  EXPECT_EQ(Archive({"message", "general"}).exit_code, kInvalid);
}

// The server's settings need not be where the command looks for its own.
// Review: A14
TEST_F(ArchiveCommandsTest, AFolderKeepsThePolicyOfItsServer) {
  std::ofstream(path("export/general/2021-06-01.json"))
      << R"([{"type":"message","subtype":"message_deleted","ts":"1622500001.000100",)"
         R"("deleted_ts":"1622500000.000100","previous_message":{"type":"message","user":"U1X",)"
         R"("ts":"1622500000.000100","text":"secret"}}])";
  DoArchive({"import", "export"});
  const Words ask = {"message", "general", "1622500000.000100"};
  EXPECT_THAT(DoArchive(ask), HasSubstr("secret"));
  Serve({"--data", "data", "--archive-consent", "true", "--archive-files", "false",
         "--archive-deleted", "redact"});
  EXPECT_EQ(StopServer(), kOk);
  EXPECT_THAT(DoArchive(ask), Not(HasSubstr("secret")));
  EXPECT_THAT(DoArchive(ask), HasSubstr(R"("hidden":true)"));
}

// Two servers use the folder one after the other, with archives of their own.
TEST_F(ArchiveCommandsTest, EachArchiveOfAFolderHasItsOwnPolicy) {
  std::ofstream(path("export/general/2021-06-01.json"))
      << R"([{"type":"message","subtype":"message_deleted","ts":"1622500001.000100",)"
         R"("deleted_ts":"1622500000.000100","previous_message":{"type":"message","user":"U1X",)"
         R"("ts":"1622500000.000100","text":"secret"}}])";
  DoArchive({"import", "export"});
  const Words ask = {"message", "general", "1622500000.000100"};
  const Words serve = {"--data", "data", "--archive-consent", "true", "--archive-files", "false"};
  const auto serve_with = [&](const Words& more) {
    Words words = serve;
    words.insert(words.end(), more.begin(), more.end());
    Serve(words);
    EXPECT_EQ(StopServer(), kOk);
  };
  serve_with({"--archive-deleted", "redact"});
  serve_with({"--archive-table", "Other"});
  EXPECT_THAT(DoArchive(ask), Not(HasSubstr("secret")));
  Serve(serve);
  EXPECT_THAT(server_->err(), HasSubstr("the last server hid the text of deleted messages"));
  EXPECT_EQ(StopServer(), kOk);
  EXPECT_THAT(DoArchive(ask), HasSubstr("secret")) << "the last server of this archive counts";
}

TEST_F(ArchiveCommandsTest, TablesAreForPeople) {
  DoArchive({"import", "export"});
  const std::string table = DoArchive({"messages", "general", "--table"});
  EXPECT_THAT(table, HasSubstr("TIME (UTC)"));
  EXPECT_THAT(table, HasSubstr("edited 1 file"));
}

TEST_F(ArchiveCommandsTest, AMessageWithoutTextIsShownWithASummary) {
  std::ofstream(path("export/general/2021-06-01.json"))
      << R"([{"type":"message","subtype":"bot_message","bot_id":"B1X","text":"",)"
         R"("ts":"1622500001.000100","thread_ts":"1622500001.000100","attachments":)"
         R"([{"title":"Build 7","text":"passed"}]},)"
         R"({"type":"message","user":"U9X","text":"","ts":"1622500002.000100","thread_ts":)"
         R"("1622500001.000100","files":[{"id":"F1X","name":"log.txt"}],)"
         R"("user_profile":{"real_name":"Zoe Quay"}}])";
  DoArchive({"import", "export"});
  for (const Words& list : {Words{"messages", "general", "--from", "2021-05-31", "--table"},
                            Words{"thread", "general", "1622500001.000100", "--table"}}) {
    const std::string table = DoArchive(list);
    EXPECT_THAT(table, HasSubstr("1 attachment  Build 7 passed"));
    EXPECT_THAT(table, HasSubstr("[log.txt]"));
    EXPECT_THAT(table, HasSubstr("Zoe Quay"));
  }
  EXPECT_THAT(DoArchive({"message", "general", "1622500001.000100", "--table"}),
              HasSubstr("Build 7 passed"));
}

// Imported people have names too.
// Review: A8, A14
TEST_F(ArchiveCommandsTest, ShowsPeopleByTheirNames) {
  DoArchive({"import", "export"});
  const std::string table = DoArchive({"messages", "general", "--table"});
  EXPECT_THAT(table, HasSubstr(" ann "));
  EXPECT_EQ(table.find("U1X"), std::string::npos);
  EXPECT_THAT(DoArchive({"messages", "general", "--limit", "1"}),
              HasSubstr(R"("user_name":"ann")"));
  const auto people = LinesOf(DoArchive({"people"}));
  ASSERT_EQ(people.size(), 2u);
  EXPECT_EQ(people[0], R"({"user":"U1X","name":"ann","real_name":"Ann","display_name":"ann",)"
                       R"("shown_name":"ann"})");
  EXPECT_THAT(people[1], HasSubstr(R"("deactivated":true)"));
  EXPECT_EQ(DoArchive({"emoji"}), "");
}

// Control characters in messages must not reach the terminal, neither in a table nor as JSON.
// Review: A13
TEST_F(ArchiveCommandsTest, OutputHoldsNothingThatChangesATerminal) {
  std::ofstream(path("export/general/2021-06-01.json"))
      << R"([{"type":"message","text":"\u001b[2J\u009b1m\u202e\u2028\nlines",)"
         R"("ts":"1622500001.000100"}])";
  DoArchive({"import", "export"});
  const std::string json = DoArchive({"messages", "general", "--json", "--from", "2021-05-31"});
  EXPECT_THAT(json, HasSubstr(R"(\u009b1m\u202e\u2028\nlines)"));
  const std::string table = DoArchive({"messages", "general", "--table", "--from", "2021-05-31"});
  EXPECT_THAT(table, HasSubstr("lines"));
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  for (const char* const character : {"\u009b", "\u202e", "\u2028"}) {
    EXPECT_THAT(table, Not(HasSubstr(character)));
  }
  EXPECT_EQ(LinesOf(table).size(), 2u);
}

TEST_F(ArchiveCommandsTest, AnUnclearChannelIsAskedFor) {
  const std::string channels = path("export/channels.json");
  std::ofstream(channels) << R"([{"id":"C1X","name":"general"},{"id":"C2X","name":"general"}])";
  DoArchive({"import", "export"});
  const Outcome twice = Archive({"messages", "general"});
  EXPECT_EQ(twice.exit_code, kInvalid);
  EXPECT_THAT(twice.err, HasSubstr("C1X, C2X"));
  const Outcome none = Archive({"messages", "nowhere"});
  EXPECT_EQ(none.exit_code, kInvalid);
  EXPECT_THAT(none.err, HasSubstr("nowhere"));
  const Outcome no_team = Archive({"messages", "general", "--team", "T9X"});
  EXPECT_EQ(no_team.exit_code, kInvalid);
  EXPECT_THAT(no_team.err, HasSubstr("nothing of team T9X: choose one of T1X"));
}

TEST_F(ArchiveCommandsTest, AnUnknownChannelIdIsAnError) {
  DoArchive({"import", "export"});
  const std::vector<Words> questions = {{"messages", "C9X"},           {"thread", "C9X", kRoot},
                                        {"message", "C9X", kRoot},     {"files", "C9X", kRoot},
                                        {"retry-files", "C9X", kRoot}, {"coverage", "C9X"}};
  for (const Words& question : questions) {
    const Outcome outcome = Archive(question);
    EXPECT_EQ(outcome.exit_code, kInvalid) << question.front();
    EXPECT_THAT(outcome.err, HasSubstr("channel C9X: 'tidemark archive channels' lists"));
  }
  const Outcome no_thread = Archive({"thread", "general", "1620000000.999999"});
  EXPECT_EQ(no_thread.exit_code, kInvalid);
  EXPECT_THAT(no_thread.err, HasSubstr("no message 1620000000.999999"));
}

// The former id of a channel has the same name. Both ids stand for the whole history.
// Review: A4
TEST_F(ArchiveCommandsTest, ANameStandsForAChannelWhoseIdChanged) {
  const std::string channels = path("export/channels.json");
  std::ofstream(channels) << R"([{"id":"C1X","name":"general"},{"id":"C2X","name":"general"}])";
  DoArchive({"import", "export"});
  Do({"tables", "put", "SlackArchive", "--data", "data", "--item",
      R"({"itemId":{"S":"meta#T1X#moved#C1X"},"timestamp":{"S":"1620100000.000000"},)"
      R"("type":{"S":"moved"},"channel_id":{"S":"C2X"}})"});
  Do({"tables", "put", "SlackArchive", "--data", "data", "--item",
      R"({"itemId":{"S":"channel#T1X#C2X"},"timestamp":{"S":"1620100000.000000"},)"
      R"("type":{"S":"channel"},"name":{"S":"general"},"prev_channel_id":{"S":"C1X"}})"});
  const auto by_name = LinesOf(DoArchive({"messages", "general"}));
  EXPECT_EQ(by_name.size(), 3u);
  EXPECT_EQ(LinesOf(DoArchive({"messages", "C1X"})), by_name);
  EXPECT_THAT(DoArchive({"channels", "--table"}), HasSubstr("now C2X"));
}

TEST_F(ArchiveCommandsTest, WithoutAnArchiveItSaysHowToGetOne) {
  const Outcome outcome = Archive({"channels"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, HasSubstr("data"));
}

// A file is written into the given folder, even if its name contains a path.
TEST_F(ArchiveCommandsTest, SavesFilesUnderSafeNames) {
  std::ofstream(path("export/general/2021-06-01.json"))
      << R"([{"type":"message","text":"x","ts":"1622500001.000100","files":[{"id":"F1X",)"
         R"("name":"../../evil\u0000.sh","size":5,"mode":"hosted"}]}])";
  DoArchive({"import", "export"});
  // Not stored yet: the exit code says so, and nothing is written.
  EXPECT_EQ(Archive({"files", "general", "1622500001.000100", "--save", "out"}).exit_code, kNotMet);
  {
    SystemClock clock;
    SystemRandom random;
    auto objects = directory::DirectoryObjects::Open(path("data/objects"), clock, random);
    ASSERT_TRUE(objects.has_value());
    ASSERT_TRUE((*objects)
                    ->Put({.key = "slack/T1X/C1X/1622500001.000100/F1X", .bytes = "hello"})
                    .has_value());
  }
  Do({"tables", "update", "SlackArchive", "--data", "data", "--key",
      R"({"itemId":{"S":"message#T1X#C1X"},"timestamp":{"S":"1622500001.000100"}})", "--update",
      "ADD files_s3 :s", "--values",
      R"({":s":{"SS":["s3://slack-archive/slack/T1X/C1X/1622500001.000100/F1X"]}})"});
  DoArchive({"files", "general", "1622500001.000100", "--save", "out"});
  std::vector<std::string> saved;
  for (const auto& entry : std::filesystem::directory_iterator(path("out"))) {
    saved.push_back(entry.path().filename().string());
    EXPECT_EQ(ReadFile(entry.path().string()), "hello");
  }
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_THAT(saved[0], HasSubstr("F1X-.._.._evil"));
  EXPECT_FALSE(std::filesystem::exists(path("evil.sh")));
}

TEST_F(ArchiveCommandsTest, SaysWhichFilesWereNotSavedAndWhy) {
  std::ofstream(path("export/general/2021-06-01.json"))
      << R"([{"type":"message","text":"x","ts":"1622500001.000100","files":[)"
         R"({"id":"F1X","name":"a.doc","is_external":true},{"id":"F2X","name":"b.txt"}]},)"
         R"({"type":"message","subtype":"message_deleted","ts":"1622500003.000100",)"
         R"("deleted_ts":"1622500002.000100","previous_message":{"type":"message","user":"U1X",)"
         R"("ts":"1622500002.000100","text":"y","files":[{"id":"F3X","name":"c.txt"}]}}])";
  DoArchive({"import", "export"});
  const auto save = [&](Words message, const std::string& folder) {
    message.insert(message.begin(), "files");
    message.insert(message.end(), {"--save", folder});
    return Archive(message);
  };
  const Outcome some = save({"general", "1622500001.000100"}, "out");
  EXPECT_EQ(some.exit_code, kNotMet);
  EXPECT_THAT(some.err, HasSubstr("not saved: F1X (a.doc): it is not at Slack"));
  EXPECT_THAT(some.err, HasSubstr("not saved: F2X (b.txt): the archive does not have it"));
  const Outcome no_files = save({"general", kRoot}, "out");
  EXPECT_EQ(no_files.exit_code, kNotMet);
  EXPECT_THAT(no_files.err, HasSubstr("the message has no files"));
  const Outcome no_message = save({}, "out");
  EXPECT_EQ(no_message.exit_code, kInvalid);
  EXPECT_THAT(no_message.err, HasSubstr("--save saves the files of one message"));
  EXPECT_EQ(save({"general", "1622500001.000100"}, "").exit_code, kInvalid);
  EXPECT_TRUE(std::filesystem::is_empty(path("out")));

  // The object is gone, although the row names it.
  Do({"tables", "update", "SlackArchive", "--data", "data", "--key",
      R"({"itemId":{"S":"message#T1X#C1X"},"timestamp":{"S":"1622500001.000100"}})", "--update",
      "ADD files_s3 :s", "--values",
      R"({":s":{"SS":["s3://slack-archive/slack/T1X/C1X/1622500001.000100/F2X"]}})"});
  EXPECT_THAT(save({"general", "1622500001.000100"}, "out").err,
              HasSubstr("not saved: F2X (b.txt): its object is missing"));
  EXPECT_TRUE(std::filesystem::is_empty(path("out")));
  const Outcome hidden = Run({"archive", "files", "general", "1622500002.000100", "--save", "out"},
                             {"TIDEMARK_DATA=data", "TIDEMARK_ARCHIVE_DELETED=redact"});
  EXPECT_EQ(hidden.exit_code, kNotMet);
  EXPECT_THAT(hidden.err, HasSubstr("the message was deleted"));
}

// Review: A7
TEST_F(ArchiveCommandsTest, ListsFilesThatFailedAndAsksForThemAgain) {
  std::ofstream(path("export/general/2021-06-01.json"))
      << R"([{"type":"message","text":"x","ts":"1622500001.000100","files":[{"id":"F1X",)"
         R"("name":"a.txt","size":2,"url_private":"https://files.slack.com/a"}]}])";
  DoArchive({"import", "export"});
  Do({"tables", "update", "SlackArchive", "--data", "data", "--key",
      R"({"itemId":{"S":"message#T1X#C1X"},"timestamp":{"S":"1622500001.000100"}})", "--update",
      "SET files_fetch_failed = :t, files_fetch_error = :e", "--values",
      R"({":t":{"BOOL":true},":e":{"S":"F1X: the server answered 503"}})"});
  Do({"tables", "put", "tidemark-archive-state", "--data", "data", "--item",
      R"({"kind":{"S":"failed"},"name":{"S":"T1X#C1X#1622500001.000100"}})"});
  EXPECT_THAT(DoArchive({"files", "general", "1622500001.000100", "--table"}), HasSubstr("failed"));
  EXPECT_THAT(DoArchive({"files"}), HasSubstr("the server answered 503"));
  EXPECT_EQ(Archive({"files", "general"}).exit_code, kInvalid);
  EXPECT_EQ(NumberAt(DoArchive({"retry-files"}), "retried"), 1);
  EXPECT_EQ(DoArchive({"files"}), "");
  EXPECT_EQ(NumberAt(DoArchive({"retry-files", "general", "1622500001.000100"}), "retried"), 0);
}

TEST_F(ArchiveCommandsTest, VerifyProvesAndFinds) {
  DoArchive({"import", "export"});
  EXPECT_THAT(DoArchive({"verify"}), HasSubstr(R"("sound":true)"));
  EXPECT_THAT(DoArchive({"verify", "--table"}), HasSubstr("0 problems"));
  Do({"tables", "update", "SlackArchive", "--data", "data", "--key",
      R"({"itemId":{"S":"channelindex#T1X"},"timestamp":{"S":"000000"}})", "--update",
      "SET channels_map.C1X = :n", "--values", R"({":n":{"S":"wrong"}})"});
  const Outcome wrong = Archive({"verify"});
  EXPECT_EQ(wrong.exit_code, kNotMet);
  EXPECT_THAT(wrong.out, HasSubstr("rebuild"));
  EXPECT_EQ(NumberAt(DoArchive({"rebuild-index"}), "changed"), 1);
  EXPECT_THAT(DoArchive({"verify"}), HasSubstr(R"("sound":true)"));
}

// While a server has the folder open, the commands say to use --server, which gives the same
// answers.
TEST_F(ArchiveCommandsTest, AsksAServer) {
  DoArchive({"import", "export"});
  const std::vector<Words> questions = {{"messages", "general"},
                                        {"thread", "general", kRoot},
                                        {"message", "general", kEdited},
                                        {"files", "general", kRoot},
                                        {"files"},
                                        {"channels"},
                                        {"coverage"}};
  std::vector<std::string> from_folder;
  for (const Words& question : questions) from_folder.push_back(DoArchive(question));
  Serve({"--data", "data", "--archive-consent", "true", "--archive-files", "false"});
  const Outcome held = Archive({"messages", "general"});
  EXPECT_EQ(held.exit_code, kEnvironment);
  EXPECT_THAT(held.err, HasSubstr("--server"));

  std::ofstream(path("token")) << CreateToken("reader") << "\n";
  const auto ask_server = [&](Words question) {
    question.insert(question.end(), {"--server", url(), "--token-file", "token"});
    return DoArchive(question);
  };
  for (size_t i = 0; i < questions.size(); ++i) {
    EXPECT_EQ(ask_server(questions[i]), from_folder[i]) << questions[i].front();
  }
  EXPECT_THAT(ask_server({"status"}), HasSubstr(R"("processors":[{"name":"files")"));
  std::ofstream(path("token")) << "tm_wrong\n";
  EXPECT_EQ(Archive({"channels", "--server", url(), "--token-file", "token"}).exit_code,
            kEnvironment);
  const Outcome no_token = Archive({"channels", "--server", url()});
  EXPECT_EQ(no_token.exit_code, kInvalid);
  EXPECT_THAT(no_token.err, HasSubstr("TIDEMARK_API_TOKEN"));
}

TEST_F(ArchiveCommandsTest, EveryCommandHasHelpWithAnExample) {
  for (const char* command : {"channels", "messages", "thread", "message", "files", "retry-files",
                              "coverage", "status", "import", "verify", "rebuild-index"}) {
    EXPECT_THAT(DoArchive({command, "--help"}),
                HasSubstr(std::string("tidemark archive ") + command));
  }
}

}  // namespace
}  // namespace tidemark::testing
