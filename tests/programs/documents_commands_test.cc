// Documents from end to end: the built program's commands in the folder, and at a server.
#include <csignal>
#include <filesystem>
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
  void StartServer(Words environment = {}) {
    std::ofstream(path("token")) << CreateToken("test");
    environment.insert(environment.end(),
                       {"TIDEMARK_ARCHIVE_ENABLED=false", "TIDEMARK_DOCUMENTS_ENABLED=true"});
    Serve({}, environment);
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
        R"({{"object_type":"change","changeId":"{}","changeTitle":"A change","status": "{}",)"
        R"("createdAt":{},"customers":["hts","cds"]}})",
        id, status, clock_.NowSeconds() - 60);
    return name;
  }
  // As another program puts it there, past the cache.
  void Upload(const std::string& id, const std::string& status = "submitted") const {
    const std::string objects = path("tidemark-data/objects/archive");
    std::filesystem::create_directories(objects);
    std::filesystem::copy_file(path(Change(id, status)), objects + "/" + id + ".json",
                               std::filesystem::copy_options::overwrite_existing);
  }
  static std::string EtagIn(const std::string& line) { return TextAt(line, {"etag"}); }

  void FillCheckAndCount() const {
    DoDocuments({"put", Change("CHG-1")});
    Upload("CHG-2");
    Upload("CHG-3");
    const Outcome dry = Documents({"fsck", "--dry-run", "--table"});
    EXPECT_EQ(dry.exit_code, kNotMet);
    EXPECT_EQ(dry.out,
              "CHG-2: there is an object and no row\nCHG-3: there is an object and no row\n"
              "checked 3, equal 1, repaired 0, in flight 0, differing 2\n");
    EXPECT_THAT(DoDocuments({"backfill", "--dry-run", "--table"}), HasSubstr("2 would be cached"));
    EXPECT_THAT(DoDocuments({"backfill", "--customer", "nobody"}), HasSubstr(R"("cached":0)"));
    EXPECT_THAT(DoDocuments({"stats", "--table"}), HasSubstr("nobody went over all objects yet"));
    EXPECT_THAT(DoDocuments({"backfill", "--customer", "cds", "--from", ",,archive/CHG-2.json"}),
                AllOf(HasSubstr(R"("cached":1,"checked":1)"), HasSubstr(R"("marked":false)")));
    EXPECT_THAT(DoDocuments({"fsck", "--since", "2001-09-10", "--table"}),
                HasSubstr("CHG-2: there is an object and no row; repaired\nchecked 3, equal 2,"));
    EXPECT_THAT(DoDocuments({"fsck"}),
                AllOf(HasSubstr(R"("proof":"checked 3, equal 3,)"), HasSubstr(R"("marked":true)")));
    EXPECT_EQ(Documents({"query", "--cache-only"}).exit_code, kOk);
    EXPECT_THAT(DoDocuments({"stats"}),
                AllOf(HasSubstr(R"({"items":7,)"), HasSubstr(R"("complete_from":)")));
  }

  void PutGetQueryAndDelete() const {
    const std::string put = DoDocuments({"put", Change("CHG-1"), "--new"});
    EXPECT_THAT(put, HasSubstr(R"("changed":true,"cached":true)"));
    EXPECT_EQ(Documents({"put", Change("CHG-1", "approved"), "--new"}).exit_code, kNotMet);
    // With the blanks of the file: it is shown as it was stored.
    EXPECT_THAT(DoDocuments({"get", "CHG-1"}),
                AllOf(HasSubstr(R"("source":"cache")"), HasSubstr(R"("status": "submitted")")));
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

TEST_F(DocumentsCommandsTest, LookAfterTheCacheInTheFolder) { FillCheckAndCount(); }

TEST_F(DocumentsCommandsTest, LookAfterTheCacheAtAServer) {
  StartServer({"TIDEMARK_DOCUMENTS_WATCH=false"});
  FillCheckAndCount();
  EXPECT_THAT(DoDocuments({"stats", "--table"}), HasSubstr(" hits, "));
  EXPECT_THAT(Run({"documents", "fsck"}).err, HasSubstr("--server URL"));
  EXPECT_EQ(Documents({"fsck", "--rate", "1"}).exit_code, kInvalid);
}

// Whoever interrupts a run can go on with it, and nothing is lost or done twice.
TEST_F(DocumentsCommandsTest, ARunThatIsInterruptedGoesOnWhereItEnded) {
  DoDocuments({"put", Change("CHG-0")});
  for (int i = 1; i < 10; ++i) Upload(fmt::format("CHG-{}", i));
  const Words backfill{"documents", "backfill", "--checkpoint", "place", "--progress"};
  Words slow = backfill;
  slow.insert(slow.end(), {"--rate", "2"});
  BackgroundProgram run({.arguments = slow, .folder = folder_.path()});
  // It is at its first piece.
  ASSERT_TRUE(run.AwaitError("0 checked")) << run.err();
  run.Send(SIGINT);
  EXPECT_EQ(run.AwaitExit(), kNotMet);
  EXPECT_THAT(run.err(), HasSubstr("interrupted; to go on, run the same command again"));
  EXPECT_TRUE(std::filesystem::exists(path("place")));
  EXPECT_THAT(Do(backfill), AllOf(HasSubstr(R"("finished":true,"marked":true)"),
                                  Not(HasSubstr(R"("checked":10)"))));
  EXPECT_FALSE(std::filesystem::exists(path("place")));
  EXPECT_THAT(Do(backfill), HasSubstr(R"("checked":10,"failed":0,"invalid":0,"skipped":0,)"
                                      R"("unchanged":10)"));
}

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
  DoDocuments({"put", Change("CHG-1")});
  EXPECT_THAT(Documents({"fsck", "--from", "CHG-1"}).err, HasSubstr("is no checkpoint"));
  const Outcome off = Run({"documents", "stats"}, {"DYNAMODB_CACHE_ENABLED=false"});
  EXPECT_EQ(off.exit_code, kInvalid);
  EXPECT_THAT(off.err, HasSubstr("the cache is disabled"));
  EXPECT_EQ(Documents({"put", "no-such-file"}).exit_code, kInvalid);
  std::ofstream(path("bad.json")) << R"({"changeId":"CHG-1"})";
  const Outcome bad = Documents({"put", "bad.json"});
  EXPECT_EQ(bad.exit_code, kInvalid);
  EXPECT_THAT(bad.err, HasSubstr("bad.json"));
  DoDocuments({"put", Change("CHG-1")});
  EXPECT_EQ(Documents({"delete", "CHG-1"}).exit_code, kInvalid);
  EXPECT_EQ(Documents({"query", "--status", "lost"}).exit_code, kInvalid);
  for (const char* command : {"put", "get", "delete", "query", "backfill", "fsck", "stats"}) {
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
