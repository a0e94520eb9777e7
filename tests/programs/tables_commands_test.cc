// `tidemark tables …` from end to end: the built program on folders of this machine.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tests/programs/run_program.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Arguments = std::vector<std::string>;

constexpr int kOk = 0;
constexpr int kNotMet = 1;
constexpr int kInvalid = 2;
constexpr int kEnvironment = 3;

const Arguments kEveryCommand = {"create", "list", "describe",     "alter",  "drop",
                                 "tag",    "put",  "get",          "update", "delete",
                                 "query",  "scan", "streams tail", "verify", "call"};

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class TablesCommandsTest : public ::testing::Test {
 protected:
  // Runs `tidemark …` with the data folder "data".
  Outcome Tidemark(Arguments arguments, const std::string& input = "") {
    return RunProgram({.arguments = std::move(arguments),
                       .folder = folder_.path(),
                       .input = input,
                       .environment = "TIDEMARK_DATA=data"});
  }
  Outcome Tables(Arguments arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), "tables");
    return Tidemark(std::move(arguments), input);
  }
  // `tidemark backup` and `tidemark restore` that must succeed; what they printed.
  std::string Copy(const Arguments& arguments) {
    Outcome outcome = Tidemark(arguments);
    EXPECT_EQ(outcome.exit_code, kOk) << outcome.err;
    return outcome.out;
  }
  // The same, for a command that must succeed; what it printed.
  std::string Do(Arguments arguments, const std::string& input = "") {
    Outcome outcome = Tables(arguments, input);
    EXPECT_EQ(outcome.exit_code, kOk) << outcome.err;
    return outcome.out;
  }

  void MakeUsers() { Do({"create", "users", "--key", "id:S"}); }
  void MakeMessages() {
    Do({"create", "messages", "--key", "channel:S", "--sort", "ts:N", "--index",
        "by-user:user:S:ts:N:keys", "--stream", "new-and-old"});
    Do({"put", "messages", "--item", "-"},
       R"({"channel":{"S":"c"},"ts":{"N":"1"},"user":{"S":"ann"},"text":{"S":"one"}}
{"channel":{"S":"c"},"ts":{"N":"2"},"user":{"S":"bob"},"text":{"S":"two"}}
{"channel":{"S":"c"},"ts":{"N":"10"},"user":{"S":"ann"},"text":{"S":"ten"}}
)");
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  TempFolder folder_;
};

// ---- The command line itself ----

TEST_F(TablesCommandsTest, PrintsItsVersionAndItsHelp) {
  Outcome version = RunProgram({.arguments = {"--version"}, .folder = folder_.path()});
  EXPECT_EQ(version.exit_code, kOk);
  EXPECT_THAT(version.out, StartsWith("tidemark "));
  Outcome help = RunProgram({.arguments = {"--help"}, .folder = folder_.path()});
  EXPECT_EQ(help.exit_code, kOk);
  EXPECT_THAT(help.out, HasSubstr("tables"));
}

// Every help text ends with an example.
TEST_F(TablesCommandsTest, HasHelpWithAnExampleForEveryCommand) {
  for (const std::string& command : kEveryCommand) {
    SCOPED_TRACE(command);
    Arguments arguments;
    std::istringstream words(command);
    for (std::string word; words >> word;) arguments.push_back(word);
    arguments.push_back("--help");
    Outcome outcome = Tables(arguments);
    EXPECT_EQ(outcome.exit_code, kOk);
    EXPECT_THAT(outcome.out, HasSubstr("Example:\n  tidemark tables " + command + " "));
    EXPECT_THAT(outcome.out, HasSubstr("--data"));
  }
}

