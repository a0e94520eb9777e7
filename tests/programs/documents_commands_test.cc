// Documents from end to end: the built program's commands in the folder, and at a server.
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/serve_fixture.h"

namespace tidemark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DocumentsCommandsTest : public ServeFixture {
 protected:
  void StartServer() {
    std::ofstream(path("token")) << CreateToken("test");
    Serve({}, {"TIDEMARK_ARCHIVE_ENABLED=false", "TIDEMARK_DOCUMENTS_ENABLED=true"});
    at_server_ = true;
  }
  // Runs `tidemark documents …` in the folder, or at the server that runs.
  Outcome Documents(Words arguments) const {
    arguments.insert(arguments.begin(), "documents");
    if (at_server_) {
      arguments.insert(arguments.end(), {"--server", url(), "--token-file", "token"});
    }
    return Run(arguments);
  }
  std::string DoDocuments(const Words& arguments) const {
    const Outcome outcome = Documents(arguments);
    EXPECT_EQ(outcome.exit_code, kOk) << outcome.err;
    return outcome.out;
  }
  // The name of a file with a change in it.
  std::string Change(const std::string& id, const std::string& status = "submitted") const {
    const std::string name = id + ".json";
    std::ofstream(path(name)) << fmt::format(
        R"({{"object_type":"change","changeId":"{}","changeTitle":"A change","status":"{}",)"
        R"("createdAt":{},"customers":["hts","cds"]}})",
        id, status, clock_.NowSeconds() - 60);
    return name;
  }
  static std::string EtagIn(const std::string& line) { return TextAt(line, {"etag"}); }

  void PutGetQueryAndDelete() const {
    const std::string put = DoDocuments({"put", Change("CHG-1"), "--new"});
    EXPECT_THAT(put, HasSubstr(R"("changed":true,"cached":true)"));
    EXPECT_EQ(Documents({"put", Change("CHG-1", "approved"), "--new"}).exit_code, kNotMet);
    EXPECT_THAT(DoDocuments({"get", "CHG-1"}),
                AllOf(HasSubstr(R"("source":"cache")"), HasSubstr(R"("status":"submitted")")));
    DoDocuments({"put", Change("CHG-1", "cancelled"), "--if-etag", EtagIn(put)});
    EXPECT_THAT(DoDocuments({"query", "--customer", "cds", "--status", "cancelled", "--type",
                             "change", "--json"}),
                HasSubstr(R"("changeId":"CHG-1")"));
    EXPECT_THAT(DoDocuments({"query", "--table"}),
                AllOf(HasSubstr("CREATED (UTC)"), HasSubstr("hts,cds")));
    EXPECT_EQ(DoDocuments({"query", "--status", "submitted"}), "");
    EXPECT_EQ(Documents({"delete", "CHG-1", "--if-etag", EtagIn(put)}).exit_code, kNotMet);
    DoDocuments({"delete", "CHG-1"});
    EXPECT_EQ(Documents({"get", "CHG-1"}).exit_code, kNotMet);
  }

 private:
  bool at_server_ = false;
};

TEST_F(DocumentsCommandsTest, WorkInTheFolder) { PutGetQueryAndDelete(); }

TEST_F(DocumentsCommandsTest, WorkAtAServer) {
  StartServer();
  PutGetQueryAndDelete();
  EXPECT_THAT(Run({"documents", "get", "CHG-1"}).err, HasSubstr("--server URL"));
}

// Who counts on all of them must not take some for all.
TEST_F(DocumentsCommandsTest, AQueryOfTheCacheAloneSaysThatSomeMayBeMissing) {
  DoDocuments({"put", Change("CHG-1")});
  const Outcome queried = Documents({"query", "--cache-only"});
  EXPECT_EQ(queried.exit_code, kNotMet);
  EXPECT_THAT(queried.out, HasSubstr("CHG-1"));
  EXPECT_THAT(queried.err, HasSubstr("some documents may be missing"));
}

TEST_F(DocumentsCommandsTest, MistakesAreNamed) {
  EXPECT_EQ(Documents({"put", "no-such-file"}).exit_code, kInvalid);
  std::ofstream(path("bad.json")) << R"({"changeId":"CHG-1"})";
  const Outcome bad = Documents({"put", "bad.json"});
  EXPECT_EQ(bad.exit_code, kInvalid);
  EXPECT_THAT(bad.err, HasSubstr("bad.json"));
  DoDocuments({"put", Change("CHG-1")});
  EXPECT_EQ(Documents({"delete", "CHG-1"}).exit_code, kInvalid);
  EXPECT_EQ(Documents({"query", "--status", "lost"}).exit_code, kInvalid);
  for (const char* command : {"put", "get", "delete", "query"}) {
    EXPECT_THAT(Do({"documents", command, "--help"}), HasSubstr("Example:\n  tidemark documents "));
  }
}

// The names of the variables that programs of the seed are told by.
TEST_F(DocumentsCommandsTest, TheSeedsVariablesAreTaken) {
  const Words environment{"DYNAMODB_CACHE_TABLE_NAME=another-cache"};
  EXPECT_EQ(Run({"documents", "put", Change("CHG-1")}, environment).exit_code, kOk);
  EXPECT_THAT(Do({"tables", "list"}), AllOf(HasSubstr("another-cache"), Not(HasSubstr("ccoe"))));
}

}  // namespace
}  // namespace tidemark::testing
