// `tidemark serve --dynamodb` and `tidemark key`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aws/signature.h"
#include "base/deadline.h"
#include "programs/serve/stop_within.h"
#include "tests/programs/serve_fixture.h"
#include "tests/support/manual_time.h"

namespace tidemark::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class DynamoDbPortTest : public ServeFixture {
 protected:
  void ServePort(Words arguments = {}) {
    arguments.insert(arguments.end(), {"--dynamodb", own_host_ + ":0"});
    Serve(arguments);
    const auto address = server_->AwaitError("dynamodb=");
    ASSERT_TRUE(address) << server_->err();
    port_url_ = "http://" + *address;
  }
  // The answer to a request that is signed with this key.
  http::Response Call(const aws::Credentials& key, const std::string& operation,
                      const std::string& body) {
    http::OutgoingRequest request{.method = http::Method::kPost,
                                  .url = port_url_ + "/",
                                  .headers = {{"Content-Type", "application/x-amz-json-1.0"},
                                              {"X-Amz-Target", "DynamoDB_20120810." + operation}},
                                  .body = body};
    EXPECT_TRUE(aws::Sign(key, "eu-west-1", "dynamodb", clock_.NowSeconds(), &request));
    const auto exchange = client_.Send(request, Deadline::After(clock_, std::chrono::seconds(30)));
    EXPECT_EQ(exchange.outcome, http::Outcome::kAnswered) << exchange.detail;
    return exchange.response;
  }
  // The value behind "NAME = " or "NAME=" in a text.
  static std::string ValueIn(const std::string& text, const std::string& name) {
    const size_t at = text.find_first_not_of("= ", text.find(name) + name.size());
    return text.substr(at, text.find('\n', at) - at);
  }
  static aws::Credentials KeyIn(const std::string& text, bool is_file) {
    return {.access_key = ValueIn(text, is_file ? "aws_access_key_id" : "AWS_ACCESS_KEY_ID"),
            .secret =
                Secret(ValueIn(text, is_file ? "aws_secret_access_key" : "AWS_SECRET_ACCESS_KEY"))};
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  std::string port_url_;
};

constexpr char kCreate[] = R"({"TableName":"things","BillingMode":"PAY_PER_REQUEST",)"
                           R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
                           R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})";

