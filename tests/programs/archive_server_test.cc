// `tidemark archive import … --server`: an export is sent to a running server, which imports it.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hashing.h"
#include "tests/programs/serve_fixture.h"
#include "tests/support/write_zip.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;

class ArchiveServerTest : public ServeFixture {
 protected:
  static constexpr size_t kPiece = 512 << 10;

  // With a file that is not imported, so that it is sent in several pieces.
  ArchiveServerTest() {
    WriteZip({{"channels.json", R"([{"id":"C1X","name":"general","created":1500000000}])"},
              {"users.json", R"([{"id":"U1X","team_id":"T1X","name":"ann"}])"},
              {"general/2021-05-03.json",
               R"([{"type":"message","user":"U1X","text":"one","ts":"1620000000.000100"},)"
               R"({"type":"message","user":"U1X","text":"two","ts":"1620000001.000200"}])"},
              {"__uploads/F1X/large.bin", std::string(3 * kPiece, 'x')}},
             path("export.zip"));
    std::ostringstream text;
    text << std::ifstream(path("export.zip"), std::ios::binary).rdbuf();
    bytes_ = text.str();
    import_path_ = "/api/v1/archive/imports/" + ToHex(Sha256(bytes_));
    token_ = CreateToken("tests");
    Serve();
  }

  Outcome Archive(Words arguments) {
    arguments.insert(arguments.begin(), "archive");
    arguments.insert(arguments.end(), {"--server", url()});
    return Run(arguments, {"TIDEMARK_API_TOKEN=" + token_});
  }
  int Send(http::Method method, const std::string& path, std::string body) {
    return client_
        .Send({.method = method,
               .url = url() + path,
               .headers = {{"Authorization", "Bearer " + token_}},
               .body = std::move(body)},
              Deadline::After(clock_, std::chrono::minutes(1)))
        .response.status;
  }
  int Put(uint64_t offset, std::string piece) {
    return Send(http::Method::kPut, import_path_ + "?offset=" + std::to_string(offset),
                std::move(piece));
  }
  std::string State() { return Ask(import_path_, token_).body; }

  std::string bytes_;
  std::string import_path_;
  std::string token_;
};

// Review: A10
TEST_F(ArchiveServerTest, AnExportIsImportedWhileTheServerServes) {
  const Outcome first = Archive({"import", "export.zip"});
  EXPECT_EQ(first.exit_code, kOk) << first.err;
  EXPECT_EQ(NumberAt(first.out, "new"), 2);
  EXPECT_THAT(first.err, HasSubstr("__uploads/F1X/large.bin"));
  EXPECT_THAT(Archive({"messages", "general"}).out, HasSubstr("two"));
  EXPECT_TRUE(std::filesystem::is_empty(path("tidemark-data/imports"))) << "nothing is left";
  const Outcome second = Archive({"import", "export.zip"});
  EXPECT_EQ(second.exit_code, kOk) << second.err;
  EXPECT_EQ(NumberAt(second.out, "unchanged"), 2);
}

TEST_F(ArchiveServerTest, ADryRunWritesNothing) {
  const Outcome outcome = Archive({"import", "export.zip", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, kOk) << outcome.err;
  EXPECT_EQ(NumberAt(outcome.out, "new"), 2);
  EXPECT_EQ(NumberAt(Archive({"status"}).out, "rows"), 0);
  EXPECT_EQ(NumberAt(State(), "received"), static_cast<int64_t>(bytes_.size()))
      << "kept for the import itself";
}

// What was sent is there after a restart, and only the rest is sent.
TEST_F(ArchiveServerTest, AnInterruptedUploadGoesOnAfterARestart) {
  ASSERT_EQ(Put(0, bytes_.substr(0, kPiece)), 200);
  EXPECT_EQ(Put(0, bytes_.substr(0, kPiece)), 409) << "the piece is there";
  EXPECT_EQ(Put(2 * kPiece, bytes_.substr(2 * kPiece, kPiece)), 409) << "one is missing before it";
  EXPECT_EQ(StopServer(), kOk);
  Serve();
  EXPECT_EQ(TextAt(State(), {"state"}), "receiving");
  EXPECT_EQ(NumberAt(State(), "received"), static_cast<int64_t>(kPiece));
  const Outcome outcome = Archive({"import", "export.zip"});
  EXPECT_EQ(outcome.exit_code, kOk) << outcome.err;
  EXPECT_EQ(NumberAt(outcome.out, "new"), 2);
}

TEST_F(ArchiveServerTest, BytesThatAreNotTheExportAreNotImported) {
  ASSERT_EQ(Put(0, std::string(kPiece, 'y')), 200);
  const Outcome refused = Archive({"import", "export.zip"});
  EXPECT_EQ(refused.exit_code, kEnvironment);
  EXPECT_THAT(refused.err, HasSubstr("are not those of the export: send it again"));
  EXPECT_EQ(Archive({"import", "export.zip"}).exit_code, kOk);
}

// One upload at a time, and no names that are paths.
TEST_F(ArchiveServerTest, AnUploadHasOneFileInOneFolder) {
  EXPECT_EQ(Send(http::Method::kPut, "/api/v1/archive/imports/..%2F..%2Fevil?offset=0", "x"), 400);
  EXPECT_FALSE(std::filesystem::exists(path("evil.part")));
  ASSERT_EQ(Put(0, "PK"), 200);
  const std::string other = "/api/v1/archive/imports/" + std::string(64, 'a');
  EXPECT_EQ(Send(http::Method::kPut, other + "?offset=0", "PK"), 409);
  EXPECT_EQ(Send(http::Method::kPost, other + "/start", "{}"), 400) << "nothing of it was sent";
  EXPECT_EQ(Get(other, token_), 404);
  EXPECT_EQ(Get(other), 401);
}

TEST_F(ArchiveServerTest, ErrorsSayHowToImportBesideAServer) {
  const Outcome here = Run({"archive", "import", "export.zip"});
  EXPECT_EQ(here.exit_code, kEnvironment);
  EXPECT_THAT(here.err, HasSubstr("add --server URL"));
  std::filesystem::create_directory(path("unpacked"));
  const Outcome folder = Archive({"import", "unpacked"});
  EXPECT_EQ(folder.exit_code, kInvalid);
  EXPECT_THAT(folder.err, HasSubstr("zip -r ../export.zip"));
}

}  // namespace
}  // namespace tidemark::testing
