// Documents from end to end: the built program's commands in the folder, and at a server.
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

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
    if (!std::filesystem::exists(path("token"))) {
      std::ofstream(path("token")) << CreateToken("test");
    }
    environment.insert(environment.end(),
                       {"TIDEMARK_ARCHIVE_ENABLED=false", "TIDEMARK_DOCUMENTS_ENABLED=true"});
    Serve({}, environment);
    at_server_ = true;
    // Until the server has compared the cache with the objects, it answers from the objects.
    while (DoDocuments({"stats"}).find(R"("compared":true)") == std::string::npos) {
      ASSERT_FALSE(HasFailure());
    }
  }
  // Runs `tidemark documents …` on the folder, or with the running server.
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
  // Writes the object as another program does, without the cache.
  void Upload(const std::string& id, const std::string& status = "submitted") const {
    const std::string objects = path("tidemark-data/objects/archive");
    std::filesystem::create_directories(objects);
    std::filesystem::copy_file(path(Change(id, status)), objects + "/" + id + ".json",
                               std::filesystem::copy_options::overwrite_existing);
  }
  std::string Token() const {
    std::string token;
    std::ifstream(path("token")) >> token;
    return token;
  }
  // Writes this version at the server, and returns the status; 0 without an answer.
  int PutVersion(const std::string& id, int version) {
    const std::string body = fmt::format(
        R"({{"object_type":"change","changeId":"{}","changeTitle":"A change","version":{},)"
        R"("createdAt":{},"customers":["hts"]}})",
        id, version, clock_.NowSeconds() - 60);
    const auto patience = std::chrono::seconds(60);
    const http::Exchange exchange =
        client_.Send({.method = http::Method::kPut,
                      .url = url() + "/api/v1/documents/" + id,
                      .headers = {{"Authorization", "Bearer " + Token()}},
                      .body = body,
                      .timeout = patience},
                     Deadline::After(clock_, patience));
    return exchange.outcome == http::Outcome::kAnswered ? exchange.response.status : 0;
  }
  int64_t VersionOf(const std::string& id) {
    const auto reply = JsonDocument::Parse(Ask("/api/v1/documents/" + id, Token()).body);
    const auto document = reply ? reply->root().Find("document") : std::nullopt;
    return document ? IntegerIn(*document, "version") : -1;
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
    if (!at_server_) {
      EXPECT_THAT(DoDocuments({"stats", "--table"}), HasSubstr("no run went over all objects yet"));
    }
    DoDocuments({"get", "CHG-3"});
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
    const Outcome known = Documents({"put", Change("CHG-1", "approved"), "--new"});
    EXPECT_EQ(known.exit_code, kNotMet);
    EXPECT_THAT(known.err, HasSubstr("there is a document 'CHG-1' already, and nothing was "
                                     "changed: to replace it, name its ETag '"));
    // The document is shown as it was stored, with the spaces of the file.
    EXPECT_THAT(DoDocuments({"get", "CHG-1"}),
                AllOf(HasSubstr(at_server_ ? R"("source":"cache")" : R"("source":"object")"),
                      HasSubstr(R"("status": "submitted")")));
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

TEST_F(DocumentsCommandsTest, MaintainTheCacheInTheFolder) { FillCheckAndCount(); }

TEST_F(DocumentsCommandsTest, MaintainTheCacheAtAServer) {
  StartServer({"TIDEMARK_DOCUMENTS_WATCH=false"});
  FillCheckAndCount();
  EXPECT_THAT(DoDocuments({"stats", "--table"}), HasSubstr(" hits, "));
  EXPECT_THAT(Run({"documents", "fsck"}).err, HasSubstr("--server URL"));
  EXPECT_EQ(Documents({"fsck", "--rate", "1"}).exit_code, kInvalid);
}

// An interrupted run can be continued. Nothing is lost or done twice.
TEST_F(DocumentsCommandsTest, AnInterruptedRunContinuesWhereItEnded) {
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
  EXPECT_THAT(run.err(), HasSubstr("interrupted; to continue, run the same command again"));
  EXPECT_TRUE(std::filesystem::exists(path("place")));
  EXPECT_THAT(Do(backfill), AllOf(HasSubstr(R"("finished":true,"marked":true)"),
                                  Not(HasSubstr(R"("checked":10)"))));
  EXPECT_FALSE(std::filesystem::exists(path("place")));
  EXPECT_THAT(Do(backfill), HasSubstr(R"("checked":10,"failed":0,"invalid":0,"skipped":0,)"
                                      R"("unchanged":10)"));
}

// Review: D4
// A checkpoint that somebody made up, of another run, or of a table that is gone would make a run
// skip documents, and ranges would say that they are complete without them.
TEST_F(DocumentsCommandsTest, OnlyACheckpointOfTheSameRunIsTaken) {
  DoDocuments({"put", Change("CHG-0")});
  for (int i = 1; i < 10; ++i) Upload(fmt::format("CHG-{}", i));
  for (const char* forged : {"9999999999999,0,archive/ZZZZZZ.json", ",,archive/CHG-2.json",
                             "00,9999999999999,0,archive/ZZZZZZ.json"}) {
    const Outcome outcome = Documents({"backfill", "--from", forged});
    EXPECT_EQ(outcome.exit_code, kInvalid) << forged;
    EXPECT_THAT(outcome.err, HasSubstr("is not a checkpoint"));
  }
  BackgroundProgram dry({.arguments = {"documents", "backfill", "--dry-run", "--checkpoint",
                                       "place", "--rate", "2", "--progress"},
                         .folder = folder_.path()});
  ASSERT_TRUE(dry.AwaitError("0 checked")) << dry.err();
  dry.Send(SIGINT);
  EXPECT_EQ(dry.AwaitExit(), kNotMet);
  // The real run does not begin where the dry run ended.
  EXPECT_EQ(Documents({"backfill", "--checkpoint", "place"}).exit_code, kInvalid);
  EXPECT_EQ(Documents({"fsck", "--dry-run", "--checkpoint", "place"}).exit_code, kInvalid);
  Do({"tables", "drop", "ccoe-customer-contact-manager-cache"});
  EXPECT_EQ(Documents({"backfill", "--dry-run", "--checkpoint", "place"}).exit_code, kInvalid);
}

// Review: D8
// Queries rely on more than the document in the row: on the attributes that the indexes have, and
// on the pointer of each further customer. Somebody with the table commands has spoilt them.
TEST_F(DocumentsCommandsTest, FsckComparesEverythingThatQueriesRelyOn) {
  for (const char* id : {"CHG-1", "CHG-2", "CHG-3"}) DoDocuments({"put", Change(id)});
  const auto spoil = [&](Words arguments) {
    arguments.insert(arguments.begin(), "tables");
    arguments.insert(arguments.begin() + 2, "ccoe-customer-contact-manager-cache");
    Do(arguments);
  };
  spoil({"delete", "--key", R"({"object_id":{"S":"CHG-1#cds"}})"});
  spoil({"update", "--key", R"({"object_id":{"S":"CHG-2"}})", "--update", "SET #s = :s", "--names",
         R"({"#s":"status"})", "--values", R"({":s":{"S":"approved"}})"});
  for (const char* key : {"GARBAGE", "GARB/AGE", "CHG-3#hts#x"}) {
    spoil({"put", "--item",
           fmt::format(R"({{"object_id":{{"S":"{}"}},"object_type":{{"S":"change"}},)"
                       R"("created_at":{{"N":"1"}}}})",
                       key)});
  }
  spoil({"put", "--item",
         R"({"object_id":{"S":"BY-STATUS"},"status":{"S":"draft"},"created_at":{"N":"2"}})"});
  const Outcome dry = Documents({"fsck", "--dry-run", "--table"});
  EXPECT_EQ(dry.exit_code, kNotMet);
  EXPECT_THAT(
      dry.out,
      AllOf(HasSubstr("CHG-1: a customer does not find the row: its pointer is missing or wrong\n"),
            HasSubstr("CHG-2: the row is indexed by other values than the document has\n"),
            HasSubstr("GARBAGE: the row holds neither a version nor a deletion\n"),
            HasSubstr("GARB/AGE: an index lists an item that is neither a row nor a pointer\n"),
            HasSubstr("CHG-3#hts#x: an index lists an item that is neither a row nor a pointer\n"),
            HasSubstr("BY-STATUS: the row holds neither a version nor a deletion\n"),
            HasSubstr("checked 7, equal 1, repaired 0, in flight 0, differing 6\n")));
  EXPECT_THAT(DoDocuments({"fsck"}), HasSubstr("equal 1, repaired 6,"));
  EXPECT_THAT(DoDocuments({"fsck"}), HasSubstr("checked 3, equal 3,"));
  EXPECT_THAT(DoDocuments({"query", "--cache-only", "--customer", "cds"}), HasSubstr("CHG-1"));
  EXPECT_EQ(DoDocuments({"query", "--cache-only", "--status", "approved"}), "");
  EXPECT_THAT(DoDocuments({"stats"}), HasSubstr(R"({"items":7,)"));
}

// Review: D8
// The comparison at the start lists the rows, and must not end at an item that is not a row.
TEST_F(DocumentsCommandsTest, AStrayItemDoesNotKeepTheServerFromComparing) {
  DoDocuments({"put", Change("CHG-1")});
  Do({"tables", "put", "ccoe-customer-contact-manager-cache", "--item",
      R"({"object_id":{"S":"GARB/AGE"},"object_type":{"S":"change"},)"
      R"("created_at":{"N":"1100000000"},"document_id":{"S":"CHG-1"}})"});
  StartServer();
  EXPECT_THAT(DoDocuments({"query", "--from", "2001-09-10"}), HasSubstr("CHG-1"));
}

// Review: D16
// "Starting with existing objects": the table does not exist yet.
TEST_F(DocumentsCommandsTest, AFolderThatHasOnlyObjectsIsTaken) {
  Upload("CHG-1");
  EXPECT_THAT(DoDocuments({"backfill"}), HasSubstr(R"("cached":1)"));
}

TEST_F(DocumentsCommandsTest, WorkAtAServer) {
  StartServer();
  PutGetQueryAndDelete();
  EXPECT_THAT(Run({"documents", "get", "CHG-1"}).err, HasSubstr("--server URL"));
}

// Review: D3
// Other programs edit, delete and add files while no server watches. After the start neither a read
// nor a range shows what was there before.
TEST_F(DocumentsCommandsTest, WhatChangedWhileTheServerWasStoppedIsNoticedAtItsStart) {
  StartServer();
  for (const char* id : {"CHG-1", "CHG-2"}) DoDocuments({"put", Change(id)});
  EXPECT_EQ(StopServer(), kOk);
  Upload("CHG-1", "approved");
  std::filesystem::remove(path("tidemark-data/objects/archive/CHG-2.json"));
  Upload("CHG-3");
  StartServer();
  const Outcome all = Documents({"query", "--cache-only"});
  EXPECT_EQ(all.exit_code, kOk) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("CHG-1"), Not(HasSubstr("CHG-2")), HasSubstr("CHG-3")));
  EXPECT_THAT(DoDocuments({"query", "--status", "approved"}), HasSubstr("CHG-1"));
  EXPECT_THAT(DoDocuments({"get", "CHG-1"}),
              AllOf(HasSubstr(R"("source":"cache")"), HasSubstr(R"("status": "approved")")));
  EXPECT_EQ(Documents({"get", "CHG-2"}).exit_code, kNotMet);
}

// Review: D3
// A command has no watcher: it looks at the objects itself.
TEST_F(DocumentsCommandsTest, ACommandInTheFolderSeesWhatOtherProgramsChanged) {
  DoDocuments({"put", Change("CHG-1")});
  DoDocuments({"fsck"});
  Upload("CHG-1", "approved");
  EXPECT_THAT(DoDocuments({"get", "CHG-1"}), HasSubstr(R"("status": "approved")"));
  EXPECT_THAT(DoDocuments({"query", "--status", "approved", "--cache-only"}), HasSubstr("CHG-1"));
}

// Review: D9
// No other process can be writing when the server starts, so what the killed one left is settled at
// once: the document can be written, and a range does not leave out what reached its object.
// Spec: 002-31
TEST_F(DocumentsCommandsTest, WhatAKilledServerLeftIsSettledAtTheNextStart) {
  StartServer();
  DoDocuments({"put", Change("CHG-1")});
  KillServer();
  // As a server that was killed between the intent and the end of its write: in the first case the
  // object was written, in the second it was not.
  const auto leave = [&](const std::string& id, int64_t started) {
    Do({"tables", "put", "ccoe-customer-contact-manager-cache", "--item",
        fmt::format(
            R"({{"object_id":{{"S":"{}"}},"revision":{{"S":"r"}},"verified_at":{{"N":"0"}},)"
            R"("object_type":{{"S":"~intent"}},"created_at":{{"N":"{}"}},"intent":{{"M":{{)"
            R"("txn":{{"S":"t"}},"kind":{{"S":"put"}},"process":{{"S":"dead"}},)"
            R"("started_at":{{"N":"{}"}}}}}}}})",
            id, started, started * 1000)});
  };
  leave("CHG-2", clock_.NowSeconds());
  leave("CHG-3", clock_.NowSeconds());
  Upload("CHG-2");
  StartServer();
  EXPECT_THAT(DoDocuments({"query", "--cache-only"}),
              AllOf(HasSubstr("CHG-1"), HasSubstr("CHG-2"), Not(HasSubstr("CHG-3"))));
  EXPECT_THAT(DoDocuments({"stats"}), HasSubstr(R"("first_writes":0)"));
  EXPECT_EQ(Documents({"get", "CHG-3"}).exit_code, kNotMet);
  DoDocuments({"put", Change("CHG-3")});
}

// Review: D9
// The server is killed in the middle of writes. After its start every acknowledged version is
// there, rows and objects agree, and each document can be written at once.
TEST_F(DocumentsCommandsTest, AServerThatIsKilledInAWriteLosesNoAcknowledgedVersion) {
  constexpr int kDocuments = 8;
  struct Written {
    std::atomic<int> tried = 0;
    std::atomic<int> acknowledged = 0;
  };
  std::array<Written, kDocuments> written;
  const auto id_of = [](int number) { return fmt::format("CHG-{}", number); };
  const auto write_next = [&](int number) {
    Written& one = written.at(static_cast<size_t>(number));
    const int version = ++one.tried;
    const bool is_acknowledged = PutVersion(id_of(number), version) == 200;
    if (is_acknowledged) one.acknowledged = version;
    return is_acknowledged;
  };
  StartServer();
  for (int kill = 0; kill < 3; ++kill) {
    std::atomic<int> acknowledged = 0;
    std::vector<std::jthread> writers;
    for (int i = 0; i < kDocuments; ++i) {
      writers.emplace_back([&, i] {
        while (write_next(i)) ++acknowledged;
      });
    }
    while (acknowledged < 5 * kDocuments) std::this_thread::yield();
    KillServer();
    writers.clear();
    StartServer();
    EXPECT_THAT(DoDocuments({"fsck", "--dry-run"}), HasSubstr("differing 0"));
    for (int i = 0; i < kDocuments; ++i) {
      const Written& one = written.at(static_cast<size_t>(i));
      const int64_t version = VersionOf(id_of(i));
      EXPECT_GE(version, one.acknowledged) << id_of(i) << " lost an acknowledged version";
      EXPECT_LE(version, one.tried);
      EXPECT_TRUE(write_next(i)) << id_of(i) << " cannot be written";
    }
  }
}

// A user who needs all documents must see that some may be missing.
TEST_F(DocumentsCommandsTest, AQueryOfTheCacheAloneSaysThatSomeMayBeMissing) {
  DoDocuments({"put", Change("CHG-1")});
  const Outcome queried = Documents({"query", "--cache-only", "--from", "2001-09-10"});
  EXPECT_EQ(queried.exit_code, kNotMet);
  EXPECT_THAT(queried.out, HasSubstr("CHG-1"));
  EXPECT_THAT(queried.err, HasSubstr("some documents may be missing"));
}

TEST_F(DocumentsCommandsTest, MistakesAreNamed) {
  DoDocuments({"put", Change("CHG-1")});
  EXPECT_THAT(Documents({"fsck", "--from", "CHG-1"}).err, HasSubstr("is not a checkpoint"));
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

// The environment variables that programs of the seed use.
TEST_F(DocumentsCommandsTest, TheVariablesOfTheSeedAreAccepted) {
  const Words environment{"DYNAMODB_CACHE_TABLE_NAME=another-cache"};
  EXPECT_EQ(Run({"documents", "put", Change("CHG-1")}, environment).exit_code, kOk);
  EXPECT_THAT(Do({"tables", "list"}), AllOf(HasSubstr("another-cache"), Not(HasSubstr("ccoe"))));
}

}  // namespace
}  // namespace tidemark::testing