TEST_F(DynamoDbPortTest, TheFirstStartMakesAKey) {
  namespace fs = std::filesystem;
  ServePort();
  EXPECT_THAT(server_->err(), HasSubstr("wrote it to tidemark-access-key"));
  const std::string file = Read("tidemark-access-key");
  const aws::Credentials key = KeyIn(file, true);
  EXPECT_THAT(server_->err(), Not(HasSubstr(std::string(key.secret.Reveal()))));
  for (const char* name : {"tidemark-access-key", "tidemark-data/tidemark-key"}) {
    EXPECT_EQ(fs::status(path(name)).permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << name;
  }
  EXPECT_EQ(Call(key, "CreateTable", kCreate).status, 200);
  EXPECT_EQ(Call(key, "PutItem", R"({"TableName":"things","Item":{"id":{"S":"a"}}})").body, "{}");
  EXPECT_THAT(Call(key, "DeleteTable", R"({"TableName":"authentication-attempts"})").body,
              HasSubstr("AccessDeniedException"));
  EXPECT_THAT(
      Call({.access_key = key.access_key, .secret = Secret("other")}, "ListTables", "{}").body,
      HasSubstr("InvalidSignatureException"));

  // The same key is good after a restart, and no other is made.
  EXPECT_EQ(StopServer(), kOk);
  ServePort();
  EXPECT_EQ(Read("tidemark-access-key"), file);
  EXPECT_EQ(Call(key, "GetItem", R"({"TableName":"things","Key":{"id":{"S":"a"}}})").body,
            R"({"Item":{"id":{"S":"a"}}})");
}

TEST_F(DynamoDbPortTest, KeysAreMadeListedAndRevoked) {
  const std::string made = Do({"key", "create", "reader", "--read-only", "--table", "things"});
  EXPECT_THAT(LinesOf(made), SizeIs(2));
  const aws::Credentials reader = KeyIn(made, false);
  const aws::Credentials writer =
      KeyIn(Do({"key", "create", "writer", "--write", "authentication-attempts"}), false);
  EXPECT_EQ(Run({"key", "create", "reader"}).exit_code, kInvalid);
  const std::string listed = Do({"key", "list"});
  EXPECT_THAT(LinesOf(listed), SizeIs(2));
  EXPECT_THAT(LinesOf(listed)[0],
              HasSubstr(R"("read_only":true,"tables":["things"],"writes":[]})"));
  EXPECT_THAT(listed, Not(HasSubstr(std::string(reader.secret.Reveal()))));

  ServePort();
  EXPECT_FALSE(std::filesystem::exists(path("tidemark-access-key")));
  EXPECT_EQ(Call(writer, "CreateTable", kCreate).status, 200);
  EXPECT_EQ(Call(reader, "DescribeTable", R"({"TableName":"things"})").status, 200);
  EXPECT_THAT(Call(reader, "DeleteTable", R"({"TableName":"things"})").body,
              HasSubstr("AccessDeniedException"));
  const std::string row =
      R"({"TableName":"authentication-attempts","Item":{"subject_id":{"S":"a"},"sk":{"S":"b"}}})";
  EXPECT_EQ(Call(writer, "PutItem", row).body, "{}");
  // --write is for the items.
  EXPECT_THAT(Call(writer, "DeleteTable", R"({"TableName":"authentication-attempts"})").body,
              HasSubstr("AccessDeniedException"));
  EXPECT_EQ(StopServer(), kOk);

  Do({"key", "revoke", "writer"});
  EXPECT_NE(Run({"key", "revoke", "writer"}).exit_code, kOk);
  ServePort();
  EXPECT_THAT(Call(writer, "ListTables", "{}").body, HasSubstr("UnrecognizedClientException"));
}

// A leaked key must be revoked without a stop of the server.
TEST_F(DynamoDbPortTest, KeysAreMadeListedAndRevokedWhileTheServerServes) {
  const std::string token = CreateToken("tests");
  ServePort();
  const auto at_server = [&](Words arguments) {
    arguments.insert(arguments.end(), {"--server", url()});
    return Run(arguments, {"TIDEMARK_API_TOKEN=" + token});
  };
  EXPECT_THAT(Run({"key", "list"}).err, HasSubstr("--server"));
  const Outcome made = at_server({"key", "create", "ci", "--read-only", "--table", "things"});
  EXPECT_EQ(made.exit_code, kOk) << made.err;
  const aws::Credentials key = KeyIn(made.out, false);
  EXPECT_THAT(Call(key, "DescribeTable", R"({"TableName":"things"})").body,
              HasSubstr("ResourceNotFoundException"));
  EXPECT_THAT(Call(key, "ListTables", "{}").body, HasSubstr("AccessDeniedException"));
  const Outcome listed = at_server({"key", "list"});
  EXPECT_THAT(LinesOf(listed.out), SizeIs(2));
  EXPECT_THAT(listed.out, HasSubstr(R"("read_only":true,"tables":["things"],"writes":[]})"));
  EXPECT_THAT(at_server({"key", "create", "ci"}).err, HasSubstr("exists already"));
  EXPECT_THAT(at_server({"key", "create", key.access_key}).err, HasSubstr("looks like the id"));
  // The table of access keys is left out, and the others are listed.
  EXPECT_THAT(at_server({"tables", "list"}).out,
              AllOf(HasSubstr("tidemark-quarantine"), Not(HasSubstr("tidemark-access-keys"))));
  EXPECT_THAT(at_server({"key", "create", "other", "--write", "authentication-attempts"}).err,
              HasSubstr("stop the server"));

  EXPECT_EQ(at_server({"key", "revoke", "ci"}).exit_code, kOk);
  EXPECT_THAT(Call(key, "DescribeTable", R"({"TableName":"things"})").body,
              HasSubstr("UnrecognizedClientException"));
  EXPECT_THAT(at_server({"key", "revoke", "ci"}).err, HasSubstr("there is no access key 'ci'"));
}

// Otherwise a key that nobody has would be taken for the first.
TEST_F(DynamoDbPortTest, AFirstKeyThatCannotBeWrittenIsMadeByTheNextStart) {
  const Outcome failed =
      Run({"serve", "--listen", own_host_ + ":0", "--dynamodb", own_host_ + ":0"},
          {"TIDEMARK_DYNAMODB_FIRST_KEY=missing/key"});
  EXPECT_NE(failed.exit_code, kOk);
  EXPECT_THAT(failed.err, HasSubstr("the file missing/key cannot be written"));
  EXPECT_EQ(Do({"key", "list"}), "");
  ServePort();
  EXPECT_EQ(Call(KeyIn(Read("tidemark-access-key"), true), "ListTables", "{}").status, 200);
}

// The file may have the credentials of other services.
TEST_F(DynamoDbPortTest, AFirstKeyReplacesNoFileOfOthers) {
  const std::string others = "[prod]\naws_access_key_id = AKIA\naws_secret_access_key = x\n";
  std::ofstream(path("credentials")) << others;
  const Outcome refused =
      Run({"serve", "--listen", own_host_ + ":0", "--dynamodb", own_host_ + ":0"},
          {"TIDEMARK_DYNAMODB_FIRST_KEY=credentials"});
  EXPECT_NE(refused.exit_code, kOk);
  EXPECT_THAT(refused.err, HasSubstr("credentials, which exists: move that file"));
  EXPECT_EQ(Read("credentials"), others);
}

// Another key in its place would make all access keys useless, in silence.
TEST_F(DynamoDbPortTest, ALostKeyFileIsNotReplaced) {
  const aws::Credentials key = KeyIn(Do({"key", "create", "ci"}), false);
  // The file is in the data folder, wherever the command runs.
  std::filesystem::rename(path("tidemark-data/tidemark-key"), path("kept"));
  for (const Words& command :
       {Words{"key", "create", "other"},
        Words{"serve", "--listen", own_host_ + ":0", "--dynamodb", own_host_ + ":0"}}) {
    const Outcome refused = Run(command);
    EXPECT_NE(refused.exit_code, kOk);
    EXPECT_THAT(refused.err, HasSubstr("tidemark-data/tidemark-key is missing"));
    EXPECT_THAT(refused.err, HasSubstr("restore the file"));
  }
  // Neither needs the file.
  EXPECT_THAT(Do({"key", "list"}), HasSubstr(key.access_key));
  EXPECT_FALSE(std::filesystem::exists(path("tidemark-data/tidemark-key")));
  std::filesystem::rename(path("kept"), path("tidemark-data/tidemark-key"));
  ServePort();
  EXPECT_EQ(Call(key, "ListTables", "{}").status, 200);
  EXPECT_EQ(StopServer(), kOk);
  std::filesystem::remove(path("tidemark-data/tidemark-key"));
  Do({"key", "revoke", key.access_key});
  Do({"key", "create", "other"});
}

TEST(StopWithinTest, AllServersShareOneDeadline) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  ManualClock clock;
  std::vector<milliseconds> given;
  const auto stop = [&](milliseconds patience) {
    given.push_back(patience);
    clock.Advance(std::min<milliseconds>(patience, seconds(6)));
  };
  programs::StopWithin(Deadline::After(clock, seconds(10)), {stop, stop, stop});
  EXPECT_THAT(given, ElementsAre(seconds(10), seconds(4), seconds(0)));
}