// An error on the command line is one line, with exit code 2.
TEST_F(TablesCommandsTest, RefusesWrongCommandLines) {
  struct Case {
    Arguments arguments;
    std::string message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{}, "subcommand is required"},
           {{"dance"}, "unknown argument 'dance'"},
           {{"scan"}, "table is required"},
           {{"scan", "users", "--loudly"}, "unknown argument '--loudly'"},
           {{"scan", "users", "--limit", "0"}, "'0' is not a whole number above 0"},
           {{"scan", "users", "--limit", "-3"}, "'-3' is not a whole number above 0"},
           {{"scan", "users", "--segment", "0"}, "--segment requires --total-segments"},
           {{"get", "users"}, "--key is required"},
           {{"put", "users"}, "--item is required"},
           {{"update", "users", "--key", "{}"}, "--update is required"},
           {{"query", "users"}, "--key-condition is required"},
           {{"streams", "tail", "users", "--from", "monday"}, "--from"},
           {{"alter", "users", "--ttl", "t", "--no-ttl"}, "excludes"},
           {{"alter", "users"}, "there is nothing to change"},
           {{"call", "Dance", "--request", "{}"}, "there is no operation 'Dance'; there are Batch"},
           {{"call", "GetItem", "--request", "{}"}, "Value null at 'tableName'"},
           {{"scan", "users", "--server", "http://127.0.0.1:1"}, "a server needs an API token"}}) {
    SCOPED_TRACE(c.message);
    Outcome outcome = Tables(c.arguments);
    EXPECT_EQ(outcome.exit_code, kInvalid);
    EXPECT_THAT(outcome.err, StartsWith("tidemark: "));
    EXPECT_THAT(outcome.err, HasSubstr(c.message));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

// The shorthands: each error names its option, and shows the form.
TEST_F(TablesCommandsTest, ExplainsTheShortFormsInErrors) {
  struct Case {
    Arguments arguments;
    std::string message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"create", "users", "--key", "id"}, "--key: 'id' is not NAME:TYPE"},
           {{"create", "users", "--key", "id:BOOL"}, "--key: 'id:BOOL' is not NAME:TYPE"},
           {{"create", "users", "--key", ":S"}, "--key: ':S' is not NAME:TYPE"},
           {{"create", "users", "--key", "id:S", "--sort", "x"}, "--sort: 'x' is not NAME:TYPE"},
           {{"create", "users", "--key", "id:S", "--index", "i"}, "--index: 'i' is not NAME:KEY:"},
           {{"create", "users", "--key", "id:S", "--index", "i:a:S:some"}, "--index: 'i:a:S:some'"},
           {{"create", "users", "--key", "id:S", "--index", "i:a:S:b:X"}, "--index: 'i:a:S:b:X'"},
           {{"create", "users", "--key", "id:S", "--local-index", "i"}, "--local-index: 'i'"},
           {{"create", "users", "--key", "id:S", "--stream", "all"},
            "--stream: 'all' is not keys,"},
           {{"create", "users", "--key", "id:S", "--tag", "x"}, "--tag: 'x' is not NAME=VALUE"},
           {{"update", "users", "--key", "{}", "--update", "x", "--return", "all"},
            "--return: 'all' is not old,"}}) {
    SCOPED_TRACE(c.message);
    Outcome outcome = Tables(c.arguments);
    EXPECT_EQ(outcome.exit_code, kInvalid);
    EXPECT_THAT(outcome.err, HasSubstr(c.message));
  }
}

