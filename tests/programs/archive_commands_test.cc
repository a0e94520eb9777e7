// `tidemark archive …` from end to end: the built program on a folder, and beside a server.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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

TEST_F(ArchiveCommandsTest, TablesAreForPeople) {
  DoArchive({"import", "export"});
  const std::string table = DoArchive({"messages", "general", "--table"});
  EXPECT_THAT(table, HasSubstr("TIME (UTC)"));
  EXPECT_THAT(table, HasSubstr("edited 1 files"));
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
  EXPECT_THAT(Archive({"messages", "general", "--team", "T9X"}).err, HasSubstr("general"));
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