// The output and the exit code of a command that uses the port, with the first start's key.
struct ClientRun {
  std::string out;
  int exit_code = -1;
};
ClientRun RunClient(const std::string& folder, const std::string& command) {
  const std::string whole = "cd " + folder +
                            " && AWS_SHARED_CREDENTIALS_FILE=tidemark-access-key "
                            "AWS_CONFIG_FILE=none AWS_EC2_METADATA_DISABLED=true " +
                            command + " 2>&1";
  ClientRun run;
  FILE* pipe = popen(whole.c_str(), "r");
  if (pipe == nullptr) return run;
  char piece[4096];
  while (const size_t count = fread(piece, 1, sizeof piece, pipe)) run.out.append(piece, count);
  run.exit_code = WEXITSTATUS(pclose(pipe));
  return run;
}

TEST_F(DynamoDbPortTest, Boto3Works) {
  if (RunClient(".", "python3 -c 'import boto3'").exit_code != 0) {
    GTEST_SKIP() << "boto3 is not installed";
  }
  ServePort();
  const ClientRun run =
      RunClient(folder_.path(), std::string("python3 " CLIENTS "/boto3_client.py ") + port_url_);
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_EQ(run.out, "ok\n");
}

TEST_F(DynamoDbPortTest, TheAwsCommandLineWorks) {
  if (RunClient(".", "aws --version").exit_code != 0) GTEST_SKIP() << "awscli is not installed";
  ServePort();
  const std::string aws = "aws --region us-east-1 --endpoint-url " + port_url_ + " dynamodb ";
  const ClientRun created = RunClient(
      folder_.path(), aws +
                          "create-table --table-name things --billing-mode PAY_PER_REQUEST "
                          "--attribute-definitions AttributeName=id,AttributeType=S "
                          "--key-schema AttributeName=id,KeyType=HASH");
  EXPECT_EQ(created.exit_code, 0) << created.out;
  const ClientRun refused = RunClient(
      folder_.path(), aws + "put-item --table-name things --item '{\"n\":{\"N\":\"1\"}}'");
  EXPECT_THAT(refused.out, HasSubstr("(ValidationException)"));
  EXPECT_THAT(refused.out, HasSubstr("Missing the key id in the item"));
}