// A JSON error names the option and the position.
TEST_F(TablesCommandsTest, NamesThePositionOfAJsonError) {
  MakeUsers();
  struct Case {
    Arguments arguments;
    Arguments messages;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"put", "users", "--item", "{"}, {"--item: "}},
           {{"put", "users", "--item", R"({"id":{"S":"a"},"n":{"N":"x"}})"}, {"--item: ", "n"}},
           {{"get", "users", "--key", "a"}, {"--key: "}},
           {{"get", "users", "--key", R"({"id":{"S":"a"}})", "--names", "[]"},
            {"--names: '[]' is not a JSON object"}},
           {{"get", "users", "--key", R"({"id":{"S":"a"}})", "--names", R"({"#a":1})"},
            {"--names: #a is a number"}},
           {{"scan", "users", "--values", R"({":a":{"Z":"1"}})"}, {"--values: :a"}},
           {{"scan", "users", "--start-after", "x"}, {"--start-after: "}}}) {
    SCOPED_TRACE(c.messages.front());
    Outcome outcome = Tables(c.arguments);
    EXPECT_EQ(outcome.exit_code, kInvalid);
    for (const std::string& message : c.messages) EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

// ---- Where the data is ----

TEST_F(TablesCommandsTest, ReportsAMissingDataFolder) {
  Outcome outcome = Tables({"list"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, HasSubstr("there is no data folder 'data'"));
  EXPECT_FALSE(std::filesystem::exists(path("data")));
}

// The flag overrides the variable, and the variable overrides the settings file.
TEST_F(TablesCommandsTest, FindsTheDataFolderByFlagVariableAndSettings) {
  MakeUsers();
  Do({"create", "others", "--key", "id:S", "--data", "elsewhere"});
  EXPECT_THAT(Do({"list"}), HasSubstr(R"("table":"users")"));
  EXPECT_THAT(Do({"list", "--data", "elsewhere"}), HasSubstr(R"("table":"others")"));
  std::ofstream(path("tidemark.toml")) << "data = \"elsewhere\"\n";
  Outcome outcome = RunProgram(
      {.arguments = {"tables", "list", "--settings", "tidemark.toml"}, .folder = folder_.path()});
  EXPECT_THAT(outcome.out, HasSubstr(R"("table":"others")"));
  EXPECT_THAT(Do({"list", "--settings", "tidemark.toml"}), HasSubstr(R"("table":"users")"));
}

TEST_F(TablesCommandsTest, ReportsAMissingSettingsFile) {
  Outcome outcome = Tables({"list", "--settings", "none.toml"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, HasSubstr("none.toml"));
}

// Only one process may use a folder at a time. The others get an error.
TEST_F(TablesCommandsTest, RefusesAFolderThatAnotherProcessUses) {
  MakeUsers();
  auto held = embedded::EmbeddedTables::Open({.folder = path("data")});
  ASSERT_TRUE(held) << held.error().message;
  for (const Arguments& arguments : std::initializer_list<Arguments>{
           {"list"}, {"put", "users", "--item", R"({"id":{"S":"a"}})"}, {"verify"}}) {
    SCOPED_TRACE(arguments[0]);
    Outcome outcome = Tables(arguments);
    EXPECT_EQ(outcome.exit_code, kEnvironment) << outcome.out;
    EXPECT_THAT(outcome.err, Not(IsEmpty()));
  }
  const Outcome backup = Tidemark({"backup", "copy"});
  EXPECT_EQ(backup.exit_code, kEnvironment);
  EXPECT_THAT(backup.err, HasSubstr("add --server URL"));
  EXPECT_FALSE(std::filesystem::exists(path("copy")));
}

TEST_F(TablesCommandsTest, ReportsADamagedFolder) {
  MakeUsers();
  std::ofstream(path("data/tables/CURRENT"), std::ios::trunc) << "nonsense";
  Outcome outcome = Tables({"list"});
  EXPECT_EQ(outcome.exit_code, kEnvironment);
  EXPECT_THAT(outcome.err, StartsWith("tidemark: "));
}

// ---- Tables ----

TEST_F(TablesCommandsTest, CreatesAndDescribesATable) {
  std::string created = Do({"create", "messages", "--key", "channel:S", "--sort", "ts:N", "--index",
                            "by-user:user:S:ts:N:keys", "--index", "by-team:team:S:include=a,b",
                            "--local-index", "by-size:size:N", "--stream", "new", "--ttl",
                            "expires", "--tag", "owner=ann", "--protect"});
  EXPECT_THAT(created, HasSubstr(R"("key":"channel:S","sort":"ts:N")"));
  EXPECT_THAT(
      created,
      HasSubstr(
          R"("name":"by-user","kind":"global","key":"user:S","sort":"ts:N","projection":"keys")"));
  EXPECT_THAT(
      created,
      HasSubstr(R"("name":"by-team","kind":"global","key":"team:S","projection":"include=a,b")"));
  EXPECT_THAT(created,
              HasSubstr(R"("name":"by-size","kind":"local","key":"channel:S","sort":"size:N")"));
  EXPECT_THAT(created, HasSubstr(R"("view":"new","enabled":true)"));
  EXPECT_THAT(created, HasSubstr(R"("ttl":"expires")"));
  EXPECT_THAT(created, HasSubstr(R"("protected":true)"));
  EXPECT_EQ(Do({"describe", "messages"}), created);
  EXPECT_EQ(Do({"tag", "messages"}), "{\"owner\":\"ann\"}\n");
}

TEST_F(TablesCommandsTest, ListsTablesInTheOrderOfTheirNames) {
  Do({"create", "zebras", "--key", "id:S"});
  Do({"create", "apples", "--key", "id:S"});
  std::vector<std::string> lines = LinesOf(Do({"list"}));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], StartsWith(R"({"table":"apples")"));
  EXPECT_THAT(lines[1], StartsWith(R"({"table":"zebras")"));
}

// A request that the tables refuse gives exit code 2, with the error of the tables and the table's
// name.
TEST_F(TablesCommandsTest, ReportsTheErrorsOfTheTables) {
  MakeUsers();
  for (const Arguments& arguments : std::initializer_list<Arguments>{
           {"create", "users", "--key", "id:S"},
           {"create", "u", "--key", "id:S"},
           {"describe", "nobody"},
           {"drop", "nobody"},
           {"tag", "nobody"},
           {"alter", "nobody", "--protect"},
           {"alter", "users", "--drop-index", "none"},
           {"alter", "users", "--no-ttl"},
           {"put", "nobody", "--item", R"({"id":{"S":"a"}})"},
           {"put", "users", "--item", R"({"name":{"S":"a"}})"},
           {"put", "users", "--item", R"({"id":{"S":"a"}})", "--condition", "("},
           {"get", "users", "--key", R"({"id":{"N":"1"}})"},
           {"update", "users", "--key", R"({"id":{"S":"a"}})", "--update", "SET"},
           {"delete", "users", "--key", R"({"other":{"S":"a"}})"},
           {"query", "users", "--key-condition", "id = :missing"},
           {"scan", "users", "--index", "none"},
           {"scan", "users", "--segment", "9", "--total-segments", "3"}}) {
    SCOPED_TRACE(arguments[0] + " " + arguments[1]);
    Outcome outcome = Tables(arguments);
    EXPECT_EQ(outcome.exit_code, kInvalid) << outcome.out;
    EXPECT_THAT(outcome.err, StartsWith("tidemark: table '" + arguments[1] + "': "));
  }
}

TEST_F(TablesCommandsTest, DropsATableUnlessItIsProtected) {
  Do({"create", "users", "--key", "id:S", "--protect"});
  EXPECT_EQ(Tables({"drop", "users"}).exit_code, kInvalid);
  Do({"alter", "users", "--no-protect"});
  Do({"drop", "users"});
  EXPECT_EQ(Do({"list"}), "");
}

// A new index is filled before the command ends: nothing runs in the background afterwards.
TEST_F(TablesCommandsTest, FillsANewIndex) {
  MakeMessages();
  std::string altered = Do({"alter", "messages", "--add-index", "by-text:text:S"});
  EXPECT_THAT(
      altered,
      HasSubstr(R"("key":"text:S","projection":"all","state":"active","backfilling":false)"));
  EXPECT_THAT(Do({"query", "messages", "--index", "by-text", "--key-condition", "#t = :t",
                  "--names", R"({"#t":"text"})", "--values", R"({":t":{"S":"two"}})"}),
              HasSubstr(R"("ts":{"N":"2"})"));
  EXPECT_THAT(Do({"alter", "messages", "--drop-index", "by-text"}), Not(HasSubstr("by-text")));
}

TEST_F(TablesCommandsTest, ChangesStreamAndTimeToLive) {
  MakeUsers();
  EXPECT_THAT(Do({"alter", "users", "--stream", "keys", "--ttl", "expires"}),
              HasSubstr(R"("view":"keys","enabled":true)"));
  std::string altered = Do({"alter", "users", "--no-stream", "--no-ttl"});
  EXPECT_THAT(altered, Not(HasSubstr(R"("enabled":true)")));
  EXPECT_THAT(altered, Not(HasSubstr("ttl")));
}

TEST_F(TablesCommandsTest, SetsAndRemovesTags) {
  MakeUsers();
  EXPECT_EQ(Do({"tag", "users", "--set", "a=1", "--set", "b=x=y"}),
            "{\"a\":\"1\",\"b\":\"x=y\"}\n");
  EXPECT_EQ(Do({"tag", "users", "--remove", "a"}), "{\"b\":\"x=y\"}\n");
}

// ---- Items ----

TEST_F(TablesCommandsTest, PutsGetsAndDeletesAnItem) {
  MakeUsers();
  const std::string item = R"({"id":{"S":"a"},"name":{"S":"Ann"}})";
  const std::string key = R"({"id":{"S":"a"}})";
  EXPECT_EQ(Do({"put", "users", "--item", item}), "{\"applied\":true}\n");
  EXPECT_EQ(Do({"get", "users", "--key", key}), item + "\n");
  EXPECT_EQ(Do({"get", "users", "--key", key, "--projection", "#n", "--names", R"({"#n":"name"})"}),
            "{\"name\":{\"S\":\"Ann\"}}\n");
  EXPECT_EQ(Do({"put", "users", "--item", key, "--return-old"}),
            "{\"applied\":true,\"attributes\":" + item + "}\n");
  EXPECT_EQ(Do({"delete", "users", "--key", key, "--return-old"}),
            "{\"applied\":true,\"attributes\":" + key + "}\n");
  EXPECT_EQ(Do({"delete", "users", "--key", key}), "{\"applied\":true}\n");
}

// A missing item and a failed condition are not errors: exit code 1, and a message says which it
// was.
TEST_F(TablesCommandsTest, DistinguishesAbsentFromConditionNotMet) {
  MakeUsers();
  const std::string key = R"({"id":{"S":"a"}})";
  Outcome absent = Tables({"get", "users", "--key", key});
  EXPECT_EQ(absent.exit_code, kNotMet);
  EXPECT_EQ(absent.out, "");
  EXPECT_THAT(absent.err, HasSubstr("has no item with the key " + key));

  Do({"put", "users", "--item", key});
  for (const Arguments& arguments : std::initializer_list<Arguments>{
           {"put", "users", "--item", key, "--condition", "attribute_not_exists(id)"},
           {"update", "users", "--key", key, "--update", "REMOVE x", "--condition",
            "attribute_exists(x)"},
           {"delete", "users", "--key", key, "--condition", "attribute_exists(x)"}}) {
    Outcome outcome = Tables(arguments);
    EXPECT_EQ(outcome.exit_code, kNotMet);
    EXPECT_EQ(outcome.out, "{\"applied\":false,\"item\":" + key + "}\n");
    EXPECT_THAT(outcome.err, HasSubstr("the condition does not hold"));
  }
}

TEST_F(TablesCommandsTest, UpdatesWithAnExpression) {
  MakeUsers();
  auto add = [&](const std::string& returned) {
    return Do({"update", "users", "--key", R"({"id":{"S":"a"}})", "--update", "ADD #c :one",
               "--names", R"({"#c":"count"})", "--values", R"({":one":{"N":"1"}})", "--return",
               returned});
  };
  EXPECT_EQ(add("new"),
            "{\"applied\":true,\"attributes\":{\"count\":{\"N\":\"1\"},\"id\":{\"S\":\"a\"}}}\n");
  EXPECT_EQ(add("old"),
            "{\"applied\":true,\"attributes\":{\"count\":{\"N\":\"1\"},\"id\":{\"S\":\"a\"}}}\n");
  EXPECT_EQ(add("updated-new"), "{\"applied\":true,\"attributes\":{\"count\":{\"N\":\"3\"}}}\n");
  EXPECT_EQ(add("updated-old"), "{\"applied\":true,\"attributes\":{\"count\":{\"N\":\"3\"}}}\n");
}

// ---- Many items ----

// More than one batch, with empty lines, and with one item twice: the last one wins, as with single
// puts.
TEST_F(TablesCommandsTest, PutsItemsFromStandardInput) {
  MakeUsers();
  std::string input;
  for (int i = 0; i < 60; ++i) input += R"({"id":{"S":")" + std::to_string(i) + "\"}}\n\n";
  input += R"({"id":{"S":"59"},"last":{"BOOL":true}})";
  EXPECT_EQ(Do({"put", "users", "--item", "-"}, input), "{\"stored\":61,\"refused\":0}\n");
  EXPECT_EQ(Do({"scan", "users", "--count"}), "{\"count\":60,\"scanned\":60}\n");
  EXPECT_THAT(Do({"get", "users", "--key", R"({"id":{"S":"59"}})"}), HasSubstr("last"));
}

TEST_F(TablesCommandsTest, CountsTheItemsThatAConditionRefuses) {
  MakeUsers();
  const std::string input =
      "{\"id\":{\"S\":\"a\"}}\n{\"id\":{\"S\":\"b\"}}\n{\"id\":{\"S\":\"a\"}}\n";
  Outcome outcome =
      Tables({"put", "users", "--item", "-", "--condition", "attribute_not_exists(id)"}, input);
  EXPECT_EQ(outcome.exit_code, kNotMet);
  EXPECT_EQ(outcome.out, "{\"stored\":2,\"refused\":1}\n");
  EXPECT_THAT(outcome.err, HasSubstr("does not hold for 1 items"));
}

// The error names the wrong line. The items before it are stored.
TEST_F(TablesCommandsTest, NamesTheWrongLine) {
  MakeUsers();
  for (std::string wrong : {R"({"id":{"S":"x"})", R"({"name":{"S":"x"}})"}) {
    Outcome outcome = Tables({"put", "users", "--item", "-"},
                             "{\"id\":{\"S\":\"a\"}}\n{\"id\":{\"S\":\"b\"}}\n" + wrong + "\n");
    EXPECT_EQ(outcome.exit_code, kInvalid);
    EXPECT_THAT(outcome.err, HasSubstr("standard input, line 3: "));
    EXPECT_THAT(outcome.err, HasSubstr("2 items before it were stored"));
  }
  EXPECT_EQ(Do({"scan", "users", "--count"}), "{\"count\":2,\"scanned\":2}\n");
}

TEST_F(TablesCommandsTest, RefusesReturnOldForManyItems) {
  MakeUsers();
  Outcome outcome = Tables({"put", "users", "--item", "-", "--return-old"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, HasSubstr("--return-old cannot be used with --item -"));
}

TEST_F(TablesCommandsTest, QueriesInTheOrderOfTheSortKey) {
  MakeMessages();
  Arguments query = {"query",           "messages",
                     "--key-condition", "channel = :c AND ts < :t",
                     "--values",        R"({":c":{"S":"c"},":t":{"N":"11"}})",
                     "--projection",    "ts"};
  EXPECT_EQ(Do(query), "{\"ts\":{\"N\":\"1\"}}\n{\"ts\":{\"N\":\"2\"}}\n{\"ts\":{\"N\":\"10\"}}\n");
  query.push_back("--descending");
  EXPECT_EQ(Do(query), "{\"ts\":{\"N\":\"10\"}}\n{\"ts\":{\"N\":\"2\"}}\n{\"ts\":{\"N\":\"1\"}}\n");
  query.push_back("--count");
  query.erase(std::find(query.begin(), query.end(), "--projection"), query.end());
  query.push_back("--count");
  EXPECT_EQ(Do(query), "{\"count\":3,\"scanned\":3}\n");
}

TEST_F(TablesCommandsTest, QueriesAnIndex) {
  MakeMessages();
  EXPECT_EQ(LinesOf(Do({"query", "messages", "--index", "by-user", "--key-condition", "#u = :u",
                        "--names", R"({"#u":"user"})", "--values", R"({":u":{"S":"ann"}})"}))
                .size(),
            2u);
}

// --limit counts printed items, and the message says how to continue.
TEST_F(TablesCommandsTest, ContinuesAfterALimit) {
  MakeMessages();
  Arguments scan = {"scan", "messages", "--projection", "ts", "--limit", "2"};
  Outcome first = Tables(scan);
  EXPECT_EQ(LinesOf(first.out).size(), 2u);
  size_t begin = first.err.find("--start-after '") + 15;
  std::string start_after = first.err.substr(begin, first.err.rfind('\'') - begin);
  scan.insert(scan.end(), {"--start-after", start_after});
  Outcome rest = Tables(scan);
  EXPECT_EQ(rest.out, "{\"ts\":{\"N\":\"10\"}}\n");
  EXPECT_EQ(rest.err, "");
}

// The tables apply the filter after the limit of a page. --limit counts what is left.
TEST_F(TablesCommandsTest, ScansWithAFilterAndALimit) {
  MakeMessages();
  EXPECT_THAT(LinesOf(Do({"scan", "messages", "--filter", "ts > :t", "--values",
                          R"({":t":{"N":"2"}})", "--limit", "1", "--projection", "ts"})),
              ElementsAre(R"({"ts":{"N":"10"}})"));
}

TEST_F(TablesCommandsTest, ScansInSegments) {
  MakeUsers();
  std::string input;
  for (int i = 0; i < 40; ++i) input += R"({"id":{"S":")" + std::to_string(i) + "\"}}\n";
  Do({"put", "users", "--item", "-"}, input);
  size_t found = 0;
  for (const char* segment : {"0", "1", "2"}) {
    found += LinesOf(Do({"scan", "users", "--segment", segment, "--total-segments", "3"})).size();
  }
  EXPECT_EQ(found, 40u);
}

// ---- Streams ----

TEST_F(TablesCommandsTest, TailsTheChangesOfATable) {
  MakeMessages();
  Do({"delete", "messages", "--key", R"({"channel":{"S":"c"},"ts":{"N":"1"}})"});
  std::vector<std::string> lines = LinesOf(Do({"streams", "tail", "messages"}));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], HasSubstr(R"("change":"insert")"));
  EXPECT_THAT(lines[0], HasSubstr(R"("new":{"channel":{"S":"c"},)"));
  EXPECT_THAT(lines[3], HasSubstr(R"("change":"remove")"));
  EXPECT_THAT(lines[3], HasSubstr(R"("keys":{"channel":{"S":"c"},"ts":{"N":"1"}},"old":)"));
  EXPECT_EQ(LinesOf(Do({"streams", "tail", "messages", "--limit", "2"})).size(), 2u);
  EXPECT_EQ(Do({"streams", "tail", "messages", "--from", "latest"}), "");
}

TEST_F(TablesCommandsTest, ReportsThatATableHasNoStream) {
  MakeUsers();
  Outcome outcome = Tables({"streams", "tail", "users"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, HasSubstr("table 'users' has no stream"));
}

// --follow ends only at a limit. Records that exist already count.
TEST_F(TablesCommandsTest, FollowsUntilItsLimit) {
  MakeMessages();
  EXPECT_EQ(LinesOf(Do({"streams", "tail", "messages", "--follow", "--limit", "3"})).size(), 3u);
}

// --follow opens the folder only to read, so other processes can write in between.
TEST_F(TablesCommandsTest, FollowsLaterChanges) {
  MakeMessages();
  TempFolder elsewhere;
  std::future<Outcome> tail = std::async(std::launch::async, [&] {
    return RunProgram({.arguments = {"tables", "streams", "tail", "messages", "--follow", "--limit",
                                     "4", "--data", path("data")},
                       .folder = elsewhere.path()});
  });
  Do({"put", "messages", "--item", R"({"channel":{"S":"c"},"ts":{"N":"11"}})"});
  std::vector<std::string> lines = LinesOf(tail.get().out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[3], HasSubstr(R"("ts":{"N":"11"})"));
}

// ---- Folders ----

TEST_F(TablesCommandsTest, VerifiesAFolder) {
  MakeMessages();
  EXPECT_EQ(Do({"verify", "--progress"}),
            "{\"sound\":true,\"tables\":1,\"items\":3,\"index_rows\":3,\"stream_records\":3,"
            "\"problems\":[]}\n");
}

TEST_F(TablesCommandsTest, RestoresWhatWasBackedUp) {
  MakeMessages();
  std::string items = Do({"scan", "messages"});
  EXPECT_THAT(Copy({"backup", "copy", "--progress"}), StartsWith(R"({"verified":true,)"));
  Do({"drop", "messages"});
  EXPECT_THAT(Copy({"restore", "copy", "--data", "restored/", "--progress"}),
              StartsWith(R"({"sound":true,)"));
  EXPECT_EQ(Do({"scan", "messages", "--data", "restored"}), items);
  EXPECT_FALSE(std::filesystem::exists(path("restored.restoring")));
  // The backup itself is unchanged.
  EXPECT_THAT(Copy({"restore", "copy", "--data", "again"}), StartsWith(R"({"sound":true,)"));
}

TEST_F(TablesCommandsTest, RestoresIntoAnEmptyFolderOnly) {
  MakeMessages();
  Copy({"backup", "copy"});
  Outcome full = Tidemark({"restore", "copy"});
  EXPECT_EQ(full.exit_code, kInvalid);
  EXPECT_THAT(full.err, HasSubstr("is not empty"));
  std::filesystem::create_directory(path("empty"));
  Copy({"restore", "copy", "--data", "empty"});
}

TEST_F(TablesCommandsTest, BacksUpIntoAnEmptyFolderOnly) {
  MakeMessages();
  std::filesystem::create_directory(path("full"));
  std::ofstream(path("full/file")) << "mine";
  EXPECT_NE(Tidemark({"backup", "full"}).exit_code, kOk);
  EXPECT_TRUE(std::filesystem::exists(path("full/file")));
}

// A backup has the objects too, with their types and ETags, and they are checked.
// Review: D16
TEST_F(TablesCommandsTest, BacksUpTheObjectsToo) {
  MakeMessages();
  Tidemark({"backup", "first"});  // Makes the folder of objects.
  std::filesystem::create_directories(path("data/objects/archive"));
  std::ofstream(path("data/objects/archive/CHG-1.json")) << "{}";
  EXPECT_THAT(Copy({"backup", "copy"}), HasSubstr(R"("objects":1,"object_bytes":2,)"));
  EXPECT_THAT(Copy({"restore", "copy", "--data", "restored"}), HasSubstr(R"("objects":1,)"));
  EXPECT_EQ(ReadFile(path("restored/objects/archive/CHG-1.json")), "{}");
}

// Review: D16
TEST_F(TablesCommandsTest, MakesTransactionsAndBatches) {
  MakeUsers();
  const std::string put =
      R"({"TransactItems":[{"Put":{"TableName":"users","Item":{"id":{"S":"a"}},)"
      R"json("ConditionExpression":"attribute_not_exists(id)"}}]})json";
  EXPECT_EQ(Do({"call", "TransactWriteItems", "--request", put}), "{}\n");
  const Outcome again = Tables({"call", "TransactWriteItems", "--request", "-"}, put);
  EXPECT_EQ(again.exit_code, kNotMet);
  EXPECT_THAT(again.out, HasSubstr(R"("CancellationReasons":[{"Code":"ConditionalCheckFailed")"));
  EXPECT_EQ(Do({"call", "BatchGetItem", "--request",
                R"({"RequestItems":{"users":{"Keys":[{"id":{"S":"a"}},{"id":{"S":"b"}}]}}})"}),
            R"({"Responses":{"users":[{"id":{"S":"a"}}]},"UnprocessedKeys":{}})"
            "\n");
  // As in DynamoDB, a member that no operation has is ignored.
  const Outcome unknown = Tables({"call", "PutItem", "--request",
                                  R"({"TableName":"users","Item":{"id":{"S":"a"}},)"
                                  R"("Unless":{"id":{"Exists":false}}})"});
  EXPECT_EQ(unknown.exit_code, kOk) << unknown.err;
}

// Review: D12
TEST_F(TablesCommandsTest, DoesNotCopyABackupIntoItself) {
  MakeMessages();
  Copy({"backup", "copy"});
  const Outcome inside = Tidemark({"restore", "copy", "--data", "copy/inside"});
  EXPECT_EQ(inside.exit_code, kInvalid);
  EXPECT_THAT(inside.err, HasSubstr("is inside the backup"));
  EXPECT_FALSE(std::filesystem::exists(path("copy/inside.restoring")));
  EXPECT_THAT(Copy({"restore", "copy", "--data", "copy-beside"}), StartsWith(R"({"sound":true,)"));
}

// A restore from a missing, empty or damaged backup creates no data folder.
TEST_F(TablesCommandsTest, RestoresNothingFromABadBackup) {
  MakeMessages();
  Outcome missing = Tidemark({"restore", "nothing", "--data", "restored"});
  EXPECT_EQ(missing.exit_code, kInvalid);
  EXPECT_THAT(missing.err, HasSubstr("there is no backup in 'nothing'"));
  std::filesystem::create_directory(path("empty"));
  EXPECT_NE(Tidemark({"restore", "empty", "--data", "restored"}).exit_code, kOk);
  Copy({"backup", "copy"});
  std::ofstream(path("copy/tables/CURRENT"), std::ios::trunc) << "nonsense";
  EXPECT_EQ(Tidemark({"restore", "copy", "--data", "restored"}).exit_code, kEnvironment);
  EXPECT_FALSE(std::filesystem::exists(path("restored")));
  EXPECT_FALSE(std::filesystem::exists(path("restored.restoring")));
}

// Review: D16
// Most people begin with plain JSON, with a word that DynamoDB reserves, or with an empty list.
TEST_F(TablesCommandsTest, AnErrorShowsHowToWriteIt) {
  MakeUsers();
  const std::string as_in = R"(; each value is written with its type, as in {"id":{"S":"a"},)";
  EXPECT_THAT(Tables({"put", "users", "--item", R"({"id":"a"})"}).err, HasSubstr(as_in));
  EXPECT_THAT(Tables({"put", "users", "--item", "-"}, "{\"id\":\"a\"}\n").err, HasSubstr(as_in));
  EXPECT_THAT(Tables({"get", "users", "--key", R"({"id":"a"})"}).err, HasSubstr(as_in));
  EXPECT_THAT(Tables({"scan", "users", "--filter", "status = :s", "--values", R"({":s":"a"})"}).err,
              HasSubstr(R"(as in {":one":{"N":"1"}})"));
  EXPECT_THAT(
      Tables({"scan", "users", "--filter", "status = :s", "--values", R"({":s":{"S":"a"}})"}).err,
      HasSubstr(R"(reserved keyword: status; write #x in its place and add --names '{"#x":)"));
  for (const char* index : {"i:a:S:include=", "i:a:S:include=b,", "i:a:S:include=,b"}) {
    const Outcome refused = Tables({"create", "t", "--key", "id:S", "--index", index});
    EXPECT_EQ(refused.exit_code, kInvalid) << index;
    EXPECT_THAT(refused.err, HasSubstr("include=ATTRIBUTE,")) << index;
  }
}

}  // namespace
}  // namespace tidemark::testing