// The packages are those of tests/clients/node, which ./dev test installs.
class JavaScriptTest : public DynamoDbPortTest {
 protected:
  // Runs a program of tests/clients with a key that may also write claims, as the seed 004 does.
  void RunScript(const std::string& script) {
    if (!std::filesystem::exists(NODE_PROGRAM) || !std::filesystem::exists(CLIENT_PACKAGES)) {
      GTEST_SKIP() << "the SDKs of npm are not installed: ./dev test installs them, and says so if "
                      "npm cannot be reached";
    }
    const std::string made =
        Do({"key", "create", "javascript", "--write", "slack-classify-bot-processed-events"});
    const aws::Credentials key = KeyIn(made, false);
    ServePort();
    const ClientRun run = RunClient(
        folder_.path(),
        fmt::format(
            "AWS_ACCESS_KEY_ID={} AWS_SECRET_ACCESS_KEY={} AWS_ENDPOINT_URL={} NODE_PATH={} "
            "{} {}/{}",
            key.access_key, key.secret.Reveal(), port_url_, CLIENT_PACKAGES, NODE_PROGRAM, CLIENTS,
            script));
    EXPECT_EQ(run.exit_code, 0) << run.out;
    EXPECT_EQ(run.out, "ok\n");
  }
};

TEST_F(JavaScriptTest, Version3OfTheSdkWorks) { RunScript("javascript_v3.js"); }
TEST_F(JavaScriptTest, Version2OfTheSdkWorks) { RunScript("javascript_v2.js"); }

// The programs of tests/clients/go, which ./dev test builds with Debian's packages of the SDKs.
class GoTest : public DynamoDbPortTest {
 protected:
  void RunProgram(const std::string& version) {
    const std::string program = GO_CLIENTS "/" + version;
    if (!std::filesystem::exists(program)) {
      GTEST_SKIP()
          << "the program with the AWS SDK for Go " << version
          << " is not built: ./dev test builds it, and says so if the packages are missing";
    }
    const aws::Credentials key = KeyIn(Do({"key", "create", "go"}), false);
    ServePort();
    const ClientRun run = RunClient(
        folder_.path(),
        fmt::format("AWS_ACCESS_KEY_ID={} AWS_SECRET_ACCESS_KEY={} AWS_ENDPOINT_URL={} {}",
                    key.access_key, key.secret.Reveal(), port_url_, program));
    EXPECT_EQ(run.exit_code, 0) << run.out;
    EXPECT_EQ(run.out, "ok\n");
  }
};

TEST_F(GoTest, Version1OfTheSdkWorks) { RunProgram("v1"); }
// With the requests of the cache of documents, which is a program in Go.
TEST_F(GoTest, Version2OfTheSdkWorks) { RunProgram("v2"); }

// The same random requests to the port and to another server of the protocol have the same answers.
TEST_F(DynamoDbPortTest, AnswersAsDynoxideDoes) {
  const std::string dynoxide = CLIENT_PACKAGES "/@dynoxide/linux-x64/dynoxide";
  if (!std::filesystem::exists(dynoxide)) {
    GTEST_SKIP() << "dynoxide is not installed: ./dev test installs it from npm, and says so if "
                    "npm cannot be reached";
  }
  ServePort({"--dynamodb-open", "true"});
  const ClientRun run = RunClient(folder_.path(), fmt::format("python3 {}/differential.py {} {}",
                                                              CLIENTS, port_url_, dynoxide));
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_EQ(run.out, "ok\n");
}

TEST_F(DynamoDbPortTest, OpenModeTakesAnyKeyAndSaysSo) {
  ServePort({"--dynamodb-open", "true"});
  EXPECT_THAT(server_->err(), HasSubstr("dynamodb.open is true"));
  EXPECT_FALSE(std::filesystem::exists(path("tidemark-access-key")));
  const aws::Credentials any{.access_key = "any", .secret = Secret("any")};
  EXPECT_THAT(Call(any, "ListTables", "{}").body, HasSubstr("authentication-attempts"));
  EXPECT_EQ(StopServer(), kOk);

  const Outcome refused = Run({"serve", "--listen", own_host_ + ":0", "--dynamodb", "0.0.0.0:0",
                               "--dynamodb-open", "true", "--listen-plainly", "true"});
  EXPECT_EQ(refused.exit_code, kInvalid);
  EXPECT_THAT(refused.err, HasSubstr("dynamodb.open accepts everybody"));
}

}  // namespace
}  // namespace tidemark::testing
